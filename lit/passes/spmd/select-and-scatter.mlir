// The gradient of a max pooling whose rows are split: neighbours exchange borders, nothing is gathered. From a whole program, in which the start
// value is a sdy.constant while shardings propagate.
// RUN: xla-compile %s --emit=partitioned | FileCheck %s
// RUN: xla-run %s --num-devices=4 --verify

// CHECK-NOT: stablehlo.all_gather
// CHECK: stablehlo.collective_permute
// CHECK: stablehlo.select_and_scatter
// CHECK-NOT: stablehlo.all_gather
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["rows"=4]>
  func.func @main(%image: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>},
                  %gradient: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>})
      -> (tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%image, %gradient, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %chosen = stablehlo.compare GE, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %chosen : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>}
        : (tensor<16x6xf32>, tensor<8x6xf32>, tensor<f32>) -> tensor<16x6xf32>
    return %0 : tensor<16x6xf32>
  }
}
