// The reduce family of the graph dialect.
#include "graph/graph.h"

#include "graph/reduce.enums.h.inc"
#define GET_OP_CLASSES
#include "graph/reduce.ops.h.inc"

#include "graph/reduce.enums.cpp.inc"
#define GET_OP_CLASSES
#include "graph/reduce.ops.cpp.inc"

void neap::graph::GraphDialect::addReduce() {
  addOperations<
#define GET_OP_LIST
#include "graph/reduce.ops.cpp.inc"
      >();
}
