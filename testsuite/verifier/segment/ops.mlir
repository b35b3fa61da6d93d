// What each operation of the segment dialect refuses.

// expected-error @+1 {{requires attribute 'arena'}}
"segment.program"() ({
}) {sym_name = "p", target = {}} : () -> ()

// -----

segment.program @p arena 0 target {} {
  // expected-error @+1 {{attribute 'kind' failed to satisfy constraint: where a buffer lies at run time}}
  "segment.tensor"() {kind = 9 : i32, position = 0 : i64, name = "x", type = f32} : () -> ()
}

// -----

segment.program @p arena 0 target {} {
  // expected-error @+1 {{result #0 must be statically shaped memref of any type values, but got 'memref<?xi8>'}}
  %x = segment.view input 0 at 0 : memref<?xi8>
}

// -----

segment.program @p arena 0 target {} {
  %x = segment.view input 0 at 0 : memref<4xi8>
  // expected-error @+1 {{requires attribute 'entry'}}
  "segment.launch"(%x) {kernel = "k", operandSegmentSizes = array<i32: 1, 0>} : (memref<4xi8>) -> ()
}
