// RUN: neap-opt %s --passes 'graph-fuse' | FileCheck %s

// Two products read the same bytes, and each widens them for itself.
// CHECK-LABEL: func.func @shared
// CHECK: graph.fusion "matmul" %arg{{[01]}}, %arg{{[01]}} : (tensor<{{.*}}i8>, tensor<{{.*}}i8>)
// CHECK: graph.fusion "matmul" %arg{{[02]}}, %arg{{[02]}} : (tensor<{{.*}}i8>, tensor<{{.*}}i8>)
// CHECK: return
func.func @shared(%x: tensor<4x8xui8>, %a: tensor<8x6xi8>, %b: tensor<8x6xi8>) -> (tensor<4x6xi32>, tensor<4x6xi32>) {
  %0 = graph.cast %x : tensor<4x8xui8> -> tensor<4x8xi32>
  %1 = graph.cast %a : tensor<8x6xi8> -> tensor<8x6xi32>
  %2 = graph.cast %b : tensor<8x6xi8> -> tensor<8x6xi32>
  %3 = graph.matmul %0, %1 t false false : tensor<4x8xi32>, tensor<8x6xi32> -> tensor<4x6xi32>
  %4 = graph.matmul %0, %2 t false false : tensor<4x8xi32>, tensor<8x6xi32> -> tensor<4x6xi32>
  return %3, %4 : tensor<4x6xi32>, tensor<4x6xi32>
}

// A convolution that quantises, and a sum that dequantises: bytes lie between them.
// CHECK-LABEL: func.func @ends
// CHECK: graph.fusion "conv" {{.*}} -> tensor<1x2x4x4xui8>
// CHECK: graph.fusion {{.*}}tensor<1x2x4x4xui8>{{.*}} -> tensor<1x2x4x4xf32>
// CHECK: graph.cast
// CHECK: graph.binary mul
// CHECK: graph.binary add
// CHECK: return
func.func @ends(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>, %y: tensor<1x2x4x4xf32>, %v: tensor<2x2x1x1xf32>)
    -> tensor<1x2x4x4xf32> {
  %0 = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.unary round %0 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %2 = graph.cast %1 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xui8>
  %3 = graph.cast %2 : tensor<1x2x4x4xui8> -> tensor<1x2x4x4xf32>
  %s = graph.constant dense<0.5> : tensor<1x2x4x4xf32>
  %4 = graph.binary mul %3, %s : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %5 = graph.conv %y, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32> -> tensor<1x2x4x4xf32>
  %6 = graph.binary add %4, %5 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  return %6 : tensor<1x2x4x4xf32>
}
