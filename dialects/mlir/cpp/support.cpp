// What MLIR's C API lacks.
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

// A module from text under a file name, or null after diagnostics; functions at the top level are wrapped in a module. (The C API
// takes a name for a single operation only.)
extern "C" MlirModule neapParseModule(MlirContext context, MlirStringRef text, MlirStringRef name) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(unwrap(text), unwrap(context), unwrap(name));
  return MlirModule{module ? module.release().getOperation() : nullptr};
}

// Diagnostics without a note that prints the whole operation: they have a place.
extern "C" void neapQuietDiagnostics(MlirContext context) { unwrap(context)->printOpOnDiagnostic(false); }
