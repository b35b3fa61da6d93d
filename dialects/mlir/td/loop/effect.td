// What an iteration does with its values.
#ifndef NEAP_LOOP_EFFECT
#define NEAP_LOOP_EFFECT
include "loop/base.td"

def Loop_StoreOp : Loop_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "store a value where a map says, with a predicate only where it holds";
  let arguments = (ins Loop_Scalar:$value, AnyMemRef:$to, Optional<I1>:$when, AffineMapAttr:$map);
  let assemblyFormat = "$value `to` $to `at` $map (`when` $when^)? attr-dict `:` type($value) `,` type($to)";
  let hasVerifier = 1;
}
def Loop_StoreAtOp : Loop_Op<"store_at", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "store a value at computed indices, one a dim";
  let arguments = (ins Loop_Scalar:$value, AnyMemRef:$to, Variadic<I64>:$indices, Optional<I1>:$when);
  let assemblyFormat = "$value `to` $to `[` $indices `]` (`when` $when^)? attr-dict `:` type($value) `,` type($to)";
  let hasVerifier = 1;
}
def Loop_ReduceOp : Loop_Op<"reduce", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fold a value over the nest's reduction iterators into the element a map of the other iterators addresses";
  let description = [{The order of folding is fixed by the kernel, see docs/architecture.md, "Numbers". `second` is the other factor of `fma`.}];
  let arguments = (ins Loop_Scalar:$value, Optional<Loop_Scalar>:$second, AnyMemRef:$to, Loop_CombineKind:$kind, AffineMapAttr:$map);
  let assemblyFormat = "$kind $value (`,` $second^ `:` type($second))? `to` $to `at` $map attr-dict `:` type($value) `,` type($to)";
  let hasVerifier = 1;
}
#endif
