// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s
// RUN: xla-opt %s -sdy-insert-explicit-reshards='enable-full-version=true mark-partial-result-with-unreduced-axes=true' | FileCheck %s --check-prefix=MARKED

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Everything goes together.
// CHECK-LABEL: @compatible
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
func.func @compatible(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// "x" splits the rows of the left and the columns of the right-hand side; the result agrees with the left one.
// CHECK-LABEL: @product
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]> : tensor<8x8xf32>
// CHECK-NEXT: stablehlo.dot_general %arg0, %[[R]]
// CHECK-NEXT: return
func.func @product(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A contracted dimension is summed over; who wants the sum in parts reshards it.
// MARKED-LABEL: @sum
// MARKED-NEXT: %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}}[<@mesh, [{}, {}], unreduced={"y"}>]
// MARKED-NEXT: sdy.all_reduce {"y"} %[[D]] out_sharding=<@mesh, [{}, {}]>
// CHECK-LABEL: @sum
// CHECK-NEXT: %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}}[<@mesh, [{}, {}]>]
// CHECK-NEXT: %[[S:.*]] = sdy.all_reduce {"y"} %[[D]] out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[S]] <@mesh, [{"y"}, {}]>
// CHECK-NEXT: return %[[R]]
func.func @sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// So is the greatest of a dimension in parts.
// CHECK-LABEL: @greatest
// CHECK: %[[M:.*]] = stablehlo.reduce(%arg0 {{.*}} stablehlo.maximum
// CHECK-NEXT: %[[A:.*]] = sdy.all_reduce max {"x"} %[[M]] out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT: return %[[A]]
func.func @greatest(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %least: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// What is returned is brought into the shape the function promises.
// CHECK-LABEL: @returned
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
// CHECK-NEXT: return %[[R]]
func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return %a : tensor<8xf32>
}

// What shifts elements stays in parts: sdy-resolve-permutation-factors comes next.
// CHECK-LABEL: @reversed
// CHECK-NOT: sdy.reshard
func.func @reversed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// One of two that disagree is followed in all dimensions: the one that need not be shifted, else the one in more parts.
// CHECK-LABEL: @disagree
// CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
// CHECK-NEXT: stablehlo.reverse %[[R]], dims = [0] {{.*}}[{}, {"y"}]
// CHECK: %[[N:.*]] = stablehlo.negate %arg1 {{.*}}[{"x", "y"}, {}]
// CHECK-NEXT: sdy.reshard %[[N]] <@mesh, [{}, {"x"}]>
func.func @disagree(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Axes of a dimension that must be whole go to another one.
// CHECK-LABEL: @sorted
// CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y", "x"}]>
// CHECK-NEXT: %[[S:.*]] = "stablehlo.sort"(%[[R]])
// CHECK: sdy.reshard %[[S]] <@mesh, [{"x"}, {"y"}]>
func.func @sorted(%a: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%b: tensor<i32>, %c: tensor<i32>):
    %1 = stablehlo.compare LT, %b, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}
