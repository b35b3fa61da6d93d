// RUN: neap-opt %s | FileCheck %s

// CHECK: segment.program @mlp arena 4096 target {backend = "llvm", cpu = "x86-64-v3", features = ["avx2", "fma"]} {
// CHECK: segment.tensor input 0 "x" : tensor<1x64xf32>
// CHECK: %[[H:.*]] = segment.view arena 0 at 64 : memref<256xi8>
// CHECK: segment.launch "matmul" reads(%{{.*}}, %{{.*}} : {{.*}}) writes(%[[H]] : memref<256xi8>) order [0, 1, 2]
// CHECK-SAME: nodes "/fc/Gemm"
// Every operation of the segment dialect: a model of two launches.

segment.program @mlp arena 4096 target {backend = "llvm", cpu = "x86-64-v3", features = ["avx2", "fma"]} {
  segment.tensor input 0 "x" : tensor<1x64xf32>
  segment.tensor output 0 "y" : tensor<1x16xf32>
  %x = segment.view input 0 at 0 : memref<256xi8>
  %w = segment.view weight 0 at 128 : memref<4096xi8>
  %h = segment.view arena 0 at 64 : memref<256xi8>
  %y = segment.view output 0 at 0 : memref<64xi8>
  segment.launch "matmul" reads(%x, %w : memref<256xi8>, memref<4096xi8>) writes(%h : memref<256xi8>) order [0, 1, 2]
      sizes [64] entry 0 extent 4 grain 1 scratch 512 flops 8192 nodes "/fc/Gemm"
  segment.launch "relu" reads(%h : memref<256xi8>) writes(%y : memref<64xi8>) order [0, 1] sizes [] entry 640 extent 1 grain 1
      scratch 0 flops 16 nodes "/Relu+/Slice"
}
