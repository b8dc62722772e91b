// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s

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
// CHECK-LABEL: @sum
// CHECK-NEXT: %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}}[<@mesh, [{}, {}]>]
// CHECK-NEXT: %[[S:.*]] = sdy.all_reduce {"y"} %[[D]] out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[S]] <@mesh, [{"y"}, {}]>
// CHECK-NEXT: return %[[R]]
func.func @sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What is returned is brought into the shape the function promises.
// CHECK-LABEL: @returned
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
// CHECK-NEXT: return %[[R]]
func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return %a : tensor<8xf32>
}
