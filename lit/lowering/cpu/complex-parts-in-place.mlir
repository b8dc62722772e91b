// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts side by side as another name for complex numbers: of an argument, of a value that other kernels read, too, of a loop's result.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%a: tensor<40x33xcomplex<f32>>, %b: tensor<40x33xcomplex<f32>>) -> (tensor<40x33x2xf32>, tensor<40x66xf32>, tensor<40x33xf32>, tensor<40x33x2xf32>, tensor<40x33xcomplex<f32>>) {
  %are = stablehlo.real %a : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %aim = stablehlo.imag %a : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %0 = stablehlo.reshape %are : (tensor<40x33xf32>) -> tensor<40x33x1xf32>
  %1 = stablehlo.reshape %aim : (tensor<40x33xf32>) -> tensor<40x33x1xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<40x33x1xf32>, tensor<40x33x1xf32>) -> tensor<40x33x2xf32>
  %p = stablehlo.multiply %a, %b : tensor<40x33xcomplex<f32>>
  %pre = stablehlo.real %p : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %pim = stablehlo.imag %p : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %3 = stablehlo.reshape %pre : (tensor<40x33xf32>) -> tensor<40x33x1xf32>
  %4 = stablehlo.reshape %pim : (tensor<40x33xf32>) -> tensor<40x33x1xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 2 : (tensor<40x33x1xf32>, tensor<40x33x1xf32>) -> tensor<40x33x2xf32>
  %6 = stablehlo.reshape %5 : (tensor<40x33x2xf32>) -> tensor<40x66xf32>
  %7 = stablehlo.abs %p : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %8:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<40x33xcomplex<f32>>
    cond {
      %n = stablehlo.constant dense<100> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %half = stablehlo.constant dense<(0.5, 0.25)> : tensor<40x33xcomplex<f32>>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.multiply %x, %half : tensor<40x33xcomplex<f32>>
      %z = stablehlo.add %y, %b : tensor<40x33xcomplex<f32>>
      stablehlo.return %j, %z : tensor<i32>, tensor<40x33xcomplex<f32>>
    }
  %lre = stablehlo.real %8#1 : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %lim = stablehlo.imag %8#1 : (tensor<40x33xcomplex<f32>>) -> tensor<40x33xf32>
  %9 = stablehlo.reshape %lre : (tensor<40x33xf32>) -> tensor<40x33x1xf32>
  %10 = stablehlo.reshape %lim : (tensor<40x33xf32>) -> tensor<40x33x1xf32>
  %11 = stablehlo.concatenate %9, %10, dim = 2 : (tensor<40x33x1xf32>, tensor<40x33x1xf32>) -> tensor<40x33x2xf32>
  return %2, %6, %7, %11, %8#1 : tensor<40x33x2xf32>, tensor<40x66xf32>, tensor<40x33xf32>, tensor<40x33x2xf32>, tensor<40x33xcomplex<f32>>
}
