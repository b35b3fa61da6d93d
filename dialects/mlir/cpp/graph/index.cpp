// The index family of the graph dialect.
#include "graph/graph.h"

#include "graph/index.enums.h.inc"
#define GET_OP_CLASSES
#include "graph/index.ops.h.inc"

#include "graph/index.enums.cpp.inc"
#define GET_OP_CLASSES
#include "graph/index.ops.cpp.inc"

void neap::graph::GraphDialect::addIndex() {
  addOperations<
#define GET_OP_LIST
#include "graph/index.ops.cpp.inc"
      >();
}
