// A row reduction through workgroup memory, with everything a kernel may use on a device.
// sm_90a: .visible .entry row_norm(
// sm_90a: .shared
// sm_90a: bar.sync
// sm_90a: fma.rn.f32
// sm_90a: sqrt.rn.f32
// sm_90a: ld.global
// gfx942: .amdhsa_kernel row_norm
// gfx942: s_barrier
// gfx942: ds_write
// gfx942: v_fma
// gfx942: global_load
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @row_norm(%x: memref<?xf32, #gpu.address_space<global>>, %y: memref<?xf32, #gpu.address_space<global>>, %n: index)
        workgroup(%part: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %zero = arith.constant 0.0 : f32
      %row = gpu.block_id x
      %lane = gpu.thread_id x
      %base = arith.muli %row, %n : index
      %sum = scf.for %i = %lane to %n step %c128 iter_args(%acc = %zero) -> f32 {
        %at = arith.addi %base, %i : index
        %v = memref.load %x[%at] : memref<?xf32, #gpu.address_space<global>>
        %next = math.fma %v, %v, %acc : f32
        scf.yield %next : f32
      }
      memref.store %sum, %part[%lane] : memref<128xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %half = scf.while (%h = %c64) : (index) -> index {
        %more = arith.cmpi ugt, %h, %c0 : index
        scf.condition(%more) %h : index
      } do {
      ^bb0(%h: index):
        %active = arith.cmpi ult, %lane, %h : index
        scf.if %active {
          %other = arith.addi %lane, %h : index
          %a = memref.load %part[%lane] : memref<128xf32, #gpu.address_space<workgroup>>
          %b = memref.load %part[%other] : memref<128xf32, #gpu.address_space<workgroup>>
          %c = arith.addf %a, %b : f32
          memref.store %c, %part[%lane] : memref<128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.divui %h, %c2 : index
        scf.yield %next : index
      }
      %total = memref.load %part[%c0] : memref<128xf32, #gpu.address_space<workgroup>>
      %root = math.sqrt %total : f32
      scf.for %i = %lane to %n step %c128 {
        %at = arith.addi %base, %i : index
        %v = memref.load %x[%at] : memref<?xf32, #gpu.address_space<global>>
        %w = arith.divf %v, %root : f32
        %p = arith.maximumf %w, %zero : f32
        memref.store %p, %y[%at] : memref<?xf32, #gpu.address_space<global>>
      }
      gpu.return
    }
  }
}
