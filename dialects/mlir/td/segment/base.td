// The segment dialect: the host program that runs a compiled model.
#ifndef NEAP_SEGMENT_BASE
#define NEAP_SEGMENT_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Segment_Dialect : Dialect {
  let name = "segment";
  let cppNamespace = "::neap::segment";
  let summary = "The host program: views of inputs, outputs, weights and the arena, and launches over them, in order.";
}

class Segment_Op<string mnemonic, list<Trait> traits = []> : Op<Segment_Dialect, mnemonic, traits>;
#endif
