// Contractions and windows.
#ifndef NEAP_GRAPH_CONTRACT
#define NEAP_GRAPH_CONTRACT
include "graph/base.td"

def Graph_MatmulOp : Graph_Op<"matmul"> {
  let summary = "[..., M, K] x [..., K, N] -> [..., M, N]; batch dims broadcast by numpy rules; both operands have rank >= 2";
  let description = [{With `transpose_lhs` the left operand is [..., K, M]; with `transpose_rhs` the right one is [..., N, K].
Each result element is accumulated along K in order with fused multiply-add, starting from 0.}];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, BoolAttr:$transpose_lhs, BoolAttr:$transpose_rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `t` $transpose_lhs $transpose_rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Graph_ConvOp : Graph_Op<"conv"> {
  let summary = "convolution: input [N, C, spatial...], filter [O, C/groups, kernel...] -> [N, O, spatial...]";
  let description = [{`pads` holds the low pads of all spatial dims, then the high pads (ONNX order). No bias: the importer
adds it with `graph.binary add`. Accumulated over (channel, kernel...) in row-major order of the filter, from 0, by fused multiply-add.}];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $filter `strides` $strides `pads` $pads `dilations` $dilations `groups` $groups attr-dict `:` type($input) `,` type($filter) `->` type($result)";
}

def Graph_ConvTransposeOp : Graph_Op<"conv_transpose"> {
  let summary = "gradient of a convolution: input [N, C, spatial...], filter [C, O/groups, kernel...] -> [N, O, spatial...]";
  let description = [{The result's shape already includes ONNX's output_padding; `pads` as for `graph.conv`, of the forward convolution.}];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $filter `strides` $strides `pads` $pads `dilations` $dilations `groups` $groups attr-dict `:` type($input) `,` type($filter) `->` type($result)";
}

def Graph_PoolKind : I32EnumAttr<"PoolKind", "what a pooling window computes", [
  I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"average", 1>, I32EnumAttrCase<"average_include_pad", 2>]> {
  let cppNamespace = "::neap::graph";
}
def Graph_PoolOp : Graph_Op<"pool"> {
  let summary = "pooling over windows: [N, C, spatial...] -> [N, C, spatial...]; the result's shape settles ceil_mode";
  let description = [{`average` divides by the elements inside the input, `average_include_pad` by those inside the padded input. Padding never wins a maximum.}];
  let arguments = (ins Graph_Tensor:$input, Graph_PoolKind:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations attr-dict `:` type($input) `->` type($result)";
}
#endif
