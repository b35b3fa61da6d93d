// RUN: neap-opt %s | FileCheck %s

// Every operator of the graph dialect in its assembly.

// CHECK: func.func @elementwise(%{{.*}}: tensor<2x3xf32> {graph.name = "x"}
// CHECK: %[[E:.*]] = graph.unary exp %{{.*}} : tensor<2x3xf32> -> tensor<2x3xf32>
// CHECK: graph.binary add %[[E]], %{{.*}} : tensor<2x3xf32> -> tensor<2x3xf32>
func.func @elementwise(%x: tensor<2x3xf32> {graph.name = "x"}, %y: tensor<2x3xf32> {graph.name = "y"})
    -> (tensor<2x3xf32> {graph.name = "out"}) {
  %0 = graph.unary exp %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = graph.binary add %0, %y : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = graph.compare lt %1, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  %3 = graph.unary not %2 : tensor<2x3xi1> -> tensor<2x3xi1>
  %4 = graph.binary and %2, %3 : tensor<2x3xi1> -> tensor<2x3xi1>
  %5 = graph.select %4, %0, %1 : tensor<2x3xi1>, tensor<2x3xf32>
  %6 = graph.cast %5 : tensor<2x3xf32> -> tensor<2x3xui8>
  %7 = graph.cast %6 : tensor<2x3xui8> -> tensor<2x3xf32>
  return %7 : tensor<2x3xf32>
}

func.func @shape(%x: tensor<1x3xf32>, %pad: tensor<f32>) -> tensor<2x4xf32> {
  %0 = graph.broadcast %x : tensor<1x3xf32> -> tensor<2x3xf32>
  %1 = graph.reshape %0 : tensor<2x3xf32> -> tensor<3x2xf32>
  %2 = graph.transpose %1, [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %3 = graph.slice %2 from [0, 2] step [1, -1] : tensor<2x3xf32> -> tensor<2x2xf32>
  %4 = graph.concat %3, %0 axis 1 : tensor<2x2xf32>, tensor<2x3xf32> -> tensor<2x5xf32>
  %5 = graph.pad constant %4, %pad low [0, 1] high [0, -2] : tensor<2x5xf32>, tensor<f32> -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

func.func @resize(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x6x6xf32> {
  %0 = graph.resize linear half_pixel round_prefer_floor %x scales [1.0, 1.0, 2.0, 2.0] {cubic_a = -7.500000e-01 : f64}
      : tensor<1x2x3x3xf32> -> tensor<1x2x6x6xf32>
  return %0 : tensor<1x2x6x6xf32>
}

func.func @contract(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %i: tensor<1x3x9x9xf32>, %f: tensor<6x3x3x3xf32>)
    -> (tensor<4x5xf32>, tensor<1x6x4x4xf32>, tensor<1x3x9x9xf32>) {
  %0 = graph.matmul %a, %b t false false : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  %1 = graph.conv %i, %f strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<1x3x9x9xf32>, tensor<6x3x3x3xf32> -> tensor<1x6x9x9xf32>
  %2 = graph.pool max %1 kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x6x9x9xf32> -> tensor<1x6x4x4xf32>
  %3 = graph.conv_transpose %1, %f strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<1x6x9x9xf32>, tensor<6x3x3x3xf32> -> tensor<1x3x9x9xf32>
  return %0, %2, %3 : tensor<4x5xf32>, tensor<1x6x4x4xf32>, tensor<1x3x9x9xf32>
}

func.func @reduce(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xi64>, tensor<4x2xf32>, tensor<4x2xi64>) {
  %0 = graph.softmax %x axis 1 log false : tensor<4x8xf32>
  %1 = graph.layer_norm %0 axis 1 eps 1.000000e-05 rms true : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.cumsum %1 axis 1 exclusive false reverse true : tensor<4x8xf32>
  %3 = graph.reduce sum %2 axes [1] keep true : tensor<4x8xf32> -> tensor<4x1xf32>
  %4 = graph.arg_reduce max %2 axis 1 last false : tensor<4x8xf32> -> tensor<4x1xi64>
  %k, %i = graph.top_k %2 axis 1 largest true : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi64>
  return %3, %4, %k, %i : tensor<4x1xf32>, tensor<4x1xi64>, tensor<4x2xf32>, tensor<4x2xi64>
}

func.func @index(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %e: tensor<4x2xi64>, %u: tensor<4x2xf32>, %n: tensor<5x1xi64>,
                 %v: tensor<5x8xf32>) -> (tensor<3x8xf32>, tensor<4x2xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<6xi64>) {
  %0 = graph.gather %x[%i] axis 0 : tensor<4x8xf32>, tensor<3xi64> -> tensor<3x8xf32>
  %1 = graph.gather_elements %x[%e] axis 1 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2xf32>
  %2 = graph.gather_nd %x[%n] batch 0 : tensor<4x8xf32>, tensor<5x1xi64> -> tensor<5x8xf32>
  %3 = graph.scatter_elements assign %x[%e] with %u axis 1
      : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32> -> tensor<4x8xf32>
  %4 = graph.scatter_nd add %3[%n] with %v : tensor<4x8xf32>, tensor<5x1xi64>, tensor<5x8xf32> -> tensor<4x8xf32>
  %start = graph.constant dense<0> : tensor<i64>
  %step = graph.constant dense<1> : tensor<i64>
  %5 = graph.iota %start step %step axis 0 : tensor<i64> -> tensor<6xi64>
  return %0, %1, %2, %4, %5 : tensor<3x8xf32>, tensor<4x2xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<6xi64>
}

func.func @recurrent(%g4: tensor<7x2x16xf32>, %r4: tensor<16x4xf32>, %g3: tensor<7x2x12xf32>, %r3: tensor<12x4xf32>,
                     %b: tensor<4xf32>, %h: tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<7x2x4xf32>) {
  %a, %h1, %c1 = graph.lstm %g4, %r4, %h, %h reverse false
      : (tensor<7x2x16xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %d, %h2 = graph.gru %g3, %r3, %b, %h linear true reverse true
      : (tensor<7x2x12xf32>, tensor<12x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>)
  return %a, %d : tensor<7x2x4xf32>, tensor<7x2x4xf32>
}

// CHECK: graph.fusion "elementwise"
// CHECK:   graph.yield
func.func @structure(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %w = graph.weight "layer.weight" hash "" : tensor<128x128xf32>
  %c = graph.constant dense<5.000000e-01> : tensor<128x128xf32>
  %0 = graph.fusion "elementwise" %x, %w, %c : (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>, %d: tensor<128x128xf32>):
    %1 = graph.binary mul %a, %b : tensor<128x128xf32> -> tensor<128x128xf32>
    %2 = graph.binary add %1, %d : tensor<128x128xf32> -> tensor<128x128xf32>
    graph.yield %2 : tensor<128x128xf32>
  }
  return %0 : tensor<128x128xf32>
}

// CHECK: func.func @symbolic
// CHECK-SAME: attributes {graph.symbols = ["batch"]}
// CHECK: graph.reshape
func.func @symbolic(%x: tensor<?x3xf32, affine_map<()[s0] -> (s0, 3)>>)
    -> tensor<?xf32, affine_map<()[s0] -> (s0 * 3)>> attributes {graph.symbols = ["batch"]} {
  %0 = graph.reshape %x : tensor<?x3xf32, affine_map<()[s0] -> (s0, 3)>> -> tensor<?xf32, affine_map<()[s0] -> (s0 * 3)>>
  return %0 : tensor<?xf32, affine_map<()[s0] -> (s0 * 3)>>
}
