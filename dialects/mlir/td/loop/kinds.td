// Kinds of the loop dialect.
#ifndef NEAP_LOOP_KINDS
#define NEAP_LOOP_KINDS
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def Loop_BufferRole : I32EnumAttr<"BufferRole", "what a buffer is for", [
  I32EnumAttrCase<"in", 0>, I32EnumAttrCase<"out", 1>, I32EnumAttrCase<"temp", 2>]> {
  let cppNamespace = "::neap::loop";
}

// `fma` folds fma(value, second, accumulator). `arg_max` and `arg_min` give the index of the first extreme along the one
// reduction iterator, the `_last` ones of the last.
def Loop_CombineKind : I32EnumAttr<"CombineKind", "how a reduction folds values", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
  I32EnumAttrCase<"fma", 4>, I32EnumAttrCase<"any", 5>, I32EnumAttrCase<"all", 6>,
  I32EnumAttrCase<"arg_max", 7>, I32EnumAttrCase<"arg_min", 8>,
  I32EnumAttrCase<"arg_max_last", 9>, I32EnumAttrCase<"arg_min_last", 10>]> {
  let cppNamespace = "::neap::loop";
}
#endif
