// Nested loops with vectors, masks, scalars and buffers carried; an if with results.
func.func @nested(%x: memref<?xf32> {neap.noalias}, %y: memref<?xf32> {neap.noalias}, %n: index, %m: index, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 2 : i64, dims = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %on = arith.constant dense<true> : vector<8xi1>
  %tmp = memref.view %scratch[%c4096][%c32] : memref<?xi8> to memref<?xf32>
  scf.for %i = %begin to %end step %c32 {
    %sum, %last, %k = scf.for %j = %c0 to %m step %c1 iter_args(%acc = %zero, %mask = %on, %k = %c0) -> (vector<8xf32>, vector<8xi1>, index) {
      %at = arith.addi %i, %j : index
      %v = vector.load %x[%at] : memref<?xf32>, vector<8xf32>
      %pos = arith.cmpf ogt, %v, %zero : vector<8xf32>
      %both = arith.andi %pos, %mask : vector<8xi1>
      %kept = arith.select %both, %v, %acc : vector<8xi1>, vector<8xf32>
      %next = math.fma %kept, %v, %acc : vector<8xf32>
      %k1 = arith.addi %k, %at : index
      %flip = arith.xori %both, %on : vector<8xi1>
      scf.yield %next, %flip, %k1 : vector<8xf32>, vector<8xi1>, index
    }
    %r = arith.select %last, %sum, %zero : vector<8xi1>, vector<8xf32>
    vector.store %r, %tmp[%c0] : memref<?xf32>, vector<8xf32>
    %odd = arith.remui %k, %n : index
    %is = arith.cmpi ugt, %odd, %c1 : index
    %s, %q = scf.if %is -> (vector<8xf32>, f32) {
      %v = vector.load %tmp[%c0] : memref<?xf32>, vector<8xf32>
      %w = arith.mulf %v, %v : vector<8xf32>
      %e = vector.extract %w[3] : f32 from vector<8xf32>
      scf.yield %w, %e : vector<8xf32>, f32
    } else {
      %e = arith.constant 1.25 : f32
      scf.yield %r, %e : vector<8xf32>, f32
    }
    %none = arith.cmpi eq, %odd, %c0 : index
    scf.if %none {
      memref.store %q, %y[%i] : memref<?xf32>
    }
    %after = arith.addi %i, %c1 : index
    vector.store %s, %y[%after] : memref<?xf32>, vector<8xf32>
  }
  return
}
