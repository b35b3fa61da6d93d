// Constants, weights, groups and control flow.
#ifndef NEAP_GRAPH_STRUCTURE
#define NEAP_GRAPH_STRUCTURE
include "graph/base.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor of at most 64 elements, or a splat of any size, held inline";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}
def Graph_WeightOp : Graph_Op<"weight"> {
  let summary = "a larger tensor, held outside the IR under a key; hash is its content hash, or empty when seeded in tests";
  let arguments = (ins StrAttr:$key, StrAttr:$hash);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$key `hash` $hash attr-dict `:` type($result)";
}
def Graph_FusionOp : Graph_Op<"fusion", [IsolatedFromAbove, SingleBlock]> {
  let summary = "operators that one kernel computes; the region's arguments are the operands, `graph.yield` gives the results";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$kind);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $inputs attr-dict `:` functional-type($inputs, $results) $body";
}
def Graph_YieldOp : Graph_Op<"yield", [Terminator]> {
  let summary = "ends a region of the graph dialect with its results";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
#endif
