// Kernels, their buffers and their nests.
#ifndef NEAP_LOOP_STRUCTURE
#define NEAP_LOOP_STRUCTURE
include "loop/base.td"

def Loop_KernelOp : Loop_Op<"kernel", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let summary = "what one kernel call computes: buffers, then nests that run in order for each iteration of the outer iterators";
  let description = [{`symbols` says what the symbols of all affine maps mean, as `graph.symbols` does; the first `sizes` of them are
the kernel's run-time sizes in order. `iterators` are "parallel" ones, then "sequential" ones, with `extents` as their counts.
Nests number the outer iterators before their own. `schedule`, where chosen, says how the kernel is lowered.}];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$sizes, ArrayAttr:$symbols, StrArrayAttr:$iterators, AffineMapAttr:$extents,
                       OptionalAttr<DictionaryAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `sizes` $sizes `of` $symbols `over` $iterators $extents (`schedule` $schedule^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Loop_BufferOp : Loop_Op<"buffer"> {
  let summary = "a dense row-major tensor that the kernel reads, writes, or keeps private to one outer iteration";
  let description = [{`shape` gives all dims as sizes; the dims that are `?` in the type are symbolic. Inputs come first, then outputs,
then temporaries.}];
  let arguments = (ins Loop_BufferRole:$role, AffineMapAttr:$shape);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = "$role $shape attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Loop_NestOp : Loop_Op<"nest", [SingleBlock, NoTerminator]> {
  let summary = "scalar code run for each point of an iteration space";
  let description = [{`iterators` are "parallel", "reduction" (folded by `loop.reduce`) or "sequential" (later iterations see what earlier
ones stored). The block's arguments are the elements that `maps` address in `reads`; where an index may lie outside the buffer,
the entry of `outside` is what is read there instead, else it is unit.}];
  let arguments = (ins Variadic<AnyMemRef>:$reads, StrArrayAttr:$iterators, AffineMapAttr:$extents, AffineMapArrayAttr:$maps,
                       ArrayAttr:$outside);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$iterators $extents (`reads` $reads^ `:` type($reads))? `at` $maps `outside` $outside attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
#endif
