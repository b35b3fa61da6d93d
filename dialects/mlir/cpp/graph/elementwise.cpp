// The elementwise family of the graph dialect.
#include "graph/graph.h"

#include "graph/kinds.enums.h.inc"
#define GET_OP_CLASSES
#include "graph/elementwise.ops.h.inc"

#define GET_OP_CLASSES
#include "graph/elementwise.ops.cpp.inc"

void neap::graph::GraphDialect::addElementwise() {
  addOperations<
#define GET_OP_LIST
#include "graph/elementwise.ops.cpp.inc"
      >();
}
