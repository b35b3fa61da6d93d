// Traits and types that ODS checks, and encodings that have no meaning.

func.func @mixed(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{requires all operands to have the same type}}
  %0 = "graph.binary"(%x, %y) {kind = 0 : i32} : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @scalar(%x: f32) -> tensor<f32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of numbers or booleans}}
  %0 = "graph.unary"(%x) {kind = 0 : i32} : (f32) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @missing(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{requires attribute 'kind'}}
  %0 = "graph.unary"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @no_case(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{attribute 'kind' failed to satisfy constraint}}
  %0 = "graph.unary"(%x) {kind = 99 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @softmax(%x: tensor<2xi32>) -> tensor<2xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point values}}
  %0 = graph.softmax %x axis 0 log false : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// expected-error @+1 {{dim 0 has no symbol}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{symbol s1 is not listed; there are 1 symbols}}
func.func @unlisted(%x: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) attributes {graph.symbols = ["n"]} {
  return
}

// -----

// expected-error @+1 {{symbols: expected an array}}
func.func @symbols(%x: tensor<2xf32>) attributes {graph.symbols = 3 : i64} {
  return
}

// -----

func.func @foreign(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{found arith.addf, expected an operator of the graph dialect}}
  %0 = arith.addf %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @undefined() -> tensor<2xf32> {
  // expected-error @+1 {{use of undeclared SSA value name}}
  return %0 : tensor<2xf32>
}
