// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The partitioner as single passes: what four devices compute on their parts is what one computes on the whole.
// RUN: rm -rf %t && split-file %s %t
// RUN: xla-opt %t/parts.mlir -sdy-insert-explicit-reshards=enable-full-version=true -sdy-resolve-permutation-factors='enable-halo-exchange=true replica-count=1 partition-count=1' -sdy-reshard-to-collectives -sdy-pad-for-divisibility -sdy-resolve-single-device-sharding='replica-count=1 partition-count=1' -sdy-convert-global-to-local='replica-count=1 partition-count=1' -sdy-inline-meshes -sdy-drop-sharding-and-mesh -o %t/local.mlir
// RUN: xla-opt %t/parts.mlir -sdy-inline-meshes -sdy-drop-sharding-and-mesh -o %t/one.mlir
// RUN: sed '1d; /^}/,$d' %t/local.mlir > %t/all.mlir
// RUN: sed '1d; /^}/,$d; s/@parts_/@whole_/' %t/one.mlir >> %t/all.mlir
// RUN: cat %t/main.mlir >> %t/all.mlir && xla-translate --interpret %t/all.mlir

//--- parts.mlir
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @two = <[], device_ids=[2]>

// 3 rows in 2 parts, a sum of 5 in 2 parts, and a result of 7 in 2.
func.func @parts_product(%a: tensor<4x6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<5x7xi32>) -> tensor<3x7xi32> {
  %0 = stablehlo.slice %a [0:3, 1:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<4x6xi32>) -> tensor<3x5xi32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<3x5xi32>, tensor<5x7xi32>) -> tensor<3x7xi32>
  %2 = stablehlo.abs %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y", "x"}]>]>} : tensor<3x7xi32>
  return %2 : tensor<3x7xi32>
}

// The greatest of 5 in 4 parts, what is shifted by one, and what is looked up past the end of 3 in 2 parts.
func.func @parts_moved(%a: tensor<8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %at: tensor<2x1xi32>) -> tensor<2xi32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.pad %a, %one, low = [1, 0], high = [-4, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<8x3xi32>, tensor<i32>) -> tensor<5x3xi32>
  %1 = stablehlo.reduce(%0 init: %one) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<5x3xi32>, tensor<i32>) -> tensor<3xi32>
  %2 = "stablehlo.gather"(%1, %at) {dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<3xi32>, tensor<2x1xi32>) -> tensor<2xi32>
  return %2 : tensor<2xi32>
}

// What device 2 makes of its number is what all have.
func.func @parts_single(%a: tensor<8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %expected: tensor<i32>) -> tensor<8x3xi32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<8x3xi32>
  %3 = stablehlo.add %a, %2 {sdy.sharding = #sdy.sharding_per_value<[<@two, []>]>} : tensor<8x3xi32>
  return %3 : tensor<8x3xi32>
}

//--- main.mlir
func.func @main() {
  %0 = stablehlo.iota dim = 0 : tensor<24xi32>
  %a = stablehlo.reshape %0 : (tensor<24xi32>) -> tensor<4x6xi32>
  %c = stablehlo.reshape %0 : (tensor<24xi32>) -> tensor<8x3xi32>
  %b = stablehlo.iota dim = 1 : tensor<5x7xi32>
  %at = stablehlo.constant dense<[[7], [-2]]> : tensor<2x1xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>

  %product = func.call @whole_product(%a, %b) : (tensor<4x6xi32>, tensor<5x7xi32>) -> tensor<3x7xi32>
  %a0 = stablehlo.slice %a [0:2, 0:3] : (tensor<4x6xi32>) -> tensor<2x3xi32>
  %a1 = stablehlo.slice %a [0:2, 3:6] : (tensor<4x6xi32>) -> tensor<2x3xi32>
  %a2 = stablehlo.slice %a [2:4, 0:3] : (tensor<4x6xi32>) -> tensor<2x3xi32>
  %a3 = stablehlo.slice %a [2:4, 3:6] : (tensor<4x6xi32>) -> tensor<2x3xi32>
  %p:4 = "interpreter.run_parallel"(%a0, %b, %a1, %b, %a2, %b, %a3, %b) {programs = [[@parts_product, @parts_product, @parts_product, @parts_product]]} : (tensor<2x3xi32>, tensor<5x7xi32>, tensor<2x3xi32>, tensor<5x7xi32>, tensor<2x3xi32>, tensor<5x7xi32>, tensor<2x3xi32>, tensor<5x7xi32>) -> (tensor<3x7xi32>, tensor<3x7xi32>, tensor<3x7xi32>, tensor<3x7xi32>)
  check.expect_eq %p#0, %product : tensor<3x7xi32>
  check.expect_eq %p#3, %product : tensor<3x7xi32>

  %moved = func.call @whole_moved(%c, %at) : (tensor<8x3xi32>, tensor<2x1xi32>) -> tensor<2xi32>
  %c0 = stablehlo.slice %c [0:2, 0:3] : (tensor<8x3xi32>) -> tensor<2x3xi32>
  %c1 = stablehlo.slice %c [2:4, 0:3] : (tensor<8x3xi32>) -> tensor<2x3xi32>
  %c2 = stablehlo.slice %c [4:6, 0:3] : (tensor<8x3xi32>) -> tensor<2x3xi32>
  %c3 = stablehlo.slice %c [6:8, 0:3] : (tensor<8x3xi32>) -> tensor<2x3xi32>
  %m:4 = "interpreter.run_parallel"(%c0, %at, %c1, %at, %c2, %at, %c3, %at) {programs = [[@parts_moved, @parts_moved, @parts_moved, @parts_moved]]} : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x3xi32>, tensor<2x1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq %m#0, %moved : tensor<2xi32>
  check.expect_eq %m#3, %moved : tensor<2xi32>

  %d0 = stablehlo.slice %c [0:4, 0:3] : (tensor<8x3xi32>) -> tensor<4x3xi32>
  %d1 = stablehlo.slice %c [4:8, 0:3] : (tensor<8x3xi32>) -> tensor<4x3xi32>
  %s:4 = "interpreter.run_parallel"(%d0, %two, %d0, %two, %d1, %two, %d1, %two) {programs = [[@parts_single, @parts_single, @parts_single, @parts_single]]} : (tensor<4x3xi32>, tensor<i32>, tensor<4x3xi32>, tensor<i32>, tensor<4x3xi32>, tensor<i32>, tensor<4x3xi32>, tensor<i32>) -> (tensor<8x3xi32>, tensor<8x3xi32>, tensor<8x3xi32>, tensor<8x3xi32>)
  %twos = stablehlo.constant dense<2> : tensor<8x3xi32>
  %single = stablehlo.add %c, %twos : tensor<8x3xi32>
  check.expect_eq %s#0, %single : tensor<8x3xi32>
  check.expect_eq %s#3, %single : tensor<8x3xi32>
  return
}
