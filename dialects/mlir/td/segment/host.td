// All of the segment dialect.
#ifndef NEAP_SEGMENT_HOST
#define NEAP_SEGMENT_HOST
include "segment/base.td"

def Segment_PlaceKind : I32EnumAttr<"PlaceKind", "where a buffer lies at run time", [
  I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"output", 1>, I32EnumAttrCase<"weight", 2>, I32EnumAttrCase<"arena", 3>]> {
  let cppNamespace = "::neap::segment";
}

def Segment_ProgramOp : Segment_Op<"program", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let summary = "a whole compiled model but its code and weights";
  let description = [{`arena` are the planned bytes for intermediates, without scratch; `target` says for what the code was made.
The region first declares the model's tensors, then launches in order.}];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena, DictionaryAttr:$target);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `arena` $arena `target` $target attr-dict-with-keyword $body";
}

def Segment_TensorOp : Segment_Op<"tensor"> {
  let summary = "an input or output of the model by position, with its name, element type and shape";
  let arguments = (ins Segment_PlaceKind:$kind, I64Attr:$position, StrAttr:$name, TypeAttr:$type);
  let assemblyFormat = "$kind $position $name attr-dict `:` $type";
}

def Segment_ViewOp : Segment_Op<"view", [Pure]> {
  let summary = "bytes of an input or output (by position), of the weight section or of the arena, from an offset on";
  let arguments = (ins Segment_PlaceKind:$kind, I64Attr:$position, I64Attr:$offset);
  let results = (outs AnyStaticShapeMemRef:$bytes);
  let assemblyFormat = "$kind $position `at` $offset attr-dict `:` type($bytes)";
}

def Segment_LaunchOp : Segment_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "one call of a compiled stage over its parallel range, split over threads";
  let description = [{`reads` come before `writes` only in this listing: the stage takes its buffers in the order of `order`, positions
into reads then writes. Every split of [0, extent) gives the same bits; `grain` is the least worth a thread. `entry` is the stage's
byte offset in the code, `scratch` the bytes each thread needs, `nodes` the ONNX nodes it computes.}];
  let arguments = (ins StrAttr:$kernel, Variadic<AnyStaticShapeMemRef>:$reads, Variadic<AnyStaticShapeMemRef>:$writes,
                       DenseI64ArrayAttr:$order, DenseI64ArrayAttr:$sizes, I64Attr:$entry, I64Attr:$extent, I64Attr:$grain,
                       I64Attr:$scratch, I64Attr:$flops, StrAttr:$nodes);
  let assemblyFormat = "$kernel `reads` `(` $reads `:` type($reads) `)` `writes` `(` $writes `:` type($writes) `)` `order` $order `sizes` $sizes `entry` $entry `extent` $extent `grain` $grain `scratch` $scratch `flops` $flops `nodes` $nodes attr-dict";
}
#endif
