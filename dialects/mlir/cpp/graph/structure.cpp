// The structure family of the graph dialect.
#include "graph/graph.h"

#define GET_OP_CLASSES
#include "graph/structure.ops.h.inc"

#define GET_OP_CLASSES
#include "graph/structure.ops.cpp.inc"

void neap::graph::GraphDialect::addStructure() {
  addOperations<
#define GET_OP_LIST
#include "graph/structure.ops.cpp.inc"
      >();
}

// A constant folds to its value: what the ConstantLike trait promises to canonicalisation.
mlir::OpFoldResult neap::graph::ConstantOp::fold(FoldAdaptor) { return getValue(); }
