// The segment dialect and its registration with MLIR and its C API.
#include "mlir-c/IR.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "segment/base.dialect.h.inc"
#include "segment/host.enums.h.inc"
#define GET_OP_CLASSES
#include "segment/host.ops.h.inc"

#include "segment/base.dialect.cpp.inc"
#include "segment/host.enums.cpp.inc"
#define GET_OP_CLASSES
#include "segment/host.ops.cpp.inc"

void neap::segment::SegmentDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "segment/host.ops.cpp.inc"
      >();
}

extern "C" {
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Segment, segment);
}
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Segment, segment, neap::segment::SegmentDialect)
