// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who forgets that a value is a summand is told so, in upstream's words; who reduces on purpose is not.
// RUN: xla-opt %s -split-input-file -sdy-verify-unreduced-axes -verify-diagnostics

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @forgotten(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}], unreduced={"b"}>}) -> tensor<4x6xf32> {
  // expected-error@+1 {{'stablehlo.sine' op dropped unreduced axis 'b' without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.}}
  %0 = stablehlo.sine %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<4x6xf32>
  // Nobody knows what this one is.
  %1 = stablehlo.cosine %x : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// One part of an axis is not the other one.
func.func @part(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"b":(1)2}>}) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.negate' op dropped unreduced axis '"b":(1)2' without}}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"b":(2)2}>]>} : tensor<8xf32>
  // expected-error@+1 {{'func.return' op has unreduced axes mismatch for '"b":(1)2' at return value 0 without a blessed operation}}
  return %x : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @on_purpose(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a", "b"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"b"}>}) {
  %0 = sdy.reshard %x <@mesh, [{}], unreduced={"b"}> : tensor<8xf32>
  %1 = sdy.all_reduce {"b"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %x <@mesh, [{"a"}], unreduced={"b"}> : tensor<8xf32>
  // Carried one by one.
  %3:2 = "stablehlo.optimization_barrier"(%0, %1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"b"}>, <@mesh, [{}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %3#0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @swapped(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"b"}>}, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op dropped unreduced axis 'b'}}
  %0:2 = "stablehlo.optimization_barrier"(%x, %y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}], unreduced={"b"}>]>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %y : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func private @callee(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a"}>}) {
  return %x : tensor<8xf32>
}
func.func @calls(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a"}>}, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @callee(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"a"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'func.call' op has unreduced axes mismatch for 'a' at call argument 0.}}
  %1 = call @callee(%y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"a"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'func.call' op has unreduced axes mismatch for 'b' at call result 0.}}
  %2 = call @callee(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"a", "b"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// Sums stay sums: what each operation sums with is known.
func.func @kinds(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"a", "b"}>}, %y: tensor<4x4xf32>, %zero: tensor<f32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'sdy.all_reduce' op cannot reduce 'max' unreduced axes. Expected 'sum'.}}
  %1 = sdy.all_reduce {"a"} %x out_sharding=<@mesh, [{}, {}], unreduced=max{"b"}> : tensor<8x4xf32>
  // expected-error@+1 {{'stablehlo.dot_general' op cannot introduce 'min' unreduced axes. Expected 'sum'.}}
  %2 = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=min{"a"}>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error@+1 {{'stablehlo.reduce' op cannot introduce 'max' unreduced axes. Expected 'min'.}}
  %3 = stablehlo.reduce(%y init: %zero) applies stablehlo.minimum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"a"}>]>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.reduce(%y init: %zero) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"a"}>]>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error@+1 {{'sdy.all_reduce' op operand must be sharded.}}
  %5 = sdy.all_reduce {"a"} %y out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  // expected-error@+1 {{'stablehlo.abs' op cannot change the reduction operator of kept unreduced axes from max to sum.}}
  %6 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a", "b"}>]>} : tensor<8x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
// What goes into a manual computation unreduced comes out of it so, whatever is summed inside.
func.func @manual(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a"}>}) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.manual_computation' op dropped unreduced axis 'a' without}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}], unreduced={"a"}>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%b: tensor<8xf32>) {
    %1 = stablehlo.slice %b [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}], unreduced={"a"}>] out_shardings=[<@mesh, [{}], unreduced={"a"}>] manual_axes={"a"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
