// The recurrent family of the graph dialect.
#include "graph/graph.h"

#define GET_OP_CLASSES
#include "graph/recurrent.ops.h.inc"

#define GET_OP_CLASSES
#include "graph/recurrent.ops.cpp.inc"

void neap::graph::GraphDialect::addRecurrent() {
  addOperations<
#define GET_OP_LIST
#include "graph/recurrent.ops.cpp.inc"
      >();
}
