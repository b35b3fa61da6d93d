// any cpu: without the instruction, fma is emulated to the same bits.
func.func @fma_scalar(%x: memref<?xf32> {neap.noalias}, %y: memref<?xf32> {neap.noalias}, %z: memref<?xf32> {neap.noalias}, %o: memref<?xf32> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 4 : i64, dims = 0 : i64}} {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %c = memref.load %z[%i] : memref<?xf32>
    %r = math.fma %a, %b, %c : f32
    memref.store %r, %o[%i] : memref<?xf32>
  }
  return
}

func.func @fma_cancels(%x: memref<?xi32> {neap.noalias}, %y: memref<?xi32> {neap.noalias}, %o: memref<?xf32> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 3 : i64, dims = 0 : i64}} {
  %c8 = arith.constant 8 : index
  scf.for %i = %begin to %end step %c8 {
    %ai = vector.load %x[%i] : memref<?xi32>, vector<8xi32>
    %bi = vector.load %y[%i] : memref<?xi32>, vector<8xi32>
    %a = arith.bitcast %ai : vector<8xi32> to vector<8xf32>
    %b = arith.bitcast %bi : vector<8xi32> to vector<8xf32>
    %p = arith.mulf %a, %b : vector<8xf32>
    %n = arith.negf %p : vector<8xf32>
    %e = math.fma %a, %b, %n : vector<8xf32>
    %f = math.fma %a, %b, %a : vector<8xf32>
    %g = math.fma %f, %e, %b : vector<8xf32>
    vector.store %g, %o[%i] : memref<?xf32>, vector<8xf32>
  }
  return
}

func.func @dot(%x: memref<?xf32> {neap.noalias}, %y: memref<?xf32> {neap.noalias}, %o: memref<?xf32> {neap.noalias}, %n: index, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 3 : i64, dims = 1 : i64}} {
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %i = %begin to %end step %c16 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> vector<16xf32> {
      %at = arith.addi %i, %k : index
      %s = memref.load %x[%at] : memref<?xf32>
      %a = vector.broadcast %s : f32 to vector<16xf32>
      %b = vector.load %y[%at] : memref<?xf32>, vector<16xf32>
      %next = math.fma %a, %b, %acc : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    %m = math.roundeven %sum : vector<16xf32>
    %d = arith.subf %sum, %m : vector<16xf32>
    %r = arith.maximumf %d, %zero : vector<16xf32>
    vector.store %r, %o[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}
