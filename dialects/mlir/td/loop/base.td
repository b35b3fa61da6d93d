// The loop dialect: what one kernel call computes, as nests of scalar code over iteration spaces.
#ifndef NEAP_LOOP_BASE
#define NEAP_LOOP_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "graph/kinds.td"
include "loop/kinds.td"

def Loop_Dialect : Dialect {
  let name = "loop";
  let cppNamespace = "::neap::loop";
  let summary = "Kernels as loop nests with access maps and scalar bodies, before any target is known.";
  let extraClassDeclaration = [{
    void addEffect();
    void addScalar();
    void addStructure();
  }];
}

class Loop_Op<string mnemonic, list<Trait> traits = []> : Op<Loop_Dialect, mnemonic, traits>;
class Loop_Pure<string mnemonic, list<Trait> traits = []> : Loop_Op<mnemonic, !listconcat([Pure], traits)>;

def Loop_Scalar : AnyTypeOf<[AnyFloat, AnyInteger], "number or boolean">;
#endif
