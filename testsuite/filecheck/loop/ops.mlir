// RUN: neap-opt %s | FileCheck %s

// Every operation of the loop dialect, in kernels that make sense.

// CHECK: #[[ROWS:.*]] = affine_map<()[s0] -> (s0)>
// CHECK: loop.kernel @map sizes 1 of ["rows"] over ["parallel"] #[[ROWS]] {
// CHECK:   %[[Y:.*]] = loop.buffer out #{{.*}} : memref<?x64xf32>
// CHECK:   loop.nest ["parallel"] #{{.*}} reads %{{.*}} : memref<?x64xf32> at [#{{.*}}] outside [unit] {
// CHECK:     %[[V:.*]] = loop.unary relu
// CHECK:     loop.store %[[V]] to %[[Y]] at
// y = relu(x * 2) with bounds on the number of rows known at run time.
loop.kernel @map sizes 1 of ["rows"] over ["parallel"] affine_map<()[s0] -> (s0)> {
  %x = loop.buffer in affine_map<()[s0] -> (s0, 64)> : memref<?x64xf32>
  %y = loop.buffer out affine_map<()[s0] -> (s0, 64)> : memref<?x64xf32>
  loop.nest ["parallel"] affine_map<() -> (64)> reads %x : memref<?x64xf32>
      at [affine_map<(d0, d1) -> (d0, d1)>] outside [unit] {
  ^bb0(%0: f32):
    %two = arith.constant 2.0 : f32
    %1 = arith.mulf %0, %two : f32
    %2 = loop.unary relu %1 : f32 -> f32
    loop.store %2 to %y at affine_map<(d0, d1) -> (d0, d1)> : f32, memref<?x64xf32>
  }
}

// CHECK: loop.kernel @softmax
// CHECK-COUNT-3: loop.nest
// A row softmax: maximum, sum of exponentials, quotient.
loop.kernel @softmax sizes 0 of [] over ["parallel"] affine_map<() -> (8)> {
  %x = loop.buffer in affine_map<() -> (8, 100)> : memref<8x100xf32>
  %y = loop.buffer out affine_map<() -> (8, 100)> : memref<8x100xf32>
  %max = loop.buffer temp affine_map<() -> ()> : memref<f32>
  %sum = loop.buffer temp affine_map<() -> ()> : memref<f32>
  loop.nest ["reduction"] affine_map<() -> (100)> reads %x : memref<8x100xf32>
      at [affine_map<(d0, d1) -> (d0, d1)>] outside [unit] {
  ^bb0(%0: f32):
    loop.reduce max %0 to %max at affine_map<(d0, d1) -> ()> : f32, memref<f32>
  }
  loop.nest ["reduction"] affine_map<() -> (100)> reads %x, %max : memref<8x100xf32>, memref<f32>
      at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>] outside [unit, unit] {
  ^bb0(%0: f32, %m: f32):
    %1 = arith.subf %0, %m : f32
    %2 = math.exp %1 : f32
    loop.reduce sum %2 to %sum at affine_map<(d0, d1) -> ()> : f32, memref<f32>
    loop.store %2 to %y at affine_map<(d0, d1) -> (d0, d1)> : f32, memref<8x100xf32>
  }
  loop.nest ["parallel"] affine_map<() -> (100)> reads %y, %sum : memref<8x100xf32>, memref<f32>
      at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>] outside [unit, unit] {
  ^bb0(%0: f32, %s: f32):
    %1 = arith.divf %0, %s : f32
    loop.store %1 to %y at affine_map<(d0, d1) -> (d0, d1)> : f32, memref<8x100xf32>
  }
}

// CHECK: loop.kernel @contract
// CHECK-SAME: schedule {name = "tile", rows = 4 : i64}
// A matrix product with padding read as zero, its schedule chosen.
loop.kernel @contract sizes 0 of [] over ["parallel", "parallel"] affine_map<() -> (4, 5)> schedule {name = "tile", rows = 4 : i64} {
  %a = loop.buffer in affine_map<() -> (4, 7)> : memref<4x7xf32>
  %b = loop.buffer in affine_map<() -> (8, 5)> : memref<8x5xf32>
  %c = loop.buffer out affine_map<() -> (4, 5)> : memref<4x5xf32>
  loop.nest ["reduction"] affine_map<() -> (8)> reads %a, %b : memref<4x7xf32>, memref<8x5xf32>
      at [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>] outside [0.0, unit] {
  ^bb0(%0: f32, %1: f32):
    loop.reduce fma %0, %1 : f32 to %c at affine_map<(d0, d1, d2) -> (d0, d1)> : f32, memref<4x5xf32>
  }
}

// CHECK: loop.kernel @index sizes 1 of ["n", ["min", #{{.*}}]]
// CHECK: loop.store_at %{{.*}} to %{{.*}}[%{{.*}}] when %{{.*}} : ui8, memref<?xui8>
// Loads and stores at computed places, predicates, unsigned elements, sizes as numbers.
loop.kernel @index sizes 1 of ["n", ["min", affine_map<()[s0] -> (s0, 16)>]] over [] affine_map<() -> ()> {
  %x = loop.buffer in affine_map<()[s0] -> (s0)> : memref<?xui8>
  %i = loop.buffer in affine_map<() -> (16)> : memref<16xi64>
  %y = loop.buffer out affine_map<()[s0] -> (s0)> : memref<?xui8>
  %at = loop.buffer out affine_map<() -> ()> : memref<i64>
  loop.nest ["sequential"] affine_map<()[s0, s1] -> (s1)> reads %i : memref<16xi64>
      at [affine_map<(d0) -> (d0)>] outside [unit] {
  ^bb0(%0: i64):
    %n = loop.size affine_map<()[s0] -> (s0)> : i64
    %d = loop.iter 0 : i64
    %1 = loop.load %x[%0] : memref<?xui8> -> ui8
    %one = loop.constant 1 : ui8
    %2 = loop.binary add %1, %one : ui8
    %3 = loop.compare lt %2, %one : ui8
    %4 = loop.cast %2 : ui8 -> i64
    %5 = loop.binary mod %4, %n : i64
    %6 = arith.cmpi slt, %d, %n : i64
    %7 = arith.andi %3, %6 : i1
    loop.store_at %2 to %y[%5] when %7 : ui8, memref<?xui8>
    loop.store_at %one to %y[%d] : ui8, memref<?xui8>
    loop.store %one to %y at affine_map<(d0) -> (d0)> when %7 : ui8, memref<?xui8>
  }
  loop.nest ["reduction"] affine_map<() -> (16)> reads %i : memref<16xi64>
      at [affine_map<(d0) -> (15 - d0)>] outside [unit] {
  ^bb0(%0: i64):
    loop.reduce arg_max_last %0 to %at at affine_map<(d0) -> ()> : i64, memref<i64>
  }
}
