#ifndef NEAP_LOOP_H
#define NEAP_LOOP_H
// What every family of the loop dialect needs.
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "graph/kinds.enums.h.inc"
#include "loop/base.dialect.h.inc"
#include "loop/kinds.enums.h.inc"

#define GET_OP_CLASSES
#include "loop/structure.ops.h.inc"

namespace neap::loop {
// Whether `map` addresses an element of `buffer` from the iterators in scope of `op`, which is inside a nest.
mlir::LogicalResult verifyAccess(mlir::Operation *op, mlir::AffineMap map, mlir::Type buffer, unsigned iterators);
// The iterators in scope of an op inside a nest: the kernel's, then the nest's; an error outside of one.
mlir::FailureOr<llvm::SmallVector<llvm::StringRef>> iteratorsInScope(mlir::Operation *op);
} // namespace neap::loop
#endif
