// RUN: neap-opt %s --passes 'convert-graph-to-loop' | FileCheck %s
// RUN: not neap-opt %s --passes 'no-such-pass' 2>&1 | FileCheck %s --check-prefix=TYPO

// TYPO: no-such-pass

// CHECK: loop.kernel
// CHECK-SAME: schedule
func.func @map(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %0 = graph.binary add %x, %y : tensor<4x32xf32> -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
