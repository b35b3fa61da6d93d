// The structure family of the loop dialect.
#include "loop/loop.h"

#include "llvm/ADT/StringExtras.h"

#define GET_OP_CLASSES
#include "loop/structure.ops.cpp.inc"

using namespace mlir;
using namespace neap::loop;

void LoopDialect::addStructure() {
  addOperations<
#define GET_OP_LIST
#include "loop/structure.ops.cpp.inc"
      >();
}

static LogicalResult verifyIterators(Operation *op, ArrayAttr kinds, AffineMap extents, ArrayRef<StringRef> allowed) {
  for (Attribute kind : kinds)
    if (!llvm::is_contained(allowed, cast<StringAttr>(kind).getValue()))
      return op->emitOpError() << "iterator kind " << kind << " is not one of " << llvm::join(allowed, ", ");
  if (extents.getNumDims() != 0 || extents.getNumResults() != kinds.size())
    return op->emitOpError() << "has " << kinds.size() << " iterators and " << extents.getNumResults()
                             << " extents; extents have symbols only";
  return success();
}

LogicalResult KernelOp::verify() {
  bool sequential = false;
  for (auto kind : getIterators().getAsValueRange<StringAttr>()) {
    if (sequential && kind == "parallel")
      return emitOpError() << "parallel iterators come before sequential ones";
    sequential |= kind == "sequential";
  }
  if (getSizes() < 0 || getSizes() > (int64_t)getSymbols().size())
    return emitOpError() << "has " << getSizes() << " sizes of " << getSymbols().size() << " symbols";
  // Constants may be hoisted here by canonicalisation.
  for (Operation &op : *getBody().begin())
    if (!isa<BufferOp, NestOp>(op) && !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError() << "expected a buffer or a nest in a kernel";
  return verifyIterators(*this, getIterators(), getExtents(), {"parallel", "sequential"});
}

LogicalResult BufferOp::verify() {
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError() << "belongs into a kernel";
  auto type = dyn_cast<MemRefType>(getBuffer().getType());
  if (!type || !type.getLayout().isIdentity())
    return emitOpError() << "expected a dense memref";
  AffineMap shape = getShape();
  if (shape.getNumDims() != 0 || shape.getNumResults() != type.getRank())
    return emitOpError() << "shape has " << shape.getNumResults() << " sizes for rank " << type.getRank();
  for (auto [size, dim] : llvm::zip(shape.getResults(), type.getShape())) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    if (ShapedType::isDynamic(dim) ? bool(constant) : !constant || constant.getValue() != dim)
      return emitOpError() << "shape and type disagree: " << getShapeAttr() << " for " << type;
  }
  return success();
}

LogicalResult NestOp::verify() {
  auto kernel = dyn_cast<KernelOp>((*this)->getParentOp());
  if (!kernel)
    return emitOpError() << "belongs into a kernel";
  if (failed(verifyIterators(*this, getIterators(), getExtents(), {"parallel", "reduction", "sequential"})))
    return failure();
  Block &body = *getBody().begin();
  if (getMaps().size() != getReads().size() || getOutside().size() != getReads().size() ||
      body.getNumArguments() != getReads().size())
    return emitOpError() << "has " << getReads().size() << " reads, " << getMaps().size() << " maps, "
                         << getOutside().size() << " outside values and " << body.getNumArguments() << " block arguments";
  unsigned iterators = kernel.getIterators().size() + getIterators().size();
  for (auto [read, map, outside, arg] : llvm::zip(getReads(), getMaps(), getOutside(), body.getArguments())) {
    if (failed(verifyAccess(*this, cast<AffineMapAttr>(map).getValue(), read.getType(), iterators)))
      return failure();
    if (arg.getType() != cast<MemRefType>(read.getType()).getElementType())
      return emitOpError() << "block argument is " << arg.getType() << " for " << read.getType();
    if (!isa<UnitAttr, FloatAttr, IntegerAttr>(outside))
      return emitOpError() << "outside is " << outside << ", expected unit or a number";
  }
  return success();
}

LogicalResult neap::loop::verifyAccess(Operation *op, AffineMap map, Type buffer, unsigned iterators) {
  auto type = dyn_cast<MemRefType>(buffer);
  if (!type)
    return op->emitOpError() << "expected a ranked memref, found " << buffer;
  if (map.getNumDims() != iterators)
    return op->emitOpError() << "map " << AffineMapAttr::get(map) << " has " << map.getNumDims() << " dims for " << iterators << " iterators";
  if (map.getNumResults() != type.getRank())
    return op->emitOpError() << "map " << AffineMapAttr::get(map) << " has " << map.getNumResults() << " results for " << type;
  return success();
}

FailureOr<SmallVector<StringRef>> neap::loop::iteratorsInScope(Operation *op) {
  auto nest = dyn_cast_or_null<NestOp>(op->getParentOp());
  auto kernel = nest ? dyn_cast_or_null<KernelOp>(nest->getParentOp()) : KernelOp();
  if (!kernel)
    return op->emitOpError() << "belongs into a nest";
  SmallVector<StringRef> out;
  for (ArrayAttr kinds : {kernel.getIterators(), nest.getIterators()})
    llvm::append_range(out, kinds.getAsValueRange<StringAttr>());
  return out;
}
