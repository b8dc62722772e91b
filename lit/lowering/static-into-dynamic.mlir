// A branch or a loop's body that makes a value of static shape where one of run-time shape is expected: its size is taken over before the
// value is. The sizes are those of more memory than the argument has.
// RUN: split-file %s %t
// RUN: %python -c "import numpy as np; x = np.ones((3, 4), np.float32); y = np.full((600, 4), 2, np.float32); [np.savez(r'%t/%%s.npz' %% n, x, y, v) for n, v in (('true', np.bool_(True)), ('false', np.bool_(False)), ('two', np.int32(2)), ('none', np.int32(0)))]"
// RUN: xla-run %t/branch.mlir --args=%t/true.npz --cache-dir=off | FileCheck %s --check-prefix=LARGE
// RUN: xla-run %t/branch.mlir --args=%t/false.npz --cache-dir=off | FileCheck %s --check-prefix=SMALL
// RUN: xla-run %t/loop.mlir --args=%t/two.npz --cache-dir=off | FileCheck %s --check-prefix=LARGE
// RUN: xla-run %t/loop.mlir --args=%t/none.npz --cache-dir=off | FileCheck %s --check-prefix=SMALL
// RUN: xla-run %t/joined.mlir --args=%t/true.npz --cache-dir=off | FileCheck %s --check-prefix=LARGE
// RUN: xla-run %t/joined.mlir --args=%t/false.npz --cache-dir=off | FileCheck %s --check-prefix=SMALL
// LARGE: dense<4.800000e+03> : tensor<f32>
// SMALL: dense<1.200000e+01> : tensor<f32>
//--- branch.mlir
func.func @main(%x: tensor<?x4xf32>, %y: tensor<600x4xf32>, %p: tensor<i1>) -> tensor<f32> {
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.abs %y : tensor<600x4xf32>
    stablehlo.return %a : tensor<600x4xf32>
  }, {
    %e = stablehlo.abs %x : tensor<?x4xf32>
    stablehlo.return %e : tensor<?x4xf32>
  }) : (tensor<i1>) -> tensor<?x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
//--- loop.mlir
func.func @main(%x: tensor<?x4xf32>, %y: tensor<600x4xf32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<?x4xf32>
  cond {
    %m = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  } do {
    %q = stablehlo.abs %y : tensor<600x4xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %q : tensor<i32>, tensor<600x4xf32>
  }
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%r#1 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<f32>
  return %t : tensor<f32>
}
//--- joined.mlir
func.func @main(%x: tensor<?x4xf32>, %y: tensor<600x4xf32>, %p: tensor<i1>) -> tensor<f32> {
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.slice %y [0:599, 0:4] : (tensor<600x4xf32>) -> tensor<599x4xf32>
    %b = stablehlo.sqrt %a : tensor<599x4xf32>
    %sq = stablehlo.multiply %b, %b : tensor<599x4xf32>
    %c = stablehlo.slice %y [599:600, 0:4] : (tensor<600x4xf32>) -> tensor<1x4xf32>
    %even = stablehlo.round_nearest_even %sq : tensor<599x4xf32>
    %d = stablehlo.concatenate %even, %c, dim = 0 : (tensor<599x4xf32>, tensor<1x4xf32>) -> tensor<600x4xf32>
    stablehlo.return %d : tensor<600x4xf32>
  }, {
    %e = stablehlo.abs %x : tensor<?x4xf32>
    stablehlo.return %e : tensor<?x4xf32>
  }) : (tensor<i1>) -> tensor<?x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
