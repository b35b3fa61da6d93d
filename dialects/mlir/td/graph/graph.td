// All families, for documentation and for the op table.
include "graph/elementwise.td"
include "graph/shape.td"
include "graph/contract.td"
include "graph/reduce.td"
include "graph/index.td"
include "graph/recurrent.td"
include "graph/structure.td"
