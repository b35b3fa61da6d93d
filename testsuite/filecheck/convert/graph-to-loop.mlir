// RUN: neap-opt %s --passes 'convert-graph-to-loop' | FileCheck %s
// RUN: not neap-opt %s --passes 'convert-graph-to-lop' 2>&1 | FileCheck %s --check-prefix=TYPO

// TYPO: error:
// TYPO-SAME: convert-graph-to-lop

// CHECK: loop.kernel
// CHECK-SAME: schedule {family =
// CHECK: loop.nest ["parallel"
// CHECK: %[[V:.*]] = arith.addf
// CHECK: loop.store %[[V]] to
func.func @map(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %0 = graph.binary add %x, %y : tensor<4x32xf32> -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// CHECK: loop.kernel
// CHECK: loop.nest ["reduction"]
// CHECK: loop.reduce fma
func.func @contract(%a: tensor<16x32xf32>, %b: tensor<32x24xf32>) -> tensor<16x24xf32> {
  %0 = graph.matmul %a, %b t false false : tensor<16x32xf32>, tensor<32x24xf32> -> tensor<16x24xf32>
  return %0 : tensor<16x24xf32>
}
