// Bounded dimensions; the size of a static one is a constant.
// RUN: xla-translate %s --stablehlo-to-hlo-text | FileCheck %s
// CHECK: entry_computation_layout={(f32[<=4,3]{1,0}, s32[], f32[4,3]{1,0}, s32[2]{0})->(s32[], f32[<=4,3]{1,0}, s32[], f32[<=4,<=3]{1,0})}
func.func @main(%x: tensor<?x3xf32, #stablehlo.bounds<4, ?>>, %n: tensor<i32>, %y: tensor<4x3xf32>, %m: tensor<2xi32>) -> (tensor<i32>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<i32>, tensor<?x?xf32, #stablehlo.bounds<4, 3>>) {
  // CHECK: get-dimension-size.1 = s32[] get-dimension-size(Arg_0.1), dimensions={0}
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  // CHECK: set-dimension-size.1 = f32[<=4,3]{1,0} set-dimension-size(Arg_2.1, Arg_1.1), dimensions={0}
  %1 = stablehlo.set_dimension_size %y, %n, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  // CHECK: add.1 = f32[<=4,3]{1,0} add(Arg_0.1, set-dimension-size.1)
  %2 = stablehlo.add %x, %1 : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  // CHECK: constant.1 = s32[] constant(3)
  %3 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  // CHECK: slice.1 = s32[1]{0} slice(Arg_3.1), slice={[0:1]}
  // CHECK: reshape.1 = s32[] reshape(slice.1)
  // CHECK: dynamic-reshape.1 = f32[<=4,<=3]{1,0} dynamic-reshape(Arg_2.1, reshape.1, reshape.2)
  %4 = stablehlo.dynamic_reshape %y, %m : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<?x?xf32, #stablehlo.bounds<4, 3>>
  return %0, %2, %3, %4 : tensor<i32>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<i32>, tensor<?x?xf32, #stablehlo.bounds<4, 3>>
}
