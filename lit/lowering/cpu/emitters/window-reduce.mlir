// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows along the last dimension: rows first, then neighbours in scratch. Other windows are a row kernel's, and sums that start
// from a number or reducers of two operations are left to the generic path.
// RUN: xla-opt %s -xla-emit-kernels='target=avx2 emitter=window' -xla-lower-to-linalg -xla-emit-kernels=target=avx2 | FileCheck %s

// CHECK-LABEL: func.func private @greatest_range
// CHECK-SAME: millrace.emitter = "window_reduce", millrace.range_end = 10
// CHECK: vector.load {{.*}} : memref<1080xf32>, vector<8xf32>
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// Every second element of two vectors.
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14] : vector<8xf32>, vector<8xf32>
// CHECK: vector.store {{.*}} : memref<200xf32>, vector<8xf32>
func.func private @greatest(%x: tensor<2x12x45xf32>) -> tensor<2x5x20xf32> attributes {millrace.kernel} {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %least) <{window_dimensions = array<i64: 1, 3, 6>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x12x45xf32>, tensor<f32>) -> tensor<2x5x20xf32>
  return %0 : tensor<2x5x20xf32>
}

// CHECK-LABEL: func.func private @channels_range
// CHECK-SAME: millrace.emitter = "row"
func.func private @channels(%x: tensor<2x12x16xf32>) -> tensor<2x4x16xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x12x16xf32>, tensor<f32>) -> tensor<2x4x16xf32>
  return %0 : tensor<2x4x16xf32>
}

// CHECK-NOT: millrace.emitter = "window_reduce"
func.func private @from_one(%x: tensor<12x45xf32>) -> tensor<12x22xf32> attributes {millrace.kernel} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<12x45xf32>, tensor<f32>) -> tensor<12x22xf32>
  return %0 : tensor<12x22xf32>
}

// The digits of sums of f64 and f32 are those of the specification's order: rows one after the other, of each its elements. Rows that no window
// reaches out of are read where they are.
// CHECK-LABEL: func.func private @average_in_f64_range
// CHECK-SAME: millrace.emitter = "window_reduce", millrace.range_end = 11
// CHECK-NOT: memref.view
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
// CHECK: vector.load {{.*}} : memref<540xf64>, vector<4xf64>
// CHECK: arith.addf {{.*}} : vector<4xf64>
// CHECK-LABEL: func.func private @average_with_border_range
// CHECK-SAME: millrace.emitter = "window_reduce", millrace.range_end = 12 : i64, millrace.scratch_bytes = 960
// CHECK: scf.for
// CHECK: vector.store {{.*}}, %[[ROWS:.*]][{{.*}}] : memref<{{.*}}xf32>, vector<8xf32>
// CHECK: iter_args(
// CHECK: vector.load %[[ROWS]]
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-LABEL: func.func private @line_in_f64_range
// CHECK-SAME: millrace.emitter = "window_reduce"
func.func private @average_in_f64(%x: tensor<12x45xf64>) -> tensor<11x44xf64> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<12x45xf64>, tensor<f64>) -> tensor<11x44xf64>
  return %0 : tensor<11x44xf64>
}

func.func private @average_with_border(%x: tensor<12x45xf32>) -> tensor<12x45xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<1> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<12x45xf32>, tensor<f32>) -> tensor<12x45xf32>
  return %0 : tensor<12x45xf32>
}

func.func private @line_in_f64(%x: tensor<12x45xf64>) -> tensor<12x44xf64> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<12x45xf64>, tensor<f64>) -> tensor<12x44xf64>
  return %0 : tensor<12x44xf64>
}

// Elements that lie apart: whole vectors of channels, of the elements that a window holds.
// CHECK-LABEL: func.func private @spread_range
// CHECK-SAME: millrace.emitter = "window_reduce", millrace.range_end = 16
// CHECK: scf.for
// CHECK: vector.load {{.*}} : memref<640xf32>, vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.maskedstore {{.*}} : memref<2560xf32>, vector<8xi1>, vector<8xf32>
func.func private @spread(%x: tensor<2x4x4x20xf32>) -> tensor<2x8x8x20xf32> attributes {millrace.kernel} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{base_dilations = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [1, 2], [1, 2], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x4x4x20xf32>, tensor<f32>) -> tensor<2x8x8x20xf32>
  return %0 : tensor<2x8x8x20xf32>
}
