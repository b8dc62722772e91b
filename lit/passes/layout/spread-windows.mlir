// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows pass over what a padding puts between elements.
// RUN: xla-opt %s -xla-spread-windows | FileCheck %s
// RUN: xla-opt %s -xla-spread-windows --remarks-filter-missed=xla-spread-windows -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// CHECK-LABEL: @gradient
// CHECK-NOT: stablehlo.pad
// CHECK: "stablehlo.reduce_window"(%arg0, {{.*}}) <{base_dilations = array<i64: 1, 2, 2, 1>, padding = dense<{{\[\[}}0, 0], [1, 2], [2, 2], [0, 0]]>
func.func @gradient(%g: tensor<2x4x4x32xf32>) -> tensor<2x8x9x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.pad %g, %zero, low = [0, 1, 1, 0], high = [0, 2, 2, 0], interior = [0, 1, 1, 0] : (tensor<2x4x4x32xf32>, tensor<f32>) -> tensor<2x10x10x32xf32>
  %0 = "stablehlo.reduce_window"(%wide, %zero) <{padding = dense<[[0, 0], [0, 0], [1, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x10x10x32xf32>, tensor<f32>) -> tensor<2x8x9x32xf32>
  return %0 : tensor<2x8x9x32xf32>
}

// Ones between elements count; a window along the last dimension; a border alone, which a kernel can read in place.
// CHECK-LABEL: @stays
// CHECK-COUNT-3: stablehlo.pad
// CHECK-NOT: base_dilations
func.func @stays(%g: tensor<4x32xf32>) -> (tensor<5x32xf32>, tensor<7x61xf32>, tensor<4x32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.pad %g, %one, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<4x32xf32>, tensor<f32>) -> tensor<7x32xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce_window stays: what is put between elements is not what the reduction begins with"
  %0 = "stablehlo.reduce_window"(%ones, %zero) <{window_dimensions = array<i64: 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<7x32xf32>, tensor<f32>) -> tensor<5x32xf32>
  %columns = stablehlo.pad %g, %zero, low = [0, 0], high = [0, 0], interior = [1, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<7x63xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce_window stays: too few elements follow each other in memory for a vector"
  %1 = "stablehlo.reduce_window"(%columns, %zero) <{window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<7x63xf32>, tensor<f32>) -> tensor<7x61xf32>
  %border = stablehlo.pad %g, %zero, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<4x32xf32>, tensor<f32>) -> tensor<6x32xf32>
  %2 = "stablehlo.reduce_window"(%border, %zero) <{window_dimensions = array<i64: 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<6x32xf32>, tensor<f32>) -> tensor<4x32xf32>
  return %0, %1, %2 : tensor<5x32xf32>, tensor<7x61xf32>, tensor<4x32xf32>
}

// The padding cuts off an element, at whose place the window's own padding puts a zero.
// CHECK-LABEL: @cut
// CHECK: stablehlo.pad
// CHECK-NOT: base_dilations
func.func @cut(%g: tensor<4x32xf32>) -> tensor<8x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %g, %zero, low = [-1, 0], high = [2, 0], interior = [1, 0] : (tensor<4x32xf32>, tensor<f32>) -> tensor<8x32xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce_window stays: one padding cuts off what the other one adds"
  %1 = "stablehlo.reduce_window"(%0, %zero) <{padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8x32xf32>, tensor<f32>) -> tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
