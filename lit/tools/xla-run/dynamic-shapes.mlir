// One compilation runs for every size.
// RUN: split-file %s %t
// RUN: %python -c "import numpy as np; np.savez(r'%t/a.npz', np.arange(6, dtype=np.float32).reshape(2, 3)); np.savez(r'%t/b.npz', np.arange(15, dtype=np.float32).reshape(5, 3))"
// RUN: xla-compile %t/elementwise.mlir -o %t/elementwise.mr
// RUN: xla-run %t/elementwise.mr --args=%t/a.npz | FileCheck %s --check-prefix=TWO
// RUN: xla-run %t/elementwise.mr --args=%t/b.npz | FileCheck %s --check-prefix=FIVE
// TWO: dense<[6.000000e+00, 2.400000e+01]> : tensor<2xf32>
// FIVE: dense<[6.000000e+00, 2.400000e+01, 4.200000e+01, 6.000000e+01, 7.800000e+01]> : tensor<5xf32>
// RUN: xla-run %t/reshape.mlir --args=%t/b.npz --cache-dir=off | FileCheck %s --check-prefix=RESHAPE
// RESHAPE: tensor<15xf32>
//--- elementwise.mlir
func.func @main(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %x : tensor<?x3xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
//--- reshape.mlir
func.func @main(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %three = stablehlo.constant dense<3> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %m = stablehlo.multiply %n, %three : tensor<i32>
  %shape = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
