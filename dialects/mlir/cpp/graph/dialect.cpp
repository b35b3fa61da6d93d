// Registration of the graph dialect with MLIR and its C API.
#include "graph/graph.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/Registration.h"

#include "graph/base.dialect.cpp.inc"

void neap::graph::GraphDialect::initialize() {
  addContract();
  addElementwise();
  addIndex();
  addRecurrent();
  addReduce();
  addShape();
  addStructure();
}

extern "C" {
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Graph, graph);
}
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Graph, graph, neap::graph::GraphDialect)
