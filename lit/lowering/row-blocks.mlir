// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of rows give what the whole gives, as loops whose sums change in place.
// RUN: xla-opt %s -xla-block-rows=min-bytes=262144 -o %t.mlir
// RUN: xla-run %t.mlir --entry=cross_entropy --verify
// RUN: xla-run %t.mlir --entry=sentences --verify
// RUN: xla-run %s --entry=cross_entropy --seed=1 --out=%t.whole.npz --quiet
// RUN: xla-run %t.mlir --entry=cross_entropy --seed=1 --out=%t.blocks.npz --quiet
// RUN: %python -c "import numpy as np; a, b = np.load(r'%t.whole.npz'), np.load(r'%t.blocks.npz'); assert len(a.files) == 3; [np.testing.assert_allclose(b[n], a[n], rtol=1e-5, atol=1e-6) for n in a.files]"
// RUN: xla-compile %t.mlir --entry=cross_entropy --emit=program | FileCheck %s
// The pipeline's own limit is a number of bytes: no size of a cache decides whether there are blocks.
// RUN: xla-compile %s --entry=cross_entropy --target-caches=4K/8,4K/8 --emit=program | FileCheck %s --check-prefix=WHOLE
// CHECK: loop
// WHOLE-NOT: loop

func.func @cross_entropy(%h: tensor<1024x8xf32>, %w: tensor<64x8xf32>, %y: tensor<1024xi32>) -> (tensor<f32>, tensor<1024x8xf32>, tensor<64x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %share = stablehlo.constant dense<9.765625e-04> : tensor<f32>
  %l = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, tensor<64x8xf32>) -> tensor<1024x64xf32>
  %m = stablehlo.reduce(%l init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<1024xf32>) -> tensor<1024x64xf32>
  %c = stablehlo.subtract %l, %mb : tensor<1024x64xf32>
  %e = stablehlo.exponential %c : tensor<1024x64xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  %n = stablehlo.iota dim = 1 : tensor<1024x64xi32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<1024xi32>) -> tensor<1024x64xi32>
  %is = stablehlo.compare EQ, %n, %yb : (tensor<1024x64xi32>, tensor<1024x64xi32>) -> tensor<1024x64xi1>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1024x64xf32>
  %own = stablehlo.select %is, %c, %zeros : tensor<1024x64xi1>, tensor<1024x64xf32>
  %p = stablehlo.reduce(%own init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  %log = stablehlo.log %s : tensor<1024xf32>
  %loss = stablehlo.subtract %log, %p : tensor<1024xf32>
  %sum = stablehlo.reduce(%loss init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1024xf32>) -> tensor<1024x64xf32>
  %q = stablehlo.divide %e, %sb : tensor<1024x64xf32>
  %shares = stablehlo.broadcast_in_dim %share, dims = [] : (tensor<f32>) -> tensor<1024x64xf32>
  %hit = stablehlo.convert %is : (tensor<1024x64xi1>) -> tensor<1024x64xf32>
  %d0 = stablehlo.subtract %q, %hit : tensor<1024x64xf32>
  %d = stablehlo.multiply %d0, %shares : tensor<1024x64xf32>
  %gh = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<1024x64xf32>, tensor<64x8xf32>) -> tensor<1024x8xf32>
  %gw = stablehlo.dot_general %d, %h, contracting_dims = [0] x [0] : (tensor<1024x64xf32>, tensor<1024x8xf32>) -> tensor<64x8xf32>
  return %sum, %gh, %gw : tensor<f32>, tensor<1024x8xf32>, tensor<64x8xf32>
}

func.func @sentences(%h: tensor<2x257x8xbf16>, %w: tensor<1024x8xbf16>, %g: tensor<2x257x8xbf16>) -> (tensor<2x257x8xbf16>, tensor<1024x8xbf16>) {
  %l = stablehlo.dot_general %h, %w, contracting_dims = [2] x [1] : (tensor<2x257x8xbf16>, tensor<1024x8xbf16>) -> tensor<2x257x1024xbf16>
  %t = stablehlo.tanh %l : tensor<2x257x1024xbf16>
  %o = stablehlo.dot_general %t, %w, contracting_dims = [2] x [0] : (tensor<2x257x1024xbf16>, tensor<1024x8xbf16>) -> tensor<2x257x8xbf16>
  %gw = stablehlo.dot_general %t, %g, contracting_dims = [0, 1] x [0, 1] : (tensor<2x257x1024xbf16>, tensor<2x257x8xbf16>) -> tensor<1024x8xbf16>
  return %o, %gw : tensor<2x257x8xbf16>, tensor<1024x8xbf16>
}
