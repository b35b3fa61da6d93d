// The scalar family of the loop dialect.
#include "loop/loop.h"

#define GET_OP_CLASSES
#include "loop/scalar.ops.h.inc"

#define GET_OP_CLASSES
#include "loop/scalar.ops.cpp.inc"

void neap::loop::LoopDialect::addScalar() {
  addOperations<
#define GET_OP_LIST
#include "loop/scalar.ops.cpp.inc"
      >();
}

mlir::LogicalResult neap::loop::LoadOp::verify() {
  auto type = llvm::dyn_cast<mlir::MemRefType>(getBuffer().getType());
  if (!type || (int64_t)getIndices().size() != type.getRank() || getResult().getType() != type.getElementType())
    return emitOpError() << "has " << getIndices().size() << " indices and gives " << getResult().getType() << " from "
                         << getBuffer().getType();
  return mlir::success();
}
