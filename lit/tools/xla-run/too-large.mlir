// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor that no memory can hold is an error that names its type and its bytes, at the operation that makes it. Bytes
// that 64 bits cannot count are found before anything computes with them (these wrap to 0 and to a number without
// meaning); a tensor that is never in memory may have any size that can be counted.
// RUN: split-file %s %t
// RUN: not xla-run %t/held.mlir 2>&1 | FileCheck %t/held.mlir
// RUN: not xla-run %t/wraps-to-0.mlir 2>&1 | FileCheck %t/wraps-to-0.mlir
// RUN: not xla-run %t/wraps.mlir 2>&1 | FileCheck %t/wraps.mlir
// RUN: not xla-run %t/argument.mlir 2>&1 | FileCheck %t/argument.mlir
// RUN: xla-run %t/empty.mlir | FileCheck %t/empty.mlir
// RUN: xla-run %t/never-held.mlir | FileCheck %t/never-held.mlir

//--- held.mlir
// CHECK: held.mlir:4:8: error: a tensor of type 'tensor<10000000x10000000xf32>' takes 400000000000000 bytes, which is more than the 70368744177664 bytes that a value in memory can have
func.func @main() -> tensor<10000000x10000000xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<10000000x10000000xf32>
  return %0 : tensor<10000000x10000000xf32>
}

//--- wraps-to-0.mlir
// CHECK: wraps-to-0.mlir:3:8: error: a tensor of type 'tensor<4294967296x4294967296xf32>' takes 2^63 bytes or more
func.func @main() -> tensor<4294967296x4294967296xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4294967296x4294967296xf32>
  return %0 : tensor<4294967296x4294967296xf32>
}

//--- wraps.mlir
// CHECK: wraps.mlir:3:8: error: a tensor of type 'tensor<10000000000x10000000000xf32>' takes 2^63 bytes or more
func.func @main() -> tensor<f32> {
  %0 = stablehlo.iota dim = 0 : tensor<10000000000x10000000000xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<10000000000x10000000000xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

//--- argument.mlir
// CHECK: argument.mlir:2:17: error: a tensor of type 'tensor<4294967296x4294967297xi8>' takes 2^63 bytes or more
func.func @main(%x: tensor<4294967296x4294967297xi8>) -> tensor<i8> {
  %0 = stablehlo.slice %x [0:1, 0:1] : (tensor<4294967296x4294967297xi8>) -> tensor<1x1xi8>
  %1 = stablehlo.reshape %0 : (tensor<1x1xi8>) -> tensor<i8>
  return %1 : tensor<i8>
}

//--- empty.mlir
// CHECK: dense<> : tensor<10000000000x0x10000000000xf32>
func.func @main() -> tensor<10000000000x0x10000000000xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<10000000000x0x10000000000xf32>
  return %0 : tensor<10000000000x0x10000000000xf32>
}

//--- never-held.mlir
// CHECK: dense<7.000000e+00> : tensor<2xf32>
func.func @main() -> tensor<2xf32> {
  %c = stablehlo.constant dense<7.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<10000000x10000000xf32>
  %1 = stablehlo.slice %0 [5:6, 3:5] : (tensor<10000000x10000000xf32>) -> tensor<1x2xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
