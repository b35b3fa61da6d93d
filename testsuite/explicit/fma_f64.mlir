// any cpu: without the instruction, fma of f64 is emulated to the same bits.
func.func @fma_scalar(%x: memref<?xf64> {neap.noalias}, %y: memref<?xf64> {neap.noalias}, %z: memref<?xf64> {neap.noalias}, %o: memref<?xf64> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 4 : i64, dims = 0 : i64}} {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = memref.load %y[%i] : memref<?xf64>
    %c = memref.load %z[%i] : memref<?xf64>
    %r = math.fma %a, %b, %c : f64
    memref.store %r, %o[%i] : memref<?xf64>
  }
  return
}

// Numbers of every size: sums of far apart terms, overflow and underflow.
func.func @fma_any_bits(%x: memref<?xi64> {neap.noalias}, %y: memref<?xi64> {neap.noalias}, %z: memref<?xi64> {neap.noalias}, %o: memref<?xf64> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 4 : i64, dims = 0 : i64}} {
  %c8 = arith.constant 8 : index
  scf.for %i = %begin to %end step %c8 {
    %ai = vector.load %x[%i] : memref<?xi64>, vector<8xi64>
    %bi = vector.load %y[%i] : memref<?xi64>, vector<8xi64>
    %ci = vector.load %z[%i] : memref<?xi64>, vector<8xi64>
    %a = arith.bitcast %ai : vector<8xi64> to vector<8xf64>
    %b = arith.bitcast %bi : vector<8xi64> to vector<8xf64>
    %c = arith.bitcast %ci : vector<8xi64> to vector<8xf64>
    %r = math.fma %a, %b, %c : vector<8xf64>
    vector.store %r, %o[%i] : memref<?xf64>, vector<8xf64>
  }
  return
}

// Exponents near 0: the error of a product, and sums with bits at every distance.
func.func @fma_cancels(%x: memref<?xi64> {neap.noalias}, %y: memref<?xi64> {neap.noalias}, %o: memref<?xf64> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 3 : i64, dims = 0 : i64}} {
  %c8 = arith.constant 8 : index
  %digits = arith.constant dense<0x83ffffffffffffff> : vector<8xi64>
  %one = arith.constant dense<0x3c00000000000000> : vector<8xi64>
  scf.for %i = %begin to %end step %c8 {
    %ai = vector.load %x[%i] : memref<?xi64>, vector<8xi64>
    %bi = vector.load %y[%i] : memref<?xi64>, vector<8xi64>
    %aj = arith.andi %ai, %digits : vector<8xi64>
    %bj = arith.andi %bi, %digits : vector<8xi64>
    %ak = arith.ori %aj, %one : vector<8xi64>
    %bk = arith.ori %bj, %one : vector<8xi64>
    %a = arith.bitcast %ak : vector<8xi64> to vector<8xf64>
    %b = arith.bitcast %bk : vector<8xi64> to vector<8xf64>
    %p = arith.mulf %a, %b : vector<8xf64>
    %n = arith.negf %p : vector<8xf64>
    %e = math.fma %a, %b, %n : vector<8xf64>
    %f = math.fma %a, %b, %a : vector<8xf64>
    %g = math.fma %f, %e, %b : vector<8xf64>
    vector.store %g, %o[%i] : memref<?xf64>, vector<8xf64>
  }
  return
}

// Products of 2^-1054 to 2^-1022: results are subnormal, exact halves between two among them.
func.func @fma_subnormal(%x: memref<?xi64> {neap.noalias}, %y: memref<?xi64> {neap.noalias}, %z: memref<?xi64> {neap.noalias}, %o: memref<?xf64> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 4 : i64, dims = 0 : i64}} {
  %c8 = arith.constant 8 : index
  %digits = arith.constant dense<0x80fffffff0000000> : vector<8xi64>
  %small = arith.constant dense<0x1f00000000000000> : vector<8xi64>
  %few = arith.constant dense<0x801fffffffffffff> : vector<8xi64>
  scf.for %i = %begin to %end step %c8 {
    %ai = vector.load %x[%i] : memref<?xi64>, vector<8xi64>
    %bi = vector.load %y[%i] : memref<?xi64>, vector<8xi64>
    %ci = vector.load %z[%i] : memref<?xi64>, vector<8xi64>
    %aj = arith.andi %ai, %digits : vector<8xi64>
    %bj = arith.andi %bi, %digits : vector<8xi64>
    %ck = arith.andi %ci, %few : vector<8xi64>
    %ak = arith.ori %aj, %small : vector<8xi64>
    %bk = arith.ori %bj, %small : vector<8xi64>
    %a = arith.bitcast %ak : vector<8xi64> to vector<8xf64>
    %b = arith.bitcast %bk : vector<8xi64> to vector<8xf64>
    %c = arith.bitcast %ck : vector<8xi64> to vector<8xf64>
    %r = math.fma %a, %b, %c : vector<8xf64>
    vector.store %r, %o[%i] : memref<?xf64>, vector<8xf64>
  }
  return
}
