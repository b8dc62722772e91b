// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-spmd-partition -split-input-file | FileCheck %s

// Elements are quantized where they are; five rows on two devices are filled up.
// CHECK-LABEL: @elementwise
// CHECK: stablehlo.uniform_quantize {{.*}} -> tensor<3x6x!quant.uniform
// CHECK: stablehlo.uniform_dequantize {{.*}} -> tensor<3x6xf32>
// CHECK-NOT: all_gather
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @elementwise(%x: tensor<5x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<5x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    %q = stablehlo.uniform_quantize %x : (tensor<5x6xf32>) -> tensor<5x6x!quant.uniform<i8:f32, 0.1:3>>
    %d = stablehlo.uniform_dequantize %q : (tensor<5x6x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<5x6xf32>
    return %d : tensor<5x6xf32>
  }
}

// -----

// A quantized value that is brought to tiles of uneven size gets filled up with a number of its storage type.
// CHECK-LABEL: @filled
// CHECK: stablehlo.pad {{.*}}!quant.uniform<i8:f32, {{.*}}>>, tensor<!quant.uniform
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @filled(%x: tensor<5xf32>) -> (tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %q = stablehlo.uniform_quantize %x : (tensor<5xf32>) -> tensor<5x!quant.uniform<i8:f32, 0.1:3>>
    %s = sdy.sharding_constraint %q <@mesh, [{"a"}]> : tensor<5x!quant.uniform<i8:f32, 0.1:3>>
    %d = stablehlo.uniform_dequantize %s : (tensor<5x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<5xf32>
    return %d : tensor<5xf32>
  }
}

// -----

// Parts of a sum would be rounded twice, and slices have scales of their own: both stay whole.
// CHECK-LABEL: @whole
// CHECK-NOT: all_reduce
// CHECK: stablehlo.dot_general {{.*}}(tensor<4x8x!quant
// CHECK: stablehlo.uniform_quantize {{.*}} -> tensor<4x2x!quant.uniform<i8:f32:1
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @whole(%x: tensor<4x8x!quant.uniform<i8:f32, 0.1:3>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>},
                   %y: tensor<8x2x!quant.uniform<i8:f32, 0.1:3>> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                   %z: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
      -> (tensor<4x2x!quant.uniform<i8:f32, 0.1:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:0}>>) {
    %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8x!quant.uniform<i8:f32, 0.1:3>>, tensor<8x2x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<4x2x!quant.uniform<i8:f32, 0.1:3>>
    %q = stablehlo.uniform_quantize %z : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:0}>>
    return %r, %q : tensor<4x2x!quant.uniform<i8:f32, 0.1:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:0}>>
  }
}

// -----

// Without elements there is nothing to move.
// CHECK-LABEL: @empty
// CHECK: stablehlo.constant() {{.*}} : () -> tensor<0x4x!quant.uniform
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @empty(%x: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
    %q = stablehlo.uniform_quantize %x : (tensor<0x8xf32>) -> tensor<0x8x!quant.uniform<i8:f32, 0.5:3>>
    %whole = sdy.sharding_constraint %q <@mesh, [{}, {}]> : tensor<0x8x!quant.uniform<i8:f32, 0.5:3>>
    %s = sdy.sharding_constraint %whole <@mesh, [{}, {"a"}]> : tensor<0x8x!quant.uniform<i8:f32, 0.5:3>>
    %d = stablehlo.uniform_dequantize %s : (tensor<0x8x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<0x8xf32>
    return %d : tensor<0x8xf32>
  }
}
