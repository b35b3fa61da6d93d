// Recurrences over the leading (time) dim. Gate order and equations are ONNX's (LSTM-14, GRU-14, RNN-14) with default activations.
#ifndef NEAP_GRAPH_RECURRENT
#define NEAP_GRAPH_RECURRENT
include "graph/base.td"

// The input projection x W^T + Wb + Rb is already done by a matmul outside (for GRU with linear_before_reset the part of Rb
// that belongs to the hidden gate is given apart), so a step is one matmul by the recurrent weights and elementwise work.
def Graph_LstmOp : Graph_Op<"lstm"> {
  let summary = "one direction: gates [T, B, 4H] in order i, o, f, c; recurrent [4H, H]; h0, c0 [B, H] -> all h [T, B, H], last h, last c";
  let arguments = (ins Graph_FloatTensor:$gates, Graph_FloatTensor:$recurrent, Graph_FloatTensor:$h0, Graph_FloatTensor:$c0, BoolAttr:$reverse);
  let results = (outs Graph_FloatTensor:$all, Graph_FloatTensor:$h, Graph_FloatTensor:$c);
  let assemblyFormat = "$gates `,` $recurrent `,` $h0 `,` $c0 `reverse` $reverse attr-dict `:` functional-type(operands, results)";
}
def Graph_GruOp : Graph_Op<"gru"> {
  let summary = "one direction: gates [T, B, 3H] in order z, r, h; recurrent [3H, H]; recurrent_bias [H] of gate h; h0 [B, H] -> all h [T, B, H], last h";
  let description = [{With linear_before_reset the hidden gate is tanh(x + r * (h R^T + recurrent_bias)), without it tanh(x + (r * h) R^T + recurrent_bias).}];
  let arguments = (ins Graph_FloatTensor:$gates, Graph_FloatTensor:$recurrent, Graph_FloatTensor:$recurrent_bias, Graph_FloatTensor:$h0,
                       BoolAttr:$linear_before_reset, BoolAttr:$reverse);
  let results = (outs Graph_FloatTensor:$all, Graph_FloatTensor:$h);
  let assemblyFormat = "$gates `,` $recurrent `,` $recurrent_bias `,` $h0 `linear` $linear_before_reset `reverse` $reverse attr-dict `:` functional-type(operands, results)";
}
#endif
