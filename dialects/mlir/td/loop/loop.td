// All families, for documentation and for the op table.
include "loop/structure.td"
include "loop/scalar.td"
include "loop/effect.td"
