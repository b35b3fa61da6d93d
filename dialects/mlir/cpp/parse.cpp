// Parsing with a file name: MLIR's C API can do so for a single operation only, not for a file of several functions.
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

// A module from text, or null after diagnostics; functions at the top level are wrapped in a module.
extern "C" MlirModule neapParseModule(MlirContext context, MlirStringRef text, MlirStringRef name) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(unwrap(text), unwrap(context), unwrap(name));
  return MlirModule{module ? module.release().getOperation() : nullptr};
}
