// math.exp at -:5:8 is outside the explicit level: expand the function into arith and math.fma
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  %c = arith.constant 1.0 : f32
  %d = math.exp %c : f32
  return
}
// -----
// use math.fma, which rounds once on every target
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  %c = arith.constant dense<1.0> : vector<4xf32>
  %d = vector.fma %c, %c, %c : vector<4xf32>
  return
}
// -----
// fast-math flags
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  %c = arith.constant 1.0 : f32
  %d = arith.addf %c, %c fastmath<contract> : f32
  return
}
// -----
// memref.alloc
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  %c = memref.alloc() : memref<4xf32>
  return
}
// -----
// scalars are i1, i8, i16, i32, i64, index, f32 or f64
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  %c = arith.constant 1 : i3
  return
}
// -----
// vectors are rank 1
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  %c = arith.constant dense<1.0> : vector<4x4xf32>
  return
}
// -----
// must take 2 memrefs, 0 sizes, begin, end (index) and scratch (memref<?xi8>)
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 2 : i64, dims = 0 : i64}} {
  return
}
// -----
// needs the attribute neap.kernel
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>) {
  return
}
// -----
// must return nothing
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>) -> index
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  return %x : index
}
// -----
// one block a region
func.func @a(%b: memref<?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  cf.br ^next
^next:
  return
}
// -----
// buffers are rank-1 memrefs
func.func @a(%b: memref<?x?xf32>, %x: index, %y: index, %s: memref<?xi8>)
    attributes {neap.kernel = {buffers = 1 : i64, dims = 0 : i64}} {
  return
}
// -----
// custom op 'foo' is unknown
func.func @a() { foo }
