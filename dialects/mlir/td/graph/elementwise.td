// Elementwise operators. All operands have the result's shape: the importer inserts `graph.broadcast`.
#ifndef NEAP_GRAPH_ELEMENTWISE
#define NEAP_GRAPH_ELEMENTWISE
include "graph/base.td"
include "graph/kinds.td"

def Graph_UnaryOp : Graph_Op<"unary"> {
  let summary = "apply a function to every element; `not`, `isnan`, `isinf` give i1 (`not` on i1 only)";
  let arguments = (ins Graph_Tensor:$input, Graph_UnaryKind:$kind);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
}

def Graph_BinaryOp : Graph_Op<"binary", [SameTypeOperands]> {
  let summary = "combine two tensors of one type element by element";
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, Graph_BinaryKind:$kind);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Graph_CompareOp : Graph_Op<"compare", [SameTypeOperands]> {
  let summary = "compare two tensors of one type element by element, giving i1";
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, Graph_CompareKind:$kind);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Graph_SelectOp : Graph_Op<"select", [AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "take each element from one tensor where the condition holds and from the other where not";
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
}

def Graph_CastOp : Graph_Op<"cast"> {
  let summary = "convert elements to the result's element type";
  let description = [{Float to integer truncates toward zero, saturates, and sends NaN to 0; integer to narrower
integer wraps; anything to i1 is `!= 0`; i1 to a number is 0 or 1.}];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
#endif
