// Kinds of elementwise functions, which the loop dialect shares.
#ifndef NEAP_GRAPH_KINDS
#define NEAP_GRAPH_KINDS
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def Graph_UnaryKind : I32EnumAttr<"UnaryKind", "elementwise function of one operand", [
  I32EnumAttrCase<"abs", 0>, I32EnumAttrCase<"neg", 1>, I32EnumAttrCase<"sign", 2>,
  I32EnumAttrCase<"exp", 3>, I32EnumAttrCase<"log", 4>, I32EnumAttrCase<"sqrt", 5>,
  I32EnumAttrCase<"reciprocal", 6>, I32EnumAttrCase<"sin", 7>, I32EnumAttrCase<"cos", 8>,
  I32EnumAttrCase<"tan", 9>, I32EnumAttrCase<"tanh", 10>, I32EnumAttrCase<"erf", 11>,
  I32EnumAttrCase<"sigmoid", 12>, I32EnumAttrCase<"relu", 13>, I32EnumAttrCase<"floor", 14>,
  I32EnumAttrCase<"ceil", 15>, I32EnumAttrCase<"round", 16>, I32EnumAttrCase<"not_", 17, "not">,
  I32EnumAttrCase<"isnan", 18>, I32EnumAttrCase<"isinf", 19>, I32EnumAttrCase<"softplus", 20>,
  I32EnumAttrCase<"asin", 21>, I32EnumAttrCase<"acos", 22>, I32EnumAttrCase<"atan", 23>,
  I32EnumAttrCase<"sinh", 24>, I32EnumAttrCase<"cosh", 25>, I32EnumAttrCase<"asinh", 26>,
  I32EnumAttrCase<"acosh", 27>, I32EnumAttrCase<"atanh", 28>]> {
  let cppNamespace = "::neap::graph";
}

// Symbols that are C++ operators (`and`, `not`) carry an underscore in C++ only.
// `max` and `min` propagate NaN (ONNX follows numpy). `mod` has the divisor's sign (Python), `fmod` the dividend's (C).
// Integer `div` truncates toward zero. `and`, `or`, `xor` are logical on i1 and bitwise on wider integers.
def Graph_BinaryKind : I32EnumAttr<"BinaryKind", "elementwise function of two operands", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"sub", 1>, I32EnumAttrCase<"mul", 2>,
  I32EnumAttrCase<"div", 3>, I32EnumAttrCase<"pow", 4>, I32EnumAttrCase<"max", 5>,
  I32EnumAttrCase<"min", 6>, I32EnumAttrCase<"mod", 7>, I32EnumAttrCase<"fmod", 8>,
  I32EnumAttrCase<"and_", 9, "and">, I32EnumAttrCase<"or_", 10, "or">, I32EnumAttrCase<"xor_", 11, "xor">,
  I32EnumAttrCase<"shl", 12>, I32EnumAttrCase<"shr", 13>, I32EnumAttrCase<"atan2", 14>]> {
  let cppNamespace = "::neap::graph";
}

def Graph_CompareKind : I32EnumAttr<"CompareKind", "ordered comparison; a NaN compares unequal", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::neap::graph";
}
#endif
