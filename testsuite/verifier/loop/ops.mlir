// What each operation of the loop dialect refuses.

// expected-error @+1 {{has 2 sizes of 1 symbols}}
loop.kernel @k sizes 2 of ["n"] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
}

// -----

// expected-error @+1 {{parallel iterators come before sequential ones}}
loop.kernel @k sizes 0 of [] over ["sequential", "parallel"] affine_map<() -> (4, 4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
}

// -----

// expected-error @+1 {{has 1 iterators and 2 extents; extents have symbols only}}
loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4, 4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
}

// -----

// expected-error @+1 {{iterator kind "reduction" is not one of parallel, sequential}}
loop.kernel @k sizes 0 of [] over ["reduction"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
}

// -----

// expected-error @+1 {{symbols: expected an array of names and [operation, affine map] pairs}}
loop.kernel @k sizes 0 of [3 : i64] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  // expected-error @+1 {{shape and type disagree: affine_map<() -> (5)> for 'memref<4xf32>'}}
  %x = loop.buffer in affine_map<() -> (5)> : memref<4xf32>
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  // expected-error @+1 {{shape has 2 sizes for rank 1}}
  %x = loop.buffer in affine_map<() -> (4, 4)> : memref<4xf32>
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  // expected-error @+1 {{symbol s0 is not listed; there are 0 symbols}}
  %x = loop.buffer in affine_map<()[s0] -> (s0)> : memref<?xf32>
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  // expected-error @+1 {{map affine_map<(d0) -> (d0)> has 1 dims for 2 iterators}}
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0) -> (d0)>] outside [unit] {
  ^bb0(%0: f32):
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  // expected-error @+1 {{map affine_map<(d0, d1) -> (d0, d1)> has 2 results for 'memref<4xf32>'}}
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d0, d1)>] outside [unit] {
  ^bb0(%0: f32):
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  // expected-error @+1 {{block argument is 'f64' for 'memref<4xf32>'}}
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f64):
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  // expected-error @+1 {{outside is "zero", expected unit or a number}}
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside ["zero"] {
  ^bb0(%0: f32):
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  // expected-error @+1 {{iterator kind "any" is not one of parallel, reduction, sequential}}
  loop.nest ["any"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  // expected-error @+1 {{has 1 reads, 0 maps, 0 outside values and 1 block arguments}}
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [] outside [] {
  ^bb0(%0: f32):
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{there is no such iterator}}
    %1 = loop.iter 2 : i64
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{symbol s0 is not listed; there are 0 symbols}}
    %1 = loop.size affine_map<()[s0] -> (s0)> : i64
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %1 = loop.iter 0 : i64
    // expected-error @+1 {{has 2 indices and gives 'f32' from 'memref<4xf32>'}}
    %2 = loop.load %x[%1, %1] : memref<4xf32> -> f32
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %1 = loop.iter 0 : i64
    // expected-error @+1 {{has 1 indices and gives 'f64' from 'memref<4xf32>'}}
    %2 = loop.load %x[%1] : memref<4xf32> -> f64
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{result #0 must be number or boolean, but got 'index'}}
    %1 = loop.constant 1 : index
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{attribute 'kind' failed to satisfy constraint: elementwise function of one operand}}
    %1 = "loop.unary"(%0) {kind = 77 : i32} : (f32) -> f32
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %1 = loop.iter 0 : i64
    // expected-error @+1 {{failed to verify that all of {lhs, rhs, result} have same type}}
    %2 = "loop.binary"(%0, %1) {kind = 0 : i32} : (f32, i64) -> f32
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %1 = loop.iter 0 : i64
    // expected-error @+1 {{requires all operands to have the same type}}
    %2 = "loop.compare"(%0, %1) {kind = 0 : i32} : (f32, i64) -> i1
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{result #0 must be number or boolean, but got 'vector<4xf32>'}}
    %1 = loop.cast %0 : f32 -> vector<4xf32>
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %c = loop.iter 0 : i64
    // expected-error @+1 {{arith.ceildivsi on i64 is no scalar operation of the loop level}}
    %1 = arith.ceildivsi %c, %c : i64
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %1 = loop.iter 0 : i64
    // expected-error @+1 {{stores 'i64' to 'memref<4xf32>'}}
    loop.store %1 to %y at affine_map<(d0, d1) -> (d0)> : i64, memref<4xf32>
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{map affine_map<(d0) -> (d0)> has 1 dims for 2 iterators}}
    loop.store %0 to %y at affine_map<(d0) -> (d0)> : f32, memref<4xf32>
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    %1 = loop.iter 0 : i64
    // expected-error @+1 {{has 2 indices for 'memref<4xf32>'}}
    loop.store_at %0 to %y[%1, %1] : f32, memref<4xf32>
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{map affine_map<(d0, d1) -> (d1)> uses reduction iterator d1}}
    loop.reduce sum %0 to %y at affine_map<(d0, d1) -> (d1)> : f32, memref<4xf32>
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{`fma` takes two values, the others one}}
    loop.reduce fma %0 to %y at affine_map<(d0, d1) -> (d0)> : f32, memref<4xf32>
  }
}

// -----

loop.kernel @k sizes 0 of [] over ["parallel"] affine_map<() -> (4)> {
  %x = loop.buffer in affine_map<() -> (4)> : memref<4xf32>
  %y = loop.buffer out affine_map<() -> (4)> : memref<4xf32>
  loop.nest ["reduction"] affine_map<() -> (4)> reads %x : memref<4xf32>
      at [affine_map<(d0, d1) -> (d1)>] outside [unit] {
  ^bb0(%0: f32):
    // expected-error @+1 {{gives an index as i64, found 'memref<4xf32>'}}
    loop.reduce arg_max %0 to %y at affine_map<(d0, d1) -> (d0)> : f32, memref<4xf32>
  }
}

// -----

// expected-error @+1 {{found func.func, expected loop.kernel}}
func.func @f() {
  return
}

// -----

func.func @f(%v: f32, %m: memref<f32>) {
  // expected-error @+1 {{belongs into a nest}}
  loop.store %v to %m at affine_map<() -> ()> : f32, memref<f32>
  return
}
