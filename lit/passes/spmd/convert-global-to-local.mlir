// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-convert-global-to-local | FileCheck %s
// RUN: xla-opt %s -sdy-convert-global-to-local=replica-count=4 | FileCheck %s --check-prefix=REPLICAS
// Each of the four devices gets its part of @input, and has to return its part of what one device computes.
// RUN: xla-opt %s -sdy-convert-global-to-local -sdy-inline-meshes -sdy-drop-sharding-and-mesh | xla-translate --interpret

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: @product(%arg0: tensor<4x2xi32> {{{.*}}}, %arg1: tensor<2x4xi32> {{{.*}}}) -> (tensor<2x4xi32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4x2xi32>, tensor<2x4xi32>) -> tensor<4x4xi32>
// The devices of a column add up, and each keeps half of the rows.
// CHECK: "stablehlo.reduce_scatter"{{.*}}replica_groups = dense<{{\[}}[0, 2], [1, 3]]> {{.*}} scatter_dimension = 0
// REPLICAS-LABEL: @product
// REPLICAS-NOT: channel_handle
// REPLICAS: return
func.func @product(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  %1 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
}

// A table says where the device's part begins.
// CHECK-LABEL: @numbers
// CHECK: %[[TABLE:.*]] = stablehlo.constant dense<[0, 2, 0, 2]> : tensor<4xi32>
// CHECK: stablehlo.dynamic_slice %[[TABLE]]
// CHECK: stablehlo.iota dim = 1 : tensor<2x2xi32>
// REPLICAS-LABEL: @numbers
// REPLICAS: stablehlo.replica_id
func.func @numbers() -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// Rows that a device does not have are zero there.
func.func @rows(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %at: tensor<4xi32>) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = "stablehlo.gather"(%a, %at) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<4x4xi32>, tensor<4xi32>) -> tensor<4x4xi32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xi32>
  %2 = sdy.all_slice [{}, {"y"}] %1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x4xi32>
  return %2 : tensor<4x4xi32>
}

// Rows of others are not updated; an update of two rows may lie in both parts.
func.func @update(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %at: tensor<i32>) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %u = stablehlo.constant dense<-1> : tensor<2x4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %at, %zero {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x4xi32>, tensor<2x4xi32>, tensor<i32>, tensor<i32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// Parts change hands: rows become columns, and "x" changes places with "y".
func.func @moves(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x4xi32>
  %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
}

// The greatest of all rows, and the least in parts.
func.func @extremes(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4xi32>, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %low = stablehlo.constant dense<-9> : tensor<i32>
  %high = stablehlo.constant dense<99> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<4x4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = sdy.all_reduce max {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<4xi32>
  %2 = stablehlo.reduce(%a init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<4x4xi32>, tensor<i32>) -> tensor<4xi32>
  %3 = sdy.reduce_scatter min [{"x"}] %2 out_sharding=<@mesh, [{"x"}]> : tensor<4xi32>
  return %1, %3 : tensor<4xi32>, tensor<4xi32>
}

func.func @main() {
  %a = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<4x4xi32>
  %top = stablehlo.slice %a [0:2, 0:4] : (tensor<4x4xi32>) -> tensor<2x4xi32>
  %bottom = stablehlo.slice %a [2:4, 0:4] : (tensor<4x4xi32>) -> tensor<2x4xi32>
  %left = stablehlo.slice %a [0:4, 0:2] : (tensor<4x4xi32>) -> tensor<4x2xi32>
  %right = stablehlo.slice %a [0:4, 2:4] : (tensor<4x4xi32>) -> tensor<4x2xi32>

  %p:4 = "interpreter.run_parallel"(%left, %top, %left, %top, %right, %bottom, %right, %bottom) {programs = [[@product, @product, @product, @product]]}
      : (tensor<4x2xi32>, tensor<2x4xi32>, tensor<4x2xi32>, tensor<2x4xi32>, tensor<4x2xi32>, tensor<2x4xi32>, tensor<4x2xi32>, tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>)
  %square = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  %both = stablehlo.concatenate %p#1, %p#2, dim = 0 : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<4x4xi32>
  check.expect_eq %both, %square : tensor<4x4xi32>

  %n:4 = "interpreter.run_parallel"() {programs = [[@numbers, @numbers, @numbers, @numbers]]} : () -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %n#2, dense<[[0, 1], [0, 1]]> : tensor<2x2xi32>
  check.expect_eq_const %n#3, dense<[[2, 3], [2, 3]]> : tensor<2x2xi32>

  %at = stablehlo.constant dense<[3, 0, 9, 1]> : tensor<4xi32>
  %r:4 = "interpreter.run_parallel"(%top, %at, %top, %at, %bottom, %at, %bottom, %at) {programs = [[@rows, @rows, @rows, @rows]]}
      : (tensor<2x4xi32>, tensor<4xi32>, tensor<2x4xi32>, tensor<4xi32>, tensor<2x4xi32>, tensor<4xi32>, tensor<2x4xi32>, tensor<4xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>)
  check.expect_eq_const %r#2, dense<[[13, 14], [1, 2], [13, 14], [5, 6]]> : tensor<4x2xi32>
  check.expect_eq_const %r#1, dense<[[15, 16], [3, 4], [15, 16], [7, 8]]> : tensor<4x2xi32>

  %one = stablehlo.constant dense<1> : tensor<i32>
  %u:4 = "interpreter.run_parallel"(%top, %one, %top, %one, %bottom, %one, %bottom, %one) {programs = [[@update, @update, @update, @update]]}
      : (tensor<2x4xi32>, tensor<i32>, tensor<2x4xi32>, tensor<i32>, tensor<2x4xi32>, tensor<i32>, tensor<2x4xi32>, tensor<i32>) -> (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>)
  check.expect_eq_const %u#0, dense<[[1, 2, 3, 4], [-1, -1, -1, -1]]> : tensor<2x4xi32>
  check.expect_eq_const %u#3, dense<[[-1, -1, -1, -1], [13, 14, 15, 16]]> : tensor<2x4xi32>

  %m:4 = "interpreter.run_parallel"(%top, %top, %bottom, %bottom) {programs = [[@moves, @moves, @moves, @moves]]}
      : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>)
  check.expect_eq %m#0, %left : tensor<4x2xi32>
  check.expect_eq %m#3, %right : tensor<4x2xi32>

  %x:8 = "interpreter.run_parallel"(%top, %top, %bottom, %bottom) {programs = [[@extremes, @extremes, @extremes, @extremes]]}
      : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>)
      -> (tensor<4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<2xi32>)
  check.expect_eq_const %x#0, dense<[13, 14, 15, 16]> : tensor<4xi32>
  check.expect_eq_const %x#7, dense<[3, 4]> : tensor<2xi32>
  return
}
