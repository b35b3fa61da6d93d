// The shape family of the graph dialect.
#include "graph/graph.h"

#include "graph/shape.enums.h.inc"
#define GET_OP_CLASSES
#include "graph/shape.ops.h.inc"

#include "graph/shape.enums.cpp.inc"
#define GET_OP_CLASSES
#include "graph/shape.ops.cpp.inc"

void neap::graph::GraphDialect::addShape() {
  addOperations<
#define GET_OP_LIST
#include "graph/shape.ops.cpp.inc"
      >();
}
