// All families, for documentation and for the op table.
include "segment/host.td"
