// RUN: neap-opt %s --passes 'graph-fold-batch-norm' | FileCheck %s

// CHECK-LABEL: func.func @scale
// CHECK: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]>
// CHECK: graph.conv %arg0, %[[W]]
// CHECK-NOT: graph.binary mul
// CHECK: return
func.func @scale(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %s = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %b = graph.broadcast %s : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.binary mul %0, %b : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// A bias between the convolution and the scale is scaled with it.
// CHECK-LABEL: func.func @bias_then_scale
// CHECK: graph.conv
// CHECK-NOT: graph.binary mul
// CHECK: graph.constant dense<{{\[\[\[\[}}1.000000e+01]], {{\[\[}}6.000000e+01]]]]>
// CHECK: graph.binary add
func.func @bias_then_scale(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %c = graph.constant dense<[[[5.0]], [[20.0]]]> : tensor<2x1x1xf32>
  %s = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %cb = graph.broadcast %c : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.binary add %0, %cb : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %sb = graph.broadcast %s : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %2 = graph.binary mul %1, %sb : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// Another reader needs the unscaled product: nothing is folded.
// CHECK-LABEL: func.func @two_readers
// CHECK: graph.binary mul
func.func @two_readers(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = graph.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %s = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %b = graph.broadcast %s : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.binary mul %0, %b : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
