// RUN: neap-opt %s --passes 'convert-loop-to-scf,mlir(canonicalize,cse)' | FileCheck %s
// RUN: neap-opt %s --passes 'convert-loop-to-scf' --backend cranelift --target-cpu x86-64-v3 | FileCheck %s --check-prefix=NARROW

// One loop over the collapsed space, by vectors of the target.
// CHECK-LABEL: func.func @add
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store

// NARROW: vector.load {{.*}} vector<4xf32>

#map = affine_map<() -> ()>
#map1 = affine_map<() -> (4, 32)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  loop.kernel @add sizes 0 of [] over [] #map {
    %0 = loop.buffer in #map1 : memref<4x32xf32>
    %1 = loop.buffer in #map1 : memref<4x32xf32>
    %2 = loop.buffer out #map1 : memref<4x32xf32>
    loop.nest ["parallel", "parallel"] #map1 reads %0, %1 : memref<4x32xf32>, memref<4x32xf32> at [#map2, #map2] outside [unit, unit] {
    ^bb0(%arg0: f32, %arg1: f32):
      %3 = arith.addf %arg0, %arg1 : f32
      loop.store %3 to %2 at #map2 : f32, memref<4x32xf32>
    }
  }
}
