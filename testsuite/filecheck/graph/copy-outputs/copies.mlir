// RUN: neap-opt %s --passes 'graph-copy-outputs' | FileCheck %s

// CHECK-LABEL: func.func @argument_and_twice
// CHECK: %[[E:.*]] = graph.unary exp
// CHECK: %[[C:.*]] = graph.slice %arg0 from [0] step [1]
// CHECK: %[[D:.*]] = graph.slice %[[E]] from [0] step [1]
// CHECK: return %[[C]], %[[E]], %[[D]]
func.func @argument_and_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  return %x, %0, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
