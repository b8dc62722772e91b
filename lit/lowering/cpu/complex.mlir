// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers are computed as vectors of their parts: what lies side by side in memory is taken apart and joined by shuffles. Rows end
// within a vector; sums of both parts stay apart; numbers that are only moved are integers of 64 bits.
// RUN: xla-run %s --verify --quiet --cache-dir=off
// RUN: xla-run %s --entry=wide --verify --quiet --cache-dir=off
// RUN: xla-compile %s --target=sapphirerapids --emit=llvm --cache-dir=off -o - | FileCheck %s
// CHECK-DAG: shufflevector <16 x float>
// CHECK-DAG: call <16 x float> @llvm.sqrt.v16f32
// CHECK-DAG: llvm.x86.avx512.mask.scalef.ps.512
// CHECK-NOT: call{{.*}} @cexpf
func.func @main(%a: tensor<7x37xcomplex<f32>>, %b: tensor<7x37xcomplex<f32>>, %c: tensor<37xcomplex<f32>>, %p: tensor<7x37xi1>)
    -> (tensor<7x37xcomplex<f32>>, tensor<7x37xf32>, tensor<7x37xcomplex<f32>>, tensor<7xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<7x37xcomplex<f32>>, tensor<37x7xcomplex<f32>>, tensor<9x40xcomplex<f32>>, tensor<7x37xcomplex<f32>>, tensor<7x37xcomplex<f32>>) {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %product = stablehlo.multiply %a, %b : tensor<7x37xcomplex<f32>>
  %rows = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<37xcomplex<f32>>) -> tensor<7x37xcomplex<f32>>
  %sum = stablehlo.add %product, %rows : tensor<7x37xcomplex<f32>>
  %abs = stablehlo.abs %sum : (tensor<7x37xcomplex<f32>>) -> tensor<7x37xf32>
  %exp = stablehlo.exponential %a : tensor<7x37xcomplex<f32>>
  %log = stablehlo.log %a : tensor<7x37xcomplex<f32>>
  %alongRows = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<7x37xcomplex<f32>>, tensor<complex<f32>>) -> tensor<7xcomplex<f32>>
  %alongColumns = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<7x37xcomplex<f32>>, tensor<complex<f32>>) -> tensor<37xcomplex<f32>>
  %quotient = stablehlo.divide %a, %b : tensor<7x37xcomplex<f32>>
  %moved = stablehlo.transpose %b, dims = [1, 0] : (tensor<7x37xcomplex<f32>>) -> tensor<37x7xcomplex<f32>>
  %edge = stablehlo.constant dense<(1.5, -2.0)> : tensor<complex<f32>>
  %padded = stablehlo.pad %b, %edge, low = [1, 2], high = [1, 1], interior = [0, 0] : (tensor<7x37xcomplex<f32>>, tensor<complex<f32>>) -> tensor<9x40xcomplex<f32>>
  %chosen = stablehlo.select %p, %a, %b : tensor<7x37xi1>, tensor<7x37xcomplex<f32>>
  return %sum, %abs, %exp, %alongRows, %alongColumns, %quotient, %moved, %padded, %chosen, %log : tensor<7x37xcomplex<f32>>, tensor<7x37xf32>, tensor<7x37xcomplex<f32>>, tensor<7xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<7x37xcomplex<f32>>, tensor<37x7xcomplex<f32>>, tensor<9x40xcomplex<f32>>, tensor<7x37xcomplex<f32>>, tensor<7x37xcomplex<f32>>
}

// Numbers of two f64, and a product of matrices beside them.
func.func @wide(%a: tensor<19x33xcomplex<f64>>, %b: tensor<33x21xcomplex<f64>>) -> (tensor<19x21xcomplex<f64>>, tensor<19x33xf64>, tensor<19x33xcomplex<f64>>, tensor<33x19xcomplex<f64>>) {
  %dot = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<19x33xcomplex<f64>>, tensor<33x21xcomplex<f64>>) -> tensor<19x21xcomplex<f64>>
  %abs = stablehlo.abs %a : (tensor<19x33xcomplex<f64>>) -> tensor<19x33xf64>
  %exp = stablehlo.exponential %a : tensor<19x33xcomplex<f64>>
  %moved = stablehlo.transpose %a, dims = [1, 0] : (tensor<19x33xcomplex<f64>>) -> tensor<33x19xcomplex<f64>>
  return %dot, %abs, %exp, %moved : tensor<19x21xcomplex<f64>>, tensor<19x33xf64>, tensor<19x33xcomplex<f64>>, tensor<33x19xcomplex<f64>>
}
