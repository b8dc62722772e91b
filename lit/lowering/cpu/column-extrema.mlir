// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The greatest and least number of each column: NaN of any row, the right one of two zeros (seen by its reciprocal), infinities alone.
// RUN: xla-run %s --verify --quiet --cache-dir=off
// RUN: xla-compile %s --target=sapphirerapids --emit=llvm --cache-dir=off -o - | FileCheck %s
// CHECK-NOT: call {{.*}}@llvm.m{{ax|in}}imum
// CHECK: fcmp ogt <16 x float>
// CHECK-NOT: call {{.*}}@llvm.m{{ax|in}}imum
func.func @main() -> (tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xf64>, tensor<6x40xf64>, tensor<6x40xf64>, tensor<6x40xf64>) {
  %table = stablehlo.constant dense<[[-0.0, 0.0, 1.0, 0xFF800000, -3.0, 0x7F800000], [-0.0, -0.0, 2.0, 0xFF800000, -1.5, 1.0], [-0.0, 0.0, 0x7FC00000, 0xFF800000, -1.0e-40, -0.0], [-0.0, -0.0, -5.0, 0xFF800000, -7.0, 0x7F800000], [-0.0, -0.0, 0x7F800000, 0xFF800000, -2.0, 0xFFC00000], [-0.0, -0.0, 4.0, 0xFF800000, -9.0, 3.0], [-0.0, -0.0, 4.0, 0xFF800000, -9.0, 3.0]]> : tensor<7x6xf32>
  %held = stablehlo.optimization_barrier %table : tensor<7x6xf32>
  %x_f32 = stablehlo.broadcast_in_dim %held, dims = [0, 1] : (tensor<7x6xf32>) -> tensor<7x6x40xf32>
  %y_f32 = stablehlo.optimization_barrier %x_f32 : tensor<7x6x40xf32>
  %one_f32 = stablehlo.constant dense<1.0> : tensor<6x40xf32>
  %init_max_f32 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max_f32 = stablehlo.reduce(%y_f32 init: %init_max_f32) applies stablehlo.maximum across dimensions = [0] : (tensor<7x6x40xf32>, tensor<f32>) -> tensor<6x40xf32>
  %sign_max_f32 = stablehlo.divide %one_f32, %max_f32 : tensor<6x40xf32>
  %init_min_f32 = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %min_f32 = stablehlo.reduce(%y_f32 init: %init_min_f32) applies stablehlo.minimum across dimensions = [0] : (tensor<7x6x40xf32>, tensor<f32>) -> tensor<6x40xf32>
  %sign_min_f32 = stablehlo.divide %one_f32, %min_f32 : tensor<6x40xf32>
  %held_bf16 = stablehlo.convert %held : (tensor<7x6xf32>) -> tensor<7x6xbf16>
  %x_bf16 = stablehlo.broadcast_in_dim %held_bf16, dims = [0, 1] : (tensor<7x6xbf16>) -> tensor<7x6x40xbf16>
  %y_bf16 = stablehlo.optimization_barrier %x_bf16 : tensor<7x6x40xbf16>
  %one_bf16 = stablehlo.constant dense<1.0> : tensor<6x40xbf16>
  %init_max_bf16 = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %max_bf16 = stablehlo.reduce(%y_bf16 init: %init_max_bf16) applies stablehlo.maximum across dimensions = [0] : (tensor<7x6x40xbf16>, tensor<bf16>) -> tensor<6x40xbf16>
  %sign_max_bf16 = stablehlo.divide %one_bf16, %max_bf16 : tensor<6x40xbf16>
  %init_min_bf16 = stablehlo.constant dense<0x7F80> : tensor<bf16>
  %min_bf16 = stablehlo.reduce(%y_bf16 init: %init_min_bf16) applies stablehlo.minimum across dimensions = [0] : (tensor<7x6x40xbf16>, tensor<bf16>) -> tensor<6x40xbf16>
  %sign_min_bf16 = stablehlo.divide %one_bf16, %min_bf16 : tensor<6x40xbf16>
  %held_f64 = stablehlo.convert %held : (tensor<7x6xf32>) -> tensor<7x6xf64>
  %x_f64 = stablehlo.broadcast_in_dim %held_f64, dims = [0, 1] : (tensor<7x6xf64>) -> tensor<7x6x40xf64>
  %y_f64 = stablehlo.optimization_barrier %x_f64 : tensor<7x6x40xf64>
  %one_f64 = stablehlo.constant dense<1.0> : tensor<6x40xf64>
  %init_max_f64 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %max_f64 = stablehlo.reduce(%y_f64 init: %init_max_f64) applies stablehlo.maximum across dimensions = [0] : (tensor<7x6x40xf64>, tensor<f64>) -> tensor<6x40xf64>
  %sign_max_f64 = stablehlo.divide %one_f64, %max_f64 : tensor<6x40xf64>
  %init_min_f64 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
  %min_f64 = stablehlo.reduce(%y_f64 init: %init_min_f64) applies stablehlo.minimum across dimensions = [0] : (tensor<7x6x40xf64>, tensor<f64>) -> tensor<6x40xf64>
  %sign_min_f64 = stablehlo.divide %one_f64, %min_f64 : tensor<6x40xf64>
  return %max_f32, %sign_max_f32, %min_f32, %sign_min_f32, %max_bf16, %sign_max_bf16, %min_bf16, %sign_min_bf16, %max_f64, %sign_max_f64, %min_f64, %sign_min_f64 : tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xbf16>, tensor<6x40xf64>, tensor<6x40xf64>, tensor<6x40xf64>, tensor<6x40xf64>
}
