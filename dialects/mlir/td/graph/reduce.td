// Reductions and normalisations.
#ifndef NEAP_GRAPH_REDUCE
#define NEAP_GRAPH_REDUCE
include "graph/base.td"

// `max` and `min` propagate NaN. Over no elements: sum 0, prod 1, max -inf (or the least integer), min +inf, mean NaN.
def Graph_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines elements", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
  I32EnumAttrCase<"prod", 4>, I32EnumAttrCase<"any", 5>, I32EnumAttrCase<"all", 6>]> {
  let cppNamespace = "::neap::graph";
}
def Graph_ReduceOp : Graph_Op<"reduce"> {
  let summary = "reduce over sorted, distinct axes; with keep_dims they stay as size 1";
  let arguments = (ins Graph_Tensor:$input, Graph_ReduceKind:$kind, DenseI64ArrayAttr:$axes, BoolAttr:$keep_dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `axes` $axes `keep` $keep_dims attr-dict `:` type($input) `->` type($result)";
}

def Graph_ArgKind : I32EnumAttr<"ArgKind", "which extreme an arg-reduction finds", [
  I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"min", 1>]> {
  let cppNamespace = "::neap::graph";
}
def Graph_ArgReduceOp : Graph_Op<"arg_reduce"> {
  let summary = "i64 index of the extreme along one axis, the first or (select_last) the last of equals; the axis stays as size 1";
  let arguments = (ins Graph_Tensor:$input, Graph_ArgKind:$kind, I64Attr:$axis, BoolAttr:$select_last);
  let results = (outs Graph_IntTensor:$result);
  let assemblyFormat = "$kind $input `axis` $axis `last` $select_last attr-dict `:` type($input) `->` type($result)";
}

def Graph_SoftmaxOp : Graph_Op<"softmax", [AllTypesMatch<["input", "result"]>]> {
  let summary = "exp(x - max) / sum(exp(x - max)) along one axis, or its logarithm";
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$axis, BoolAttr:$log);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis `log` $log attr-dict `:` type($input)";
}

def Graph_LayerNormOp : Graph_Op<"layer_norm"> {
  let summary = "(x - mean) / sqrt(var + epsilon) over the dims from axis on; scale and bias are separate elementwise ops";
  let description = [{With `rms` the mean is taken as 0 and var as mean(x^2) (RMSNorm).}];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$axis, F64Attr:$epsilon, BoolAttr:$rms);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis `eps` $epsilon `rms` $rms attr-dict `:` type($input) `->` type($result)";
}

def Graph_CumSumOp : Graph_Op<"cumsum", [AllTypesMatch<["input", "result"]>]> {
  let summary = "running sum along one axis; exclusive leaves out the element itself; reverse runs from the end";
  let arguments = (ins Graph_Tensor:$input, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `axis` $axis `exclusive` $exclusive `reverse` $reverse attr-dict `:` type($input)";
}

def Graph_TopKOp : Graph_Op<"top_k"> {
  let summary = "the k largest (or smallest) along one axis, sorted, with their i64 indices; of equals the lower index comes first";
  let arguments = (ins Graph_Tensor:$input, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Graph_Tensor:$values, Graph_IntTensor:$indices);
  let assemblyFormat = "$input `axis` $axis `largest` $largest attr-dict `:` type($input) `->` type($values) `,` type($indices)";
}
#endif
