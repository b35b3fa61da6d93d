// RUN: neap-opt %s --passes 'graph-fold' | FileCheck %s

// CHECK-LABEL: func.func @negate
// CHECK-NEXT: graph.constant dense<[-1.000000e+00, -2.000000e+00]>
// CHECK-NEXT: return
func.func @negate() -> tensor<2xf32> {
  %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = graph.unary neg %0 : tensor<2xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A causal mask: iota, compare and select of constants are one constant.
// CHECK-LABEL: func.func @mask
// CHECK-NEXT: graph.constant dense<{{\[\[}}true, false], [true, true]]>
// CHECK-NEXT: return
func.func @mask() -> tensor<2x2xi1> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %r = graph.iota %zero step %one axis 0 : tensor<i64> -> tensor<2x2xi64>
  %c = graph.iota %zero step %one axis 1 : tensor<i64> -> tensor<2x2xi64>
  %m = graph.compare ge %r, %c : tensor<2x2xi64> -> tensor<2x2xi1>
  return %m : tensor<2x2xi1>
}

// What depends on an argument stays; so does a broadcast, which would only take memory.
// CHECK-LABEL: func.func @stays
// CHECK: graph.broadcast
// CHECK: graph.binary add %arg0
func.func @stays(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = graph.broadcast %0 : tensor<4xf32> -> tensor<4x4xf32>
  %2 = graph.binary add %x, %1 : tensor<4x4xf32> -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
