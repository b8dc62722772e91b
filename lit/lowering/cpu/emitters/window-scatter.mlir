// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of max pooling get vector code over channels or over neighbouring windows; other selections do not.
// RUN: xla-opt %s -xla-emit-kernels='target=avx2 emitter=window' | FileCheck %s

// CHECK-LABEL: func.func private @greatest_range
// CHECK-SAME: millrace.emitter = "window_scatter", millrace.range_end = 2
// What is selected, then one store for each element of the result.
// CHECK: arith.cmpf ult, {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<48xi8>, vector<8xi8>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<160xf32>, vector<8xf32>
func.func private @greatest(%x: tensor<2x5x16xf32>, %g: tensor<2x3x16xf32>) -> tensor<2x5x16xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x5x16xf32>, tensor<2x3x16xf32>, tensor<f32>) -> tensor<2x5x16xf32>
  return %0 : tensor<2x5x16xf32>
}

// CHECK-LABEL: func.func private @columns_range
// CHECK-SAME: millrace.emitter = "window_scatter", millrace.range_end = 2
// CHECK: arith.cmpf ult, {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<24xi32>, vector<8xi32>
// CHECK: arith.addf {{.*}} : f32
func.func private @columns(%x: tensor<2x5x40xf32>, %g: tensor<2x3x20xf32>) -> tensor<2x5x40xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 2, 2>, padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x5x40xf32>, tensor<2x3x20xf32>, tensor<f32>) -> tensor<2x5x40xf32>
  return %0 : tensor<2x5x40xf32>
}

// CHECK-NOT: @least_range
func.func private @least(%x: tensor<2x5x16xf32>, %g: tensor<2x3x16xf32>) -> tensor<2x5x16xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x5x16xf32>, tensor<2x3x16xf32>, tensor<f32>) -> tensor<2x5x16xf32>
  return %0 : tensor<2x5x16xf32>
}

// Windows of one element: every element is its own.
// CHECK-LABEL: func.func private @single_range
// CHECK-SAME: millrace.emitter = "window_scatter"
func.func private @single(%x: tensor<4x16xf32>, %g: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// The elements around the operand are never stored: they are one number.
// CHECK-LABEL: func.func private @padded_range
// CHECK-SAME: millrace.emitter = "window_scatter", millrace.range_end = 2
// CHECK: scf.yield {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<160xf32>, vector<8xf32>
func.func private @padded(%x: tensor<2x5x16xf32>, %g: tensor<2x3x16xf32>) -> tensor<2x5x16xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = stablehlo.pad %x, %least, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<2x5x16xf32>, tensor<f32>) -> tensor<2x7x16xf32>
  %0 = "stablehlo.select_and_scatter"(%p, %g, %zero) <{window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x7x16xf32>, tensor<2x3x16xf32>, tensor<f32>) -> tensor<2x7x16xf32>
  %1 = stablehlo.slice %0 [0:2, 1:6, 0:16] : (tensor<2x7x16xf32>) -> tensor<2x5x16xf32>
  return %1 : tensor<2x5x16xf32>
}
