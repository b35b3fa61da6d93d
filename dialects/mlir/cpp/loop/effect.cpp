// The effect family of the loop dialect.
#include "loop/loop.h"

#define GET_OP_CLASSES
#include "loop/effect.ops.h.inc"

#define GET_OP_CLASSES
#include "loop/effect.ops.cpp.inc"

using namespace mlir;
using namespace neap::loop;

void LoopDialect::addEffect() {
  addOperations<
#define GET_OP_LIST
#include "loop/effect.ops.cpp.inc"
      >();
}

static LogicalResult verifyStored(Operation *op, Type value, Type to) {
  auto type = dyn_cast<MemRefType>(to);
  if (!type || type.getElementType() != value)
    return op->emitOpError() << "stores " << value << " to " << to;
  return success();
}

LogicalResult StoreOp::verify() {
  auto iterators = iteratorsInScope(*this);
  if (failed(iterators) || failed(verifyStored(*this, getValue().getType(), getTo().getType())))
    return failure();
  return verifyAccess(*this, getMap(), getTo().getType(), iterators->size());
}

LogicalResult StoreAtOp::verify() {
  if (failed(iteratorsInScope(*this)) || failed(verifyStored(*this, getValue().getType(), getTo().getType())))
    return failure();
  if ((int64_t)getIndices().size() != cast<MemRefType>(getTo().getType()).getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for " << getTo().getType();
  return success();
}

LogicalResult ReduceOp::verify() {
  auto iterators = iteratorsInScope(*this);
  if (failed(iterators))
    return failure();
  if (failed(verifyAccess(*this, getMap(), getTo().getType(), iterators->size())))
    return failure();
  if (bool(getSecond()) != (getKind() == CombineKind::fma))
    return emitOpError() << "`fma` takes two values, the others one";
  bool index = getKind() >= CombineKind::arg_max;
  Type element = cast<MemRefType>(getTo().getType()).getElementType();
  if (!index && failed(verifyStored(*this, getValue().getType(), getTo().getType())))
    return failure();
  if (index && !element.isInteger(64))
    return emitOpError() << "gives an index as i64, found " << getTo().getType();
  for (auto [i, kind] : llvm::enumerate(*iterators))
    if (kind == "reduction" && getMap().isFunctionOfDim(i))
      return emitOpError() << "map " << getMapAttr() << " uses reduction iterator d" << i;
  return success();
}
