// Regions become computations; several results come out of a tuple.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
// CHECK: region.1 {
// CHECK-NEXT: Arg_0.2 = f32[] parameter(0)
// CHECK-NEXT: Arg_1.2 = f32[] parameter(1)
// CHECK-NEXT: ROOT add.1 = f32[] add(Arg_0.2, Arg_1.2)
// CHECK-NEXT: {{^[}]}}
// CHECK: ENTRY main.1 {
// CHECK: ROOT reduce.1 = f32[2]{0} reduce(Arg_0.1, Arg_1.1), dimensions={1}, to_apply=region.1
func.func @main(%x: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// CHECK: ROOT tuple.1 = (f32[], s32[]) tuple(
// CHECK: reduce.1 = (f32[2]{0}, s32[2]{0}) reduce(Arg_0.1, Arg_1.1, Arg_2.1, Arg_3.1), dimensions={1}, to_apply=region.1
// CHECK: get-tuple-element.1 = f32[2]{0} get-tuple-element(reduce.1), index=0
// CHECK: get-tuple-element.2 = s32[2]{0} get-tuple-element(reduce.1), index=1
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%c: tensor<f32>, %d: tensor<f32>) (%e: tensor<i32>, %f: tensor<i32>) {
    stablehlo.return %c, %f : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----
// A constant from outside is repeated inside, since a computation sees its parameters only.
// CHECK: region.1 {
// CHECK: [[TWO:constant.[0-9]]] = f32[] constant(2)
// CHECK: multiply.1 = f32[] multiply(Arg_0.2, [[TWO]])
func.func @main(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<f32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.multiply %a, %two : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----
// CHECK: convert.1 = f64[3]{0} convert(Arg_0.1)
// CHECK: ROOT reduce.1 = f64[] reduce(convert.1, Arg_1.1)
func.func @main(%x: tensor<3xf32>, %z: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<3xf32>, tensor<f64>) -> tensor<f64>
   reducer(%a: tensor<f64>, %b: tensor<f64>) {
    stablehlo.return %a : tensor<f64>
  }
  return %0 : tensor<f64>
}

// -----
func.func @main(%x: tensor<4x2xf32>, %z: tensor<f32>, %src: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<3x1xf32>, tensor<4x2xf32>) {
  // CHECK: reduce-window.1 = f32[2,2]{1,0} reduce-window(Arg_0.1, Arg_1.1), window={size=2x1 stride=4x1 pad=2_1x0_0}, to_apply=region.1
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  // CHECK: reduce-window.2 = (f32[3,1]{1,0}, f32[3,1]{1,0}) reduce-window(Arg_0.1, Arg_0.1, Arg_1.1, Arg_1.1), window={size=2x1 pad=0_0x-1_-1 lhs_dilate=1x2 rhs_dilate=1x2}, to_apply=region.2
  %1:2 = "stablehlo.reduce_window"(%x, %x, %z, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 1, 1>, window_dilations = array<i64: 1, 2>, base_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [-1, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.add %a, %a1 : tensor<f32>
    stablehlo.return %c, %c : tensor<f32>, tensor<f32>
  }) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x1xf32>, tensor<3x1xf32>)
  // CHECK: select-and-scatter.1 = f32[4,2]{1,0} select-and-scatter(Arg_0.1, Arg_2.1, Arg_1.1), window={size=2x1 stride=2x1}, select=region.3, scatter=region.4
  %2 = "stablehlo.select_and_scatter"(%x, %src, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %0, %1#0, %2 : tensor<2x2xf32>, tensor<3x1xf32>, tensor<4x2xf32>
}

// -----
func.func @main(%x: tensor<4x2xf32>, %k: tensor<4x2xi32>) -> (tensor<4x2xf32>, tensor<4x2xi32>, tensor<4x2xf32>) {
  // CHECK: sort.1 = f32[4,2]{1,0} sort(Arg_0.1), dimensions={0}, is_stable=true, to_apply=region.1
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: sort.2 = (f32[4,2]{1,0}, s32[4,2]{1,0}) sort(sort.1, Arg_1.1), dimensions={1}, to_apply=region.2
  %1:2 = "stablehlo.sort"(%0, %k) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<i32>, %e: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x2xf32>, tensor<4x2xi32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // CHECK: map.1 = f32[4,2]{1,0} map(Arg_0.1), dimensions={0,1}, to_apply=region.3
  %2 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %c = stablehlo.negate %a : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %1#0, %1#1, %2 : tensor<4x2xf32>, tensor<4x2xi32>, tensor<4x2xf32>
}

// -----
// CHECK: batch-norm-training.1 = (f32[4,2]{1,0}, f32[2]{0}, f32[2]{0}) batch-norm-training(Arg_0.1, Arg_1.1, Arg_1.1), epsilon=0.001, feature_index=1
// CHECK: batch-norm-inference.1 = f32[4,2]{1,0} batch-norm-inference(Arg_0.1, Arg_1.1, Arg_1.1, Arg_1.1, Arg_1.1), epsilon=0.001, feature_index=1
// CHECK: batch-norm-grad.1 = (f32[4,2]{1,0}, f32[2]{0}, f32[2]{0}) batch-norm-grad(Arg_0.1, Arg_1.1, Arg_1.1, Arg_1.1, Arg_0.1), epsilon=0.001, feature_index=1
func.func @main(%x: tensor<4x2xf32>, %g: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %g, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %1 = "stablehlo.batch_norm_inference"(%x, %g, %g, %g, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2:3 = "stablehlo.batch_norm_grad"(%x, %g, %g, %g, %x) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0#0, %1, %2#0 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
