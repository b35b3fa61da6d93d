// For each operator what its shape rule refuses.

func.func @unary_not_on_f32(%x: tensor<2xf32>) -> tensor<2xi1> {
  // expected-error @+1 {{operand of not is f32[2], expected elements of type bool}}
  %0 = graph.unary not %x : tensor<2xf32> -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

func.func @binary_result(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{result 0 is f32[3], expected f32[2]: dim 0 is 3, expected 2}}
  %0 = graph.binary add %x, %x : tensor<2xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @compare(%x: tensor<2xf32>) -> tensor<3xi1> {
  // expected-error @+1 {{result 0 is bool[3], expected bool[2]: dim 0 is 3, expected 2}}
  %0 = graph.compare lt %x, %x : tensor<2xf32> -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// -----

func.func @select(%c: tensor<3xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{operands f32[2] and bool[3] differ in dim 0: 2 against 3}}
  %0 = graph.select %c, %x, %x : tensor<3xi1>, tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @cast(%x: tensor<2xf32>) -> tensor<3xi64> {
  // expected-error @+1 {{result is i64[3], expected i64[2]: dim 0 is 3, expected 2}}
  %0 = graph.cast %x : tensor<2xf32> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

func.func @broadcast(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{cannot broadcast f32[2] to f32[3]: dim 0 is 2, expected 1 or 3}}
  %0 = graph.broadcast %x : tensor<2xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) -> tensor<7xf32> {
  // expected-error @+1 {{cannot reshape f32[2, 3] to f32[7]: 6 elements against 7}}
  %0 = graph.reshape %x : tensor<2x3xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{[1, 1] is not a permutation of the dims of f32[2, 3]}}
  %0 = graph.transpose %x, [1, 1] : tensor<2x3xf32> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @slice(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{reads element 4 of dim 0 of f32[4]}}
  %0 = graph.slice %x from [2] step [1] : tensor<4xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{operand 1 is f32[2, 4]: dim 1 is 4, expected 3}}
  %0 = graph.concat %x, %y axis 0 : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{result 0 is f32[4], expected f32[5]: dim 0 is 4, expected 5}}
  %0 = graph.pad constant %x, %p low [1] high [0] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @resize(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  // expected-error @+1 {{attribute scales has 2 entries, expected 4}}
  %0 = graph.resize nearest half_pixel floor %x scales [1.0, 2.0] {cubic_a = -0.75 : f64} : tensor<1x1x2x2xf32> -> tensor<1x1x4x4xf32>
  return %0 : tensor<1x1x4x4xf32>
}

// -----

func.func @matmul(%x: tensor<4x8xf32>, %y: tensor<7x5xf32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{cannot multiply f32[4, 8] by f32[7, 5]: dim 1 of the left is 8, dim 0 of the right is 7}}
  %0 = graph.matmul %x, %y t false false : tensor<4x8xf32>, tensor<7x5xf32> -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @conv(%x: tensor<1x3x9x9xf32>, %f: tensor<6x4x3x3xf32>) -> tensor<1x6x7x7xf32> {
  // expected-error @+1 {{input is f32[1, 3, 9, 9]: dim 1 is 3, expected 4 (1 groups of filter f32[6, 4, 3, 3])}}
  %0 = graph.conv %x, %f strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x3x9x9xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x7x7xf32>
  return %0 : tensor<1x6x7x7xf32>
}

// -----

func.func @conv_transpose(%x: tensor<1x3x9x9xf32>, %f: tensor<4x6x3x3xf32>) -> tensor<1x6x11x11xf32> {
  // expected-error @+1 {{filter is f32[4, 6, 3, 3]: dim 0 is 4, expected 3}}
  %0 = graph.conv_transpose %x, %f strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x3x9x9xf32>, tensor<4x6x3x3xf32> -> tensor<1x6x11x11xf32>
  return %0 : tensor<1x6x11x11xf32>
}

// -----

func.func @pool(%x: tensor<1x3x9x9xf32>) -> tensor<1x3x4x4xf32> {
  // expected-error @+1 {{strides [0, 2] contain 0, expected at least 1}}
  %0 = graph.pool max %x kernel [3, 3] strides [0, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<1x3x9x9xf32> -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}

// -----

func.func @reduce(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{axis 2 is not a dim of f32[4, 8], expected 0 to 1}}
  %0 = graph.reduce sum %x axes [2] keep false : tensor<4x8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @arg_reduce(%x: tensor<4x8xf32>) -> tensor<4x1xi32> {
  // expected-error @+1 {{result 0 is i32[4, 1], expected elements of type i64}}
  %0 = graph.arg_reduce max %x axis 1 last false : tensor<4x8xf32> -> tensor<4x1xi32>
  return %0 : tensor<4x1xi32>
}

// -----

func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{axis 2 is not a dim of f32[4, 8], expected 0 to 1}}
  %0 = graph.softmax %x axis 2 log false : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @layer_norm(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{result 0 is f32[4, 1], expected f32[4, 8]: dim 1 is 1, expected 8}}
  %0 = graph.layer_norm %x axis 1 eps 1.0e-5 rms false : tensor<4x8xf32> -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

func.func @cumsum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{axis -3 is not a dim of f32[4, 8], expected 0 to 1}}
  %0 = graph.cumsum %x axis -3 exclusive false reverse false : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @top_k(%x: tensor<4x8xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{asks for 9 elements of dim 1 of f32[4, 8]}}
  %0:2 = graph.top_k %x axis 1 largest true : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi64>
  return %0#0 : tensor<4x9xf32>
}

// -----

func.func @gather(%x: tensor<4x8xf32>, %i: tensor<3xi64>) -> tensor<4x8xf32> {
  // expected-error @+1 {{result 0 is f32[4, 8], expected f32[3, 8]: dim 0 is 4, expected 3}}
  %0 = graph.gather %x[%i] axis 0 : tensor<4x8xf32>, tensor<3xi64> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @gather_elements(%x: tensor<4x8xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  // expected-error @+1 {{indices is i64[3], expected rank 2}}
  %0 = graph.gather_elements %x[%i] axis 0 : tensor<4x8xf32>, tensor<3xi64> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @gather_nd(%x: tensor<4x8xf32>, %i: tensor<5x3xi64>) -> tensor<5xf32> {
  // expected-error @+1 {{the rows of indices i64[5, 3] address 3 dims, more than f32[4, 8] has}}
  %0 = graph.gather_nd %x[%i] batch 0 : tensor<4x8xf32>, tensor<5x3xi64> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @scatter_elements(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{updates is f32[3], expected f32[2]: dim 0 is 3, expected 2}}
  %0 = graph.scatter_elements assign %x[%i] with %u axis 0 : tensor<4xf32>, tensor<2xi64>, tensor<3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @scatter_nd(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{updates is f32[3], expected f32[2]: dim 0 is 3, expected 2}}
  %0 = graph.scatter_nd assign %x[%i] with %u : tensor<4xf32>, tensor<2x1xi64>, tensor<3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @iota(%s: tensor<2xi64>) -> tensor<6xi64> {
  // expected-error @+1 {{start is i64[2], expected rank 0}}
  %0 = graph.iota %s step %s axis 0 : tensor<2xi64> -> tensor<6xi64>
  return %0 : tensor<6xi64>
}

// -----

func.func @lstm(%g: tensor<7x2x16xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>) -> tensor<7x2x4xf32> {
  // expected-error @+1 {{recurrent is f32[12, 4]: dim 0 is 12, expected 16}}
  %0:3 = graph.lstm %g, %r, %h, %h reverse false : (tensor<7x2x16xf32>, tensor<12x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %0#0 : tensor<7x2x4xf32>
}

// -----

func.func @gru(%g: tensor<7x2x12xf32>, %r: tensor<12x4xf32>, %b: tensor<5xf32>, %h: tensor<2x4xf32>) -> tensor<7x2x4xf32> {
  // expected-error @+1 {{recurrent_bias is f32[5]: dim 0 is 5, expected 4}}
  %0:2 = graph.gru %g, %r, %b, %h linear true reverse true : (tensor<7x2x12xf32>, tensor<12x4xf32>, tensor<5xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>)
  return %0#0 : tensor<7x2x4xf32>
}

// -----

func.func @fusion(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{argument 0 of the region is f32[3], expected f32[2]: dim 0 is 3, expected 2}}
  %0 = graph.fusion "map" %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<3xf32>):
    %k = graph.slice %a from [0] step [1] : tensor<3xf32> -> tensor<2xf32>
    graph.yield %k : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @constant() -> tensor<3xf32> {
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "graph.constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @weight() -> tensor<3xf32> {
  // expected-error @+1 {{requires attribute 'hash'}}
  %0 = "graph.weight"() {key = "w"} : () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @yield(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has 1 results and a region with 2}}
  %0 = graph.fusion "map" %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %a, %a : tensor<2xf32>, tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @yield_outside(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{found graph.yield, expected an operator of the graph dialect}}
  graph.yield %x : tensor<2xf32>
}
