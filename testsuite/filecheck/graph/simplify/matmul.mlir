// RUN: neap-opt %s --passes 'graph-simplify' | FileCheck %s

// A transposed operand becomes a flag.
// CHECK-LABEL: func.func @flag
// CHECK-NEXT: graph.matmul %arg0, %arg1 t false true
func.func @flag(%a: tensor<2x4x8xf32>, %b: tensor<2x5x8xf32>) -> tensor<2x4x5xf32> {
  %0 = graph.transpose %b, [0, 2, 1] : tensor<2x5x8xf32> -> tensor<2x8x5xf32>
  %1 = graph.matmul %a, %0 t false false : tensor<2x4x8xf32>, tensor<2x8x5xf32> -> tensor<2x4x5xf32>
  return %1 : tensor<2x4x5xf32>
}

// The keys of attention, [batch, tokens, heads, size] to [batch, heads, size, tokens]: rows are copied whole, the flag does the rest.
// CHECK-LABEL: func.func @keys
// CHECK-NEXT: %[[K:.*]] = graph.transpose %arg1, [0, 2, 1, 3]
// CHECK-NEXT: graph.matmul %arg0, %[[K]] t false true
func.func @keys(%q: tensor<1x3x5x8xf32>, %k: tensor<1x5x3x8xf32>) -> tensor<1x3x5x5xf32> {
  %0 = graph.transpose %k, [0, 2, 3, 1] : tensor<1x5x3x8xf32> -> tensor<1x3x8x5xf32>
  %1 = graph.matmul %q, %0 t false false : tensor<1x3x5x8xf32>, tensor<1x3x8x5xf32> -> tensor<1x3x5x5xf32>
  return %1 : tensor<1x3x5x5xf32>
}

// Of the left operand the flag alone would make strided reads.
// CHECK-LABEL: func.func @left
// CHECK-NEXT: graph.transpose %arg0, [0, 2, 3, 1]
func.func @left(%q: tensor<1x5x3x8xf32>, %k: tensor<1x3x5x6xf32>) -> tensor<1x3x8x6xf32> {
  %0 = graph.transpose %q, [0, 2, 3, 1] : tensor<1x5x3x8xf32> -> tensor<1x3x8x5xf32>
  %1 = graph.matmul %0, %k t false false : tensor<1x3x8x5xf32>, tensor<1x3x5x6xf32> -> tensor<1x3x8x6xf32>
  return %1 : tensor<1x3x8x6xf32>
}
