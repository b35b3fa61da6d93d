// RUN: neap-opt %s --passes 'graph-simplify' | FileCheck %s

// CHECK-LABEL: func.func @two_transposes
// CHECK-NEXT: return %arg0
func.func @two_transposes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.transpose %x, [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = graph.transpose %0, [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @neutral_constants
// CHECK-NEXT: return %arg0
func.func @neutral_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %z = graph.broadcast %zero : tensor<f32> -> tensor<4xf32>
  %0 = graph.binary mul %x, %one : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.binary add %0, %z : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.binary div %1, %one : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Only unit dims move: a reshape, which is a view.
// CHECK-LABEL: func.func @unit_dims
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
func.func @unit_dims(%x: tensor<1x4x1x8xf32>) -> tensor<4x1x8x1xf32> {
  %0 = graph.transpose %x, [1, 0, 3, 2] : tensor<1x4x1x8xf32> -> tensor<4x1x8x1xf32>
  return %0 : tensor<4x1x8x1xf32>
}

// CHECK-LABEL: func.func @transposed_operand
// CHECK-NEXT: graph.matmul %arg0, %arg1 t false true
// CHECK-NEXT: return
func.func @transposed_operand(%a: tensor<2x4x8xf32>, %b: tensor<2x5x8xf32>) -> tensor<2x4x5xf32> {
  %0 = graph.transpose %b, [0, 2, 1] : tensor<2x5x8xf32> -> tensor<2x8x5xf32>
  %1 = graph.matmul %a, %0 t false false : tensor<2x4x8xf32>, tensor<2x8x5xf32> -> tensor<2x4x5xf32>
  return %1 : tensor<2x4x5xf32>
}

// pow(x, 0.5) of a negative zero or infinity is not sqrt: it stays.
// CHECK-LABEL: func.func @powers
// CHECK: %[[SQ:.*]] = graph.binary mul %arg0, %arg0
// CHECK: graph.binary pow %arg0
// CHECK-NOT: graph.unary sqrt
// CHECK: return
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.binary pow %x, %two : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.binary pow %x, %half : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Equal operators are shared, dead ones go.
// CHECK-LABEL: func.func @shared_and_dead
// CHECK-NEXT: %[[E:.*]] = graph.unary exp %arg0
// CHECK-NEXT: graph.binary add %[[E]], %[[E]]
// CHECK-NEXT: return
func.func @shared_and_dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  %dead = graph.unary log %x : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.binary add %0, %1 : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
