// Operators that move elements without computing on them.
#ifndef NEAP_GRAPH_SHAPE
#define NEAP_GRAPH_SHAPE
include "graph/base.td"

def Graph_BroadcastOp : Graph_Op<"broadcast"> {
  let summary = "repeat along dims of size 1 and along new leading dims (numpy rules) to the result's shape";
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Graph_ReshapeOp : Graph_Op<"reshape"> {
  let summary = "same elements in row-major order, seen in the result's shape (also squeeze, unsqueeze, flatten)";
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Graph_TransposeOp : Graph_Op<"transpose"> {
  let summary = "result dim i is input dim permutation[i]";
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $permutation attr-dict `:` type($input) `->` type($result)";
}

def Graph_SliceOp : Graph_Op<"slice"> {
  let summary = "element i along each dim is input element start + i * step; the result's shape gives the counts";
  let description = [{One start and one step a dim, normalised by the importer: 0 <= start, every element read
exists, step may be negative but not 0.}];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `from` $starts `step` $steps attr-dict `:` type($input) `->` type($result)";
}

def Graph_ConcatOp : Graph_Op<"concat"> {
  let summary = "join tensors along one axis";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($result)";
}

def Graph_PadMode : I32EnumAttr<"PadMode", "what stands in the padding", [
  I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>, I32EnumAttrCase<"edge", 2>,
  I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::neap::graph";
}

def Graph_PadOp : Graph_Op<"pad"> {
  let summary = "add low[i] elements before and high[i] after dim i (negative: crop); `value` is a 0-d tensor of the same type";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$value, Graph_PadMode:$mode, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$mode $input `,` $value `low` $low `high` $high attr-dict `:` type($input) `,` type($value) `->` type($result)";
}

def Graph_ResizeMode : I32EnumAttr<"ResizeMode", "interpolation of a resize", [
  I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"linear", 1>, I32EnumAttrCase<"cubic", 2>]> {
  let cppNamespace = "::neap::graph";
}
def Graph_CoordinateMode : I32EnumAttr<"CoordinateMode", "ONNX coordinate_transformation_mode", [
  I32EnumAttrCase<"half_pixel", 0>, I32EnumAttrCase<"asymmetric", 1>, I32EnumAttrCase<"align_corners", 2>,
  I32EnumAttrCase<"pytorch_half_pixel", 3>, I32EnumAttrCase<"half_pixel_symmetric", 4>]> {
  let cppNamespace = "::neap::graph";
}
def Graph_NearestMode : I32EnumAttr<"NearestMode", "ONNX nearest_mode", [
  I32EnumAttrCase<"round_prefer_floor", 0>, I32EnumAttrCase<"round_prefer_ceil", 1>,
  I32EnumAttrCase<"floor", 2>, I32EnumAttrCase<"ceil", 3>]> {
  let cppNamespace = "::neap::graph";
}

def Graph_ResizeOp : Graph_Op<"resize"> {
  let summary = "sample at scaled positions (ONNX Resize without crop); scales has one entry a dim, 1.0 where a dim is kept";
  let arguments = (ins Graph_Tensor:$input, Graph_ResizeMode:$mode, Graph_CoordinateMode:$coordinates,
                       Graph_NearestMode:$nearest, DenseF64ArrayAttr:$scales, F64Attr:$cubic_a);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$mode $coordinates $nearest $input `scales` $scales attr-dict `:` type($input) `->` type($result)";
}
#endif
