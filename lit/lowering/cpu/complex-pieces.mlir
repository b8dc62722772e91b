// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of complex tensors side by side, as a spectrum is shifted: every concatenation reads its parts where they lie.
// RUN: xla-run %s --verify --seed=2 --quiet --cache-dir=off
// RUN: xla-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: call @concatenate
// CHECK-NOT: call @
// CHECK: return
func.func @main(%x: tensor<31x43xcomplex<f32>>, %y: tensor<5x70xcomplex<f64>>, %z: tensor<5x7xcomplex<f64>>) -> (tensor<31x43xcomplex<f32>>, tensor<5x47xcomplex<f64>>, tensor<101xcomplex<f32>>) {
  %0 = stablehlo.slice %x [16:31, 0:43] : (tensor<31x43xcomplex<f32>>) -> tensor<15x43xcomplex<f32>>
  %1 = stablehlo.slice %x [0:16, 0:43] : (tensor<31x43xcomplex<f32>>) -> tensor<16x43xcomplex<f32>>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<15x43xcomplex<f32>>, tensor<16x43xcomplex<f32>>) -> tensor<31x43xcomplex<f32>>
  %3 = stablehlo.slice %2 [0:31, 22:43] : (tensor<31x43xcomplex<f32>>) -> tensor<31x21xcomplex<f32>>
  %4 = stablehlo.slice %2 [0:31, 0:22] : (tensor<31x43xcomplex<f32>>) -> tensor<31x22xcomplex<f32>>
  %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<31x21xcomplex<f32>>, tensor<31x22xcomplex<f32>>) -> tensor<31x43xcomplex<f32>>
  %6 = stablehlo.slice %y [0:5, 1:70:2] : (tensor<5x70xcomplex<f64>>) -> tensor<5x35xcomplex<f64>>
  %7 = stablehlo.slice %y [0:5, 3:8] : (tensor<5x70xcomplex<f64>>) -> tensor<5x5xcomplex<f64>>
  %8 = stablehlo.concatenate %6, %z, %7, dim = 1 : (tensor<5x35xcomplex<f64>>, tensor<5x7xcomplex<f64>>, tensor<5x5xcomplex<f64>>) -> tensor<5x47xcomplex<f64>>
  %9 = stablehlo.reshape %x : (tensor<31x43xcomplex<f32>>) -> tensor<1333xcomplex<f32>>
  %10 = stablehlo.slice %9 [1232:1333] : (tensor<1333xcomplex<f32>>) -> tensor<101xcomplex<f32>>
  %11 = stablehlo.slice %10 [50:101] : (tensor<101xcomplex<f32>>) -> tensor<51xcomplex<f32>>
  %12 = stablehlo.slice %10 [0:50] : (tensor<101xcomplex<f32>>) -> tensor<50xcomplex<f32>>
  %13 = stablehlo.concatenate %11, %12, dim = 0 : (tensor<51xcomplex<f32>>, tensor<50xcomplex<f32>>) -> tensor<101xcomplex<f32>>
  return %5, %8, %13 : tensor<31x43xcomplex<f32>>, tensor<5x47xcomplex<f64>>, tensor<101xcomplex<f32>>
}
