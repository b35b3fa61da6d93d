// The kinds of elementwise functions.
#include "graph/graph.h"

#include "graph/kinds.enums.h.inc"

#include "graph/kinds.enums.cpp.inc"
