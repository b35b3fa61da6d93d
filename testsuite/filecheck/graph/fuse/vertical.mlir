// RUN: neap-opt %s --passes 'graph-fuse' | FileCheck %s
// RUN: neap-opt %s --passes 'graph-fuse{max-ops=1}' | FileCheck %s --check-prefix=OFF

// OFF-NOT: graph.fusion

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[F:.*]] = graph.fusion "elementwise" %arg0
// CHECK: graph.unary exp
// CHECK: graph.unary neg
// CHECK: return %[[F]]
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.unary neg %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The value read twice comes together again: one group (SiLU behind a convolution).
// CHECK-LABEL: func.func @silu
// CHECK-NEXT: %[[F:.*]] = graph.fusion "conv" %arg0, %arg1
// CHECK: graph.conv
// CHECK: graph.unary sigmoid
// CHECK: graph.binary mul
// CHECK: return %[[F]]
func.func @silu(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.unary sigmoid %0 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %2 = graph.binary mul %0, %1 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// Bias (a broadcast, cloned) and residual go into the matmul's group.
// CHECK-LABEL: func.func @epilogue
// CHECK-NEXT: %[[F:.*]] = graph.fusion "matmul" %arg0, %arg1, %arg2, %arg3
// CHECK: graph.matmul
// CHECK: graph.broadcast
// CHECK: return %[[F]]
func.func @epilogue(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<5xf32>, %r: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.matmul %a, %b t false false : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  %1 = graph.broadcast %c : tensor<5xf32> -> tensor<4x5xf32>
  %2 = graph.binary add %0, %1 : tensor<4x5xf32> -> tensor<4x5xf32>
  %3 = graph.binary add %2, %r : tensor<4x5xf32> -> tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}

// Elementwise producers move into a softmax, and its consumers follow.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[F:.*]] = graph.fusion "softmax" %arg0, %arg1
// CHECK: graph.binary add
// CHECK: graph.softmax
// CHECK: graph.unary relu
// CHECK: return %[[F]]
func.func @softmax(%x: tensor<4x8xf32>, %m: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.binary add %x, %m : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = graph.softmax %0 axis 1 log false : tensor<4x8xf32>
  %2 = graph.unary relu %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A value that is also a result must be in memory: it ends its group.
// CHECK-LABEL: func.func @result_inside
// CHECK-NEXT: %[[E:.*]] = graph.unary exp
// CHECK-NEXT: %[[N:.*]] = graph.unary neg %[[E]]
// CHECK-NEXT: return %[[E]], %[[N]]
func.func @result_inside(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.unary neg %0 : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Two contractions never share a group: the later one takes the sum.
// CHECK-LABEL: func.func @two_anchors
// CHECK-NEXT: %[[A:.*]] = graph.matmul
// CHECK-NEXT: graph.fusion "matmul"
func.func @two_anchors(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %a, %b t false false : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = graph.matmul %b, %a t false false : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = graph.binary add %0, %1 : tensor<4x4xf32> -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
