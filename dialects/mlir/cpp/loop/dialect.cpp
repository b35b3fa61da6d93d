// Registration of the loop dialect with MLIR and its C API.
#include "loop/loop.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/Registration.h"

#include "loop/base.dialect.cpp.inc"
#include "loop/kinds.enums.cpp.inc"

void neap::loop::LoopDialect::initialize() {
  addEffect();
  addScalar();
  addStructure();
}

extern "C" {
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Loop, loop);
}
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Loop, loop, neap::loop::LoopDialect)
