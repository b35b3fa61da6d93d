// RUN: neap-opt %s --passes 'graph-fuse,convert-graph-to-loop,convert-loop-to-gpu' | FileCheck %s --check-prefix=GPU
// RUN: neap-opt %s --passes 'graph-fuse,convert-graph-to-loop,convert-loop-to-gpu' --gpu-chip sm_90a | FileCheck %s --check-prefix=PTX
// RUN: neap-opt %s --passes 'graph-fuse,convert-graph-to-loop,convert-loop-to-gpu' --gpu-chip gfx942 | FileCheck %s --check-prefix=GCN

// A thread an element.
// GPU: gpu.module
// GPU: gpu.func
// GPU: gpu.block_id
// GPU: gpu.thread_id
// PTX: .target sm_90a
// PTX: .visible .entry
// PTX: %ctaid.x
// PTX: ld.global
// PTX: st.global
// GCN: gfx942
// GCN: global_load_dword
// GCN: global_store_dword
// GCN: s_endpgm
func.func @chain(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = graph.binary mul %x, %y : tensor<64x128xf32> -> tensor<64x128xf32>
  %1 = graph.unary relu %0 : tensor<64x128xf32> -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}

// A block a row: the threads are the lanes, and the tree runs through shared memory.
// GPU: gpu.module
// GPU: gpu.barrier
// PTX: .visible .entry
// PTX: st.shared
// PTX: bar.sync
// PTX: ld.shared
// PTX: st.global
// GCN: ds_write
// GCN: ds_read
// GCN: s_endpgm
func.func @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = graph.softmax %x axis 1 log false : tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}

// One fma chain along K, then the epilogue, then the only store.
// GPU: gpu.module
// GPU: math.fma
// PTX: .visible .entry
// PTX: fma.rn.f32
// PTX: add.rn.f32
// PTX: st.global
// GCN: v_fma
// GCN: v_add_f32
// GCN: global_store_dword
// GCN: s_endpgm
func.func @matmul(%a: tensor<64x32xf32>, %b: tensor<32x128xf32>, %c: tensor<128xf32>) -> tensor<64x128xf32> {
  %0 = graph.matmul %a, %b t false false : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
  %1 = graph.broadcast %c : tensor<128xf32> -> tensor<64x128xf32>
  %2 = graph.binary add %0, %1 : tensor<64x128xf32> -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}
