// Masks, masked memory, and everything that moves lanes.
func.func @masked_tail(%x: memref<?xf32> {neap.noalias}, %y: memref<?xf32> {neap.noalias}, %n: index, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 2 : i64, dims = 1 : i64}} {
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %through = arith.constant dense<7.0> : vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %rest = arith.subi %n, %i : index
    %mask = vector.create_mask %rest : vector<16xi1>
    %v = vector.maskedload %x[%i], %mask, %through : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %w = arith.addf %v, %through : vector<16xf32>
    vector.maskedstore %y[%i], %mask, %w : memref<?xf32>, vector<16xi1>, vector<16xf32>
    %after = arith.addi %i, %c16 : index
    vector.store %v, %y[%after] : memref<?xf32>, vector<16xf32>
  }
  return
}

func.func @masked_bytes(%x: memref<?xi8> {neap.noalias}, %k: memref<?xi8> {neap.noalias}, %y: memref<?xi8> {neap.noalias}, %z: memref<?xi64> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 4 : i64, dims = 0 : i64}} {
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : vector<16xi8>
  %ones = arith.constant dense<1> : vector<16xi64>
  scf.for %i = %begin to %end step %c16 {
    %b = vector.load %k[%i] : memref<?xi8>, vector<16xi8>
    %mask = arith.cmpi sgt, %b, %zero : vector<16xi8>
    %v = vector.maskedload %x[%i], %mask, %b : memref<?xi8>, vector<16xi1>, vector<16xi8> into vector<16xi8>
    vector.store %v, %y[%i] : memref<?xi8>, vector<16xi8>
    vector.maskedstore %z[%i], %mask, %ones : memref<?xi64>, vector<16xi1>, vector<16xi64>
  }
  return
}

func.func @lanes(%x: memref<?xf32> {neap.noalias}, %y: memref<?xf32> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 2 : i64, dims = 0 : i64}} {
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %c3 = arith.constant 3 : index
  %c13 = arith.constant 13 : index
  scf.for %i = %begin to %end step %c64 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %i1 = arith.addi %i, %c16 : index
    %w = vector.load %x[%i1] : memref<?xf32>, vector<16xf32>
    %reverse = vector.shuffle %v, %w [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : vector<16xf32>, vector<16xf32>
    %zip = vector.shuffle %v, %w [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xf32>, vector<16xf32>
    %mixed = vector.shuffle %v, %w [0, 5, 10, 31, 16, 4, 8, 12, 1, 1, 1, 1, 20, 21, 22, 23] : vector<16xf32>, vector<16xf32>
    %high = vector.shuffle %v, %v [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>, vector<16xf32>
    %low = vector.shuffle %v, %v [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>, vector<16xf32>
    %h8 = arith.addf %high, %low : vector<8xf32>
    %h4a = vector.shuffle %h8, %h8 [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
    %h4b = vector.shuffle %h8, %h8 [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
    %h4 = arith.addf %h4a, %h4b : vector<4xf32>
    %h2a = vector.shuffle %h4, %h4 [2, 3] : vector<4xf32>, vector<4xf32>
    %h2b = vector.shuffle %h4, %h4 [0, 1] : vector<4xf32>, vector<4xf32>
    %h2 = arith.addf %h2a, %h2b : vector<2xf32>
    %e0 = vector.extract %h2[0] : f32 from vector<2xf32>
    %e1 = vector.extract %h2[1] : f32 from vector<2xf32>
    %total = arith.addf %e0, %e1 : f32
    %splat = vector.broadcast %total : f32 to vector<16xf32>
    %s1 = arith.addf %reverse, %zip : vector<16xf32>
    %s2 = arith.subf %s1, %mixed : vector<16xf32>
    %ins = vector.insert %total, %s2 [5] : f32 into vector<16xf32>
    %dyn = vector.insert %e0, %ins [%c13] : f32 into vector<16xf32>
    %got = vector.extract %dyn[%c3] : f32 from vector<16xf32>
    %four = vector.from_elements %got, %e1, %total, %e0 : vector<4xf32>
    vector.store %dyn, %y[%i] : memref<?xf32>, vector<16xf32>
    %i2 = arith.addi %i1, %c16 : index
    vector.store %splat, %y[%i1] : memref<?xf32>, vector<16xf32>
    vector.store %four, %y[%i2] : memref<?xf32>, vector<4xf32>
    %i3 = arith.addi %i2, %c3 : index
    %i4 = arith.addi %i3, %c3 : index
    vector.store %h2, %y[%i4] : memref<?xf32>, vector<2xf32>
  }
  return
}

func.func @mask_lanes(%x: memref<?xi32> {neap.noalias}, %y: memref<?xi8> {neap.noalias}, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 2 : i64, dims = 0 : i64}} {
  %c16 = arith.constant 16 : index
  %c7 = arith.constant 7 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0> : vector<16xi32>
  %step = vector.step : vector<16xindex>
  %half = vector.constant_mask [8] : vector<16xi1>
  %listed = arith.constant dense<[true, false, false, true, true, true, false, true, false, false, false, true, true, false, true, false]> : vector<16xi1>
  %numbers = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]> : vector<16xi32>
  scf.for %i = %begin to %end step %c16 {
    %v = vector.load %x[%i] : memref<?xi32>, vector<16xi32>
    %a = arith.addi %v, %numbers : vector<16xi32>
    %neg = arith.cmpi slt, %a, %zero : vector<16xi32>
    %m = arith.xori %neg, %listed : vector<16xi1>
    %rot = vector.shuffle %m, %half [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 23, 24] : vector<16xi1>, vector<16xi1>
    %bit = vector.extract %rot[2] : i1 from vector<16xi1>
    %bitd = vector.extract %rot[%c7] : i1 from vector<16xi1>
    %p = arith.andi %bit, %bitd : i1
    %ins = vector.insert %p, %rot [9] : i1 into vector<16xi1>
    %insd = vector.insert %bit, %ins [%c2] : i1 into vector<16xi1>
    %all = vector.broadcast %bitd : i1 to vector<16xi1>
    %odd0 = vector.broadcast %i : index to vector<16xindex>
    %odd1 = arith.addi %odd0, %step : vector<16xindex>
    %odd3 = arith.constant dense<5> : vector<16xindex>
    %odd2 = arith.remui %odd1, %odd3 : vector<16xindex>
    %odd = arith.cmpi eq, %odd2, %step : vector<16xindex>
    %o1 = arith.ori %insd, %odd : vector<16xi1>
    %o2 = arith.andi %o1, %all : vector<16xi1>
    %cnt = arith.index_cast %i : index to i32
    %sel = arith.select %o2, %insd, %odd : vector<16xi1>, vector<16xi1>
    %out = arith.extui %sel : vector<16xi1> to vector<16xi8>
    vector.store %out, %y[%i] : memref<?xi8>, vector<16xi8>
  }
  return
}

func.func @far_offsets(%x: memref<?xi64> {neap.noalias}, %y: memref<?xi16> {neap.noalias}, %n: index, %m: index, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {neap.kernel = {buffers = 2 : i64, dims = 2 : i64}} {
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %back = arith.constant -30 : index
  %far = arith.constant 4000000000 : index
  %near = arith.constant -4000000000 : index
  scf.for %i = %begin to %end step %c1 {
    %a = arith.addi %i, %c30 : index
    %b = arith.addi %c30, %a : index
    %c = arith.addi %b, %back : index
    %d = arith.addi %c, %far : index
    %e = arith.addi %near, %d : index
    %v = memref.load %x[%e] : memref<?xi64>
    %w = memref.load %x[%b] : memref<?xi64>
    %u = arith.xori %v, %w : i64
    %t = arith.trunci %u : i64 to i16
    memref.store %t, %y[%a] : memref<?xi16>
  }
  return
}
