// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types that the specification forbids are errors where they stand, also where no operation of StableHLO has them.
// RUN: xla-opt %s -verify-diagnostics -split-input-file
// RUN: xla-opt %s -xla-verify-types=only-known=true -verify-diagnostics -split-input-file
// What runs programs refuses them as well.
// RUN: echo 'func.func @main(%%x: tensor<2x!quant.uniform<i8:f32, 0.5:300>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:300>> { return %%x : tensor<2x!quant.uniform<i8:f32, 0.5:300>> }' > %t.mlir
// RUN: not xla-run %t.mlir 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not xla-run --backend=interpreter %t.mlir 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not xla-translate --interpret %t.mlir 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not xla-compile %t.mlir -o %t.mr 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: expects a zero point in [-128, 127], but got 300, in type 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01:300>>' of argument 0 of @main

// expected-error@+1 {{expects a zero point in [-128, 127], but got 300, in type 'tensor<4x!quant.uniform<i8:f32, 5.000000e-01:300>>' of argument 0 of @zero_point}}
func.func @zero_point(%x: tensor<4x!quant.uniform<i8:f32, 0.5:300>>) {
  return
}

// -----

// expected-error@+1 {{expects a zero point in [-10, 10], but got 11}}
func.func @zero_point_of_range(%x: tensor<4x!quant.uniform<i8<-10:10>:f32, 0.5:11>>) {
  return
}

// -----

// expected-error@+1 {{expects a zero point in [0, 15], but got -1}}
func.func @zero_point_per_axis(%x: tensor<2x!quant.uniform<u4:f32:0, {0.5, 0.25:-1}>>) {
  return
}

// -----

// expected-error@+1 {{expects a quantization axis below the rank 2, but got 7}}
func.func @axis(%x: tensor<2x2x!quant.uniform<i8:f32:7, {0.5, 0.25}>>) {
  return
}

// -----

// expected-error@+1 {{expects a scale for each of the 4 positions of dimension 0, but got 2}}
func.func @scales(%x: tensor<4x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  return
}

// -----

// The size of a dynamic dimension is not known.
func.func @dynamic_axis(%x: tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  return
}

// -----

// expected-error@+1 {{expects a storage type of 2, 4, 8, 16 or 32 bits, but got i5}}
func.func @storage(%x: tensor<4x!quant.uniform<i5:f32, 0.5>>) {
  return
}

// -----

// expected-error@+1 {{expects an expressed type of StableHLO's floats, but got f80}}
func.func @expressed(%x: tensor<4x!quant.uniform<i8:f80, 0.5>>) {
  return
}

// -----

// expected-error@+1 {{expects a zero point in [-128, 127], but got 128, in type 'tuple<tensor<f32>, tuple<tensor<4x!quant.uniform<i8:f32, 5.000000e-01:128>>>>' of argument 1 of @nested}}
func.func @nested(%x: tensor<f32>, %y: tuple<tensor<f32>, tuple<tensor<4x!quant.uniform<i8:f32, 0.5:128>>>>) {
  return
}

// -----

// expected-error@+1 {{but got 128, in type '!stablehlo.future<tensor<4x!quant.uniform<i8:f32, 5.000000e-01:128>>>' of argument 0 of @future}}
func.func @future(%x: !stablehlo.future<tensor<4x!quant.uniform<i8:f32, 0.5:128>>>) {
  return
}

// -----

// expected-error@+1 {{future element type must be a ranked tensor, but got 'i32'}}
func.func private @future_of_a_number() -> !stablehlo.future<tensor<f32>, i32>

// -----

// expected-error@+1 {{future element type must be a ranked tensor, but got 'tensor<*xf32>'}}
func.func private @future_without_a_rank() -> !stablehlo.future<tensor<*xf32>>

// -----

// expected-error@+1 {{of result 0 of @declared}}
func.func private @declared() -> tensor<4x!quant.uniform<i8:f32, 0.5:128>>

// -----

func.func @call(%x: tensor<4xi8>) {
  // expected-error@+1 {{of result 0 of 'builtin.unrealized_conversion_cast'}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xi8> to tensor<4x!quant.uniform<i8:f32, 0.5:128>>
  return
}

// -----

// Operations say which operand, in the words of other StableHLO verifiers.
func.func @operand(%x: tensor<4xi8>) {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xi8> to tensor<4x!quant.uniform<i8:f32, 0.5:128>>
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %1 = stablehlo.abs %0 : tensor<4x!quant.uniform<i8:f32, 0.5:128>>
  return
}

// -----

func.func @result(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<2x4x!quant.uniform<i8:f32:1, {5.000000e-01}>>'}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:1, {0.5}>>
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{result #0 must be statically shaped tensor of}}
  %0 = stablehlo.constant() <{value = dense<1> : tensor<4xi8>}> : () -> tensor<4x!quant.uniform<i8:f32:1, {0.5}>>
  return
}

// -----

// expected-error@+1 {{scale}}
func.func @no_scale(%x: tensor<4x!quant.uniform<i8:f32, 0.0>>) {
  return
}

// -----

// expected-error@+1 {{scale}}
func.func @negative_scale(%x: tensor<4x!quant.uniform<i8:f32, -1.0>>) {
  return
}

// -----

// expected-error@+1 {{scale}}
func.func @scale_of_expressed(%x: tensor<4x!quant.uniform<i8:f16, 1.0e6>>) {
  return
}
