// Scalar operations that `arith` and `math` do not have with neap's meaning.
#ifndef NEAP_LOOP_SCALAR
#define NEAP_LOOP_SCALAR
include "loop/base.td"

def Loop_IterOp : Loop_Pure<"iter"> {
  let summary = "value of an iterator, numbered with the kernel's outer ones first";
  let arguments = (ins I64Attr:$position);
  let results = (outs I64:$result);
  let assemblyFormat = "$position attr-dict `:` type($result)";
}
def Loop_SizeOp : Loop_Pure<"size"> {
  let summary = "a run-time size: a map without dims and with one result";
  let arguments = (ins AffineMapAttr:$map);
  let results = (outs I64:$result);
  let assemblyFormat = "$map attr-dict `:` type($result)";
}
def Loop_LoadOp : Loop_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "element at computed indices, one a dim, each inside the buffer";
  let arguments = (ins AnyMemRef:$buffer, Variadic<I64>:$indices);
  let results = (outs Loop_Scalar:$result);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}
def Loop_ConstantOp : Loop_Pure<"constant"> {
  let summary = "a constant of an unsigned type, which arith.constant refuses";
  let arguments = (ins I64Attr:$value);
  let results = (outs Loop_Scalar:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}
def Loop_UnaryOp : Loop_Pure<"unary"> {
  let summary = "a function of one number, as graph.unary; where arith or math mean the same, they are used instead";
  let arguments = (ins Loop_Scalar:$input, Graph_UnaryKind:$kind);
  let results = (outs Loop_Scalar:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
}
def Loop_BinaryOp : Loop_Pure<"binary", [AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "a function of two numbers, as graph.binary; where arith or math mean the same, they are used instead";
  let arguments = (ins Loop_Scalar:$lhs, Loop_Scalar:$rhs, Graph_BinaryKind:$kind);
  let results = (outs Loop_Scalar:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` type($result)";
}
def Loop_CompareOp : Loop_Pure<"compare", [SameTypeOperands]> {
  let summary = "a comparison, as graph.compare; where arith means the same, it is used instead";
  let arguments = (ins Loop_Scalar:$lhs, Loop_Scalar:$rhs, Graph_CompareKind:$kind);
  let results = (outs I1:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` type($lhs)";
}
def Loop_CastOp : Loop_Pure<"cast"> {
  let summary = "a conversion, as graph.cast: float to integer truncates and saturates, NaN gives 0";
  let arguments = (ins Loop_Scalar:$input);
  let results = (outs Loop_Scalar:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
#endif
