// The contract family of the graph dialect.
#include "graph/graph.h"

#include "graph/contract.enums.h.inc"
#define GET_OP_CLASSES
#include "graph/contract.ops.h.inc"

#include "graph/contract.enums.cpp.inc"
#define GET_OP_CLASSES
#include "graph/contract.ops.cpp.inc"

void neap::graph::GraphDialect::addContract() {
  addOperations<
#define GET_OP_LIST
#include "graph/contract.ops.cpp.inc"
      >();
}
