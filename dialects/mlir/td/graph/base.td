// The graph dialect: pure operators on tensors, close to what a model says.
#ifndef NEAP_GRAPH_BASE
#define NEAP_GRAPH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::neap::graph";
  let summary = "Pure operators on tensors: the level at which models enter, are rewritten and fused.";
  // One translation unit a family: all ops in one would take minutes and gigabytes to compile.
  let extraClassDeclaration = [{
    void addContract();
    void addElementwise();
    void addIndex();
    void addRecurrent();
    void addReduce();
    void addShape();
    void addStructure();
  }];
}

// Every graph op is pure unless it says otherwise, so MLIR's own CSE and DCE work on it.
class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, !listconcat([Pure], traits)>;

// Signless integers of 8 to 64 bits, unsigned 8 to 64 (ui8...), i1 for bool, f16, bf16, f32, f64.
def Graph_Tensor : AnyTypeOf<[RankedTensorOf<[AnyFloat, AnyInteger]>], "ranked tensor of numbers or booleans">;
def Graph_FloatTensor : RankedTensorOf<[AnyFloat]>;
def Graph_IntTensor : RankedTensorOf<[AnyInteger]>;
def Graph_BoolTensor : RankedTensorOf<[I1]>;

#endif
