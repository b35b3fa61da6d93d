// RUN: neap-opt %s --passes 'graph-tile{axis=2 tiles=2}' | FileCheck %s
// RUN: not neap-opt %s --passes 'graph-tile{axis=1 tiles=2}' 2>&1 | FileCheck %s --check-prefix=CHANNELS
// RUN: not neap-opt %s --passes 'graph-tile{axis=2 from=7}' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not neap-opt %s --passes 'graph-tile{axis=2 to=conv9}' 2>&1 | FileCheck %s --check-prefix=NAME

// CHANNELS: graph-tile: node '{{.*}}': every channel of a convolution reads all channels
// RANGE: graph-tile: there is no node 7: the function has 3
// NAME: graph-tile: no node is named 'conv9'

// Eight rows of each convolution: the tiles read rows of the input that overlap, and keep the padding at their own outer edge.
// CHECK-LABEL: func.func @overlap
// CHECK: %[[W:.*]] = graph.weight
// CHECK: %[[A:.*]] = graph.slice %arg0 from [0, 0, 0, 0] step [1, 1, 1, 1] : tensor<1x1x8x6xf32> -> tensor<1x1x6x6xf32>
// CHECK: %[[B:.*]] = graph.conv %[[A]], %[[W]] strides [1, 1] pads [1, 1, 0, 1]
// CHECK-SAME: -> tensor<1x1x5x6xf32>
// CHECK: %[[C:.*]] = graph.conv %[[B]], %[[W]] strides [1, 1] pads [1, 1, 0, 1]
// CHECK-SAME: -> tensor<1x1x4x6xf32>
// CHECK: %[[D:.*]] = graph.slice %arg0 from [0, 0, 2, 0]
// CHECK: %[[E:.*]] = graph.conv %[[D]], %[[W]] strides [1, 1] pads [0, 1, 1, 1]
// CHECK: %[[F:.*]] = graph.conv %[[E]], %[[W]] strides [1, 1] pads [0, 1, 1, 1]
// CHECK: %[[G:.*]] = graph.concat %[[C]], %[[F]] axis 2
// CHECK: return %[[G]]
func.func @overlap(%x: tensor<1x1x8x6xf32>) -> tensor<1x1x8x6xf32> {
  %w = graph.weight "w" hash "" : tensor<1x1x3x3xf32>
  %0 = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<1x1x8x6xf32>, tensor<1x1x3x3xf32> -> tensor<1x1x8x6xf32>
  %1 = graph.conv %0, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<1x1x8x6xf32>, tensor<1x1x3x3xf32> -> tensor<1x1x8x6xf32>
  return %1 : tensor<1x1x8x6xf32>
}
