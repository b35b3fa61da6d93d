// RUN: neap-opt %s --passes 'graph-tile{axis=0 tiles=2}' | FileCheck %s

// A value that is also a result is put together from the tiles; readers in a tile keep to the tile's part.
// CHECK-LABEL: func.func @batch
// CHECK-DAG: %[[A:.*]] = graph.slice %arg0 from [0, 0] step [1, 1] : tensor<4x6xf32> -> tensor<2x6xf32>
// CHECK: %[[B:.*]] = graph.unary exp %[[A]]
// CHECK: %[[C:.*]] = graph.reduce sum %[[B]] axes [1] keep false : tensor<2x6xf32> -> tensor<2xf32>
// CHECK: %[[D:.*]] = graph.slice %arg0 from [2, 0]
// CHECK: %[[E:.*]] = graph.unary exp %[[D]]
// CHECK: %[[F:.*]] = graph.reduce sum %[[E]]
// CHECK: %[[G:.*]] = graph.concat %[[B]], %[[E]] axis 0
// CHECK: %[[H:.*]] = graph.concat %[[C]], %[[F]] axis 0
// CHECK: return %[[H]], %[[G]]
func.func @batch(%x: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4x6xf32>) {
  %0 = graph.unary exp %x : tensor<4x6xf32> -> tensor<4x6xf32>
  %1 = graph.reduce sum %0 axes [1] keep false : tensor<4x6xf32> -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4x6xf32>
}

// What every tile needs whole runs once: the right side of a product whose rows are cut.
// CHECK-LABEL: func.func @once
// CHECK: %[[A:.*]] = graph.unary neg %arg1 : tensor<6x5xf32> -> tensor<6x5xf32>
// CHECK-NOT: graph.unary neg
// CHECK: graph.matmul %{{.*}}, %[[A]] t false false : tensor<2x6xf32>, tensor<6x5xf32> -> tensor<2x5xf32>
// CHECK: graph.matmul %{{.*}}, %[[A]] t false false : tensor<2x6xf32>, tensor<6x5xf32> -> tensor<2x5xf32>
// CHECK: graph.concat
func.func @once(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.unary neg %y : tensor<6x5xf32> -> tensor<6x5xf32>
  %1 = graph.matmul %x, %0 t false false : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// Inside a fusion too; a slice of what the tile holds already goes into the kernel.
// CHECK-LABEL: func.func @fused
// CHECK: graph.fusion "conv"
// CHECK: graph.broadcast %{{.*}} : tensor<3x1x1xf32> -> tensor<1x3x4x4xf32>
// CHECK: graph.fusion "conv"
// CHECK: graph.concat
func.func @fused(%x: tensor<2x2x4x4xf32>, %w: tensor<3x2x1x1xf32>, %b: tensor<3x1x1xf32>) -> tensor<2x3x4x4xf32> {
  %0 = graph.fusion "conv" %x, %w, %b : (tensor<2x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<3x1x1xf32>) -> tensor<2x3x4x4xf32> {
  ^bb0(%p: tensor<2x2x4x4xf32>, %q: tensor<3x2x1x1xf32>, %r: tensor<3x1x1xf32>):
    %1 = graph.conv %p, %q strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
        : tensor<2x2x4x4xf32>, tensor<3x2x1x1xf32> -> tensor<2x3x4x4xf32>
    %2 = graph.broadcast %r : tensor<3x1x1xf32> -> tensor<2x3x4x4xf32>
    %3 = graph.binary add %1, %2 : tensor<2x3x4x4xf32> -> tensor<2x3x4x4xf32>
    graph.yield %3 : tensor<2x3x4x4xf32>
  }
  return %0 : tensor<2x3x4x4xf32>
}
