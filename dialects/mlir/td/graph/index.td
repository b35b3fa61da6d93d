// Operators that read or write where data says. Indices are i32 or i64; negative ones count from the end;
// a gather clamps an index out of range, a scatter drops its update.
#ifndef NEAP_GRAPH_INDEX
#define NEAP_GRAPH_INDEX
include "graph/base.td"

def Graph_GatherOp : Graph_Op<"gather"> {
  let summary = "numpy.take: input[..., indices, ...] along one axis; an index out of range is clamped";
  let arguments = (ins Graph_Tensor:$input, Graph_IntTensor:$indices, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `[` $indices `]` `axis` $axis attr-dict `:` type($input) `,` type($indices) `->` type($result)";
}

def Graph_GatherElementsOp : Graph_Op<"gather_elements"> {
  let summary = "numpy.take_along_axis: result has the indices' shape";
  let arguments = (ins Graph_Tensor:$input, Graph_IntTensor:$indices, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `[` $indices `]` `axis` $axis attr-dict `:` type($input) `,` type($indices) `->` type($result)";
}

def Graph_GatherNdOp : Graph_Op<"gather_nd"> {
  let summary = "each row of the last dim of indices addresses an element or slice of input, after batch_dims shared dims";
  let arguments = (ins Graph_Tensor:$input, Graph_IntTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `[` $indices `]` `batch` $batch_dims attr-dict `:` type($input) `,` type($indices) `->` type($result)";
}

def Graph_ScatterKind : I32EnumAttr<"ScatterKind", "how an update meets what is there; updates apply in row-major order", [
  I32EnumAttrCase<"assign", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>,
  I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]> {
  let cppNamespace = "::neap::graph";
}
def Graph_ScatterElementsOp : Graph_Op<"scatter_elements"> {
  let summary = "copy of input with updates[i] written where indices[i] says along one axis";
  let arguments = (ins Graph_Tensor:$input, Graph_IntTensor:$indices, Graph_Tensor:$updates, I64Attr:$axis, Graph_ScatterKind:$kind);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `[` $indices `]` `with` $updates `axis` $axis attr-dict `:` type($input) `,` type($indices) `,` type($updates) `->` type($result)";
}
def Graph_ScatterNdOp : Graph_Op<"scatter_nd"> {
  let summary = "copy of input with slices of updates written where the rows of indices say";
  let arguments = (ins Graph_Tensor:$input, Graph_IntTensor:$indices, Graph_Tensor:$updates, Graph_ScatterKind:$kind);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `[` $indices `]` `with` $updates attr-dict `:` type($input) `,` type($indices) `,` type($updates) `->` type($result)";
}

def Graph_IotaOp : Graph_Op<"iota", [AllTypesMatch<["start", "step"]>]> {
  let summary = "element i along axis is start + i * step, computed in the result's type, where start and step are 0-d tensors";
  let arguments = (ins Graph_Tensor:$start, Graph_Tensor:$step, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$start `step` $step `axis` $axis attr-dict `:` type($start) `->` type($result)";
}
#endif
