// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint of an sdy operation has a program that breaks it.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// manual_computation (C1)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-note@+1 {{parent bounding this axis as manual}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    // expected-error@+1 {{operates on axis "a" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.manual_computation(%y) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%z: tensor<8xf32>) {
      sdy.return %z : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// manual_computation (C2)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand shardings don't match number of values: 0 shardings vs 1 values}}
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    sdy.return %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// manual_computation (C3)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{number of op operands and region operands must match. Op has 1 op operands and 0 region operands}}
  sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"a"} () {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation (C4)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{must have all manual axes come before free axes in its dimension sharding at index 0. Saw manual axis "a" after free axis "b"}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b", "a"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

// manual_computation (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<9xf32>) {
  // expected-error@+1 {{operand dimension size 9 is not divisible by the manual axes size 2}}
  sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[] manual_axes={"a"} (%y: tensor<4xf32>) {
    sdy.return
  } : (tensor<9xf32>) -> ()
  return
}

// -----

// manual_computation (C6)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{Expected local shape 'tensor<4xf32>', actual local shape 'tensor<8xf32>'}}
  sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[] manual_axes={"a"} (%y: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation (C7)
sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @other = <["b"=2, "a"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{all in and out shardings must be bound to the same mesh or an empty mesh}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@other, [{"a"}]>] manual_axes={"a"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown manual axis: "c"}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"c"} (%y: tensor<8xf32>) {
    sdy.return %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// manual_computation (C8)
func.func @f() {
  // expected-error@+1 {{cannot have manual_axes when there are no in/out shardings and the body is not empty}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"a"} () {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    sdy.return
  } : () -> ()
  return
}

// -----

// data_flow_edge (C1)
func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{expected sdy.data_flow_edge to have a static-shaped result}}
  %0 = sdy.data_flow_edge %x : tensor<?xf32>
  return
}

// -----

// data_flow_edge (C2)
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected input of sdy.data_flow_edge to have a single user}}
  %0 = sdy.data_flow_edge %x : tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

// data_flow_edge (C3)
func.func @f() {
  // expected-note@+1 {{sdy op defining the input}}
  %0 = sdy.constant dense<0> : tensor<8xi32>
  // expected-error@+1 {{expected input of sdy.data_flow_edge to not be defined by an SdyDialect op}}
  %1 = sdy.data_flow_edge %0 : tensor<8xi32>
  return
}

// -----

// data_flow_edge (C4)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown mesh: @mesh}}
  %0 = sdy.data_flow_edge %x sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// reshard (C1)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"a", "b"}>}) -> tensor<8x4xf32> {
  // expected-error@+1 {{'sdy.reshard' op cannot change the reduction operator of kept unreduced axes from max to min.}}
  %0 = sdy.reshard %x <@mesh, [{}, {}], unreduced=min{"a"}> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// sharding_constraint (C1): what the one before says; only other axes may be of another reduction.
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.reshard %x <@mesh, [{}], unreduced=min{"a"}> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"b"}> : tensor<8xf32>
  // expected-error@+1 {{'sdy.sharding_constraint' op cannot change the reduction operator of kept unreduced axes from sum to max.}}
  %2 = sdy.sharding_constraint %1 <@mesh, [{"a"}], unreduced=max{"b"}> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// func_data_flow_edge (C1)
func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{expected sdy.func_data_flow_edge to have a static-shaped result}}
  %0 = sdy.func_data_flow_edge %x : tensor<?xf32>
  return
}

// -----

// func_data_flow_edge (C2)
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected operand of sdy.func_data_flow_edge to have a single user}}
  %0 = sdy.func_data_flow_edge %x : tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

// func_data_flow_edge (C3): neither a call's result
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %x : tensor<8xf32>
  // expected-error@+1 {{expected operand of sdy.func_data_flow_edge to be a result of call op.}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// func_data_flow_edge (C3): nor a function's argument
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"n">(%x) (%y: tensor<8xf32>) {
    // expected-error@+1 {{expected operand of sdy.func_data_flow_edge to be a block argument of a func op.}}
    %1 = sdy.func_data_flow_edge %y : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// propagation_barrier (C1)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{cannot specify `BOTH` as the direction}}
  %0 = sdy.propagation_barrier %x allowed_direction=BOTH : tensor<8xf32>
  return
}

// -----

// named_computation (C1)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{number of block arguments must match the number of operands: 0 != 1}}
  sdy.named_computation<"g">(%x) () {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected the type of the 0'th returned value to match the type of the corresponding result: 'tensor<8xf32>' vs 'tensor<4xf32>'}}
  %0 = sdy.named_computation<"g">(%x) (%y: tensor<8xf32>) {
    sdy.return %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

// named_computation (C2)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{in_shardings - unknown mesh: @mesh}}
  sdy.named_computation<"g">(%x) in_shardings=[<@mesh, [{}]>] (%y: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// collectives (C1)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{collective on operand without sharding}}
  %0 = sdy.all_gather [{"a"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// collectives (C2)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown mesh: @mesh}}
  %0 = sdy.all_slice [{"a"}] %x out_sharding=<@mesh, [{"a"}]> : tensor<8xf32>
  return
}

// -----

// collectives (C3)
sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @other = <["b"=2, "a"=2]>
// expected-note@+1 {{operand mesh: #sdy.mesh<["b"=2, "a"=2]>}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) {
  // expected-error@+1 {{result mesh does not match operand mesh}}
  %0 = sdy.all_gather [{"a"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// all_gather (C5): not what the axes give
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
  // expected-error@+1 {{result sharding doesn't match expected sharding ["a"] on dimension 0}}
  %0 = sdy.all_gather [{"b"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// all_gather (C5): not at the end
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
  // expected-error@+1 {{can't apply gathering axis "a" to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"a"}] %x out_sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  return
}

// -----

// all_gather: one list per dimension
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
  // expected-error@+1 {{result sharding has rank 1 but collective axes has rank 2}}
  %0 = sdy.all_gather [{"b"}, {}] %x out_sharding=<@mesh, [{"a"}]> : tensor<8xf32>
  return
}

// -----

// all_slice (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{result sharding doesn't match expected sharding ["a"] on dimension 0}}
  %0 = sdy.all_slice [{"a"}] %x out_sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  return
}

// -----

// all_slice: axes of two dimensions overlap
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{duplicate axis ref: "a"}}
  %0 = sdy.all_slice [{"a"}, {"a"}] %x out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  return
}

// -----

// reduce_scatter (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{result sharding doesn't match expected sharding ["a"] on dimension 0}}
  %0 = sdy.reduce_scatter [{"a"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// all_to_all (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  // expected-error@+1 {{parameter list is empty}}
  %0 = sdy.all_to_all [] %x out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  return
}

// -----

// all_to_all (C6)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  // expected-error@+1 {{target dimension 2 is out of range [0, 2)}}
  %0 = sdy.all_to_all [{"a"}: 0->2] %x out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  return
}

// -----

// all_to_all (C7)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  // expected-error@+1 {{overlapping source/target dimensions in all-to-all params: 0}}
  %0 = sdy.all_to_all [{"a"}: 0->0] %x out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  return
}

// -----

// all_to_all (C8)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {}, {}]>}) {
  // expected-error@+1 {{source dimensions are not sorted in ascending order: 0 appears after 1}}
  %0 = sdy.all_to_all [{"b"}: 1->2, {"a"}: 0->3] %x out_sharding=<@mesh, [{}, {}, {"b"}, {"a"}]> : tensor<8x8x8x8xf32>
  return
}

// -----

// all_to_all (C9)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  // expected-error@+1 {{result sharding doesn't match expected sharding ["a"] on dimension 1}}
  %0 = sdy.all_to_all [{"a"}: 0->1] %x out_sharding=<@mesh, [{}, {"b"}]> : tensor<8x8xf32>
  return
}

// -----

// collective_permute (C3)
sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @other = <["a"=4]>
// expected-note@+1 {{operand mesh: #sdy.mesh<["a"=4]>}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) {
  // expected-error@+1 {{result mesh has different axes than operand mesh}}
  %0 = sdy.collective_permute %x out_sharding=<@mesh, [{"a"}]> : tensor<8xf32>
  return
}

// -----

// collective_permute (C5)
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // expected-error@+1 {{sharded size of result doesn't match operand on dimension 0: 4 != 2}}
  %0 = sdy.collective_permute %x out_sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  return
}

// -----

// all_reduce (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand and result shardings are not equivalent}}
  %0 = sdy.all_reduce {"a"} %x out_sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  return
}

// -----

// all_reduce (C6)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown axis name: "c"}}
  %0 = sdy.all_reduce {"c"} %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// all_reduce (C7)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // expected-error@+1 {{reduction axis "a" overlaps with operand dimension sharding or replicated axes}}
  %0 = sdy.all_reduce {"a"} %x out_sharding=<@mesh, [{"a"}]> : tensor<8xf32>
  return
}

// -----

// all_reduce (C8)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{reduction axis "a" overlaps with result unreduced axes}}
  %0 = sdy.all_reduce {"a"} %x out_sharding=<@mesh, [{}], unreduced={"a"}> : tensor<8xf32>
  return
}

// -----

// replicated_to_unreduced (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{r2u axes must not be empty}}
  %0 = sdy.replicated_to_unreduced {} %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{r2u axes are not ordered w.r.t. mesh}}
  %0 = sdy.replicated_to_unreduced {"b", "a"} %x out_sharding=<@mesh, [{}], unreduced={"a", "b"}> : tensor<8xf32>
  return
}

// -----

// replicated_to_unreduced (C6)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {"a"} %x out_sharding=<@mesh, [{"b"}], unreduced={"a"}> : tensor<8xf32>
  return
}

// -----

// replicated_to_unreduced (C7)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // expected-error@+1 {{r2u axis "a" overlaps with operand dimension sharding}}
  %0 = sdy.replicated_to_unreduced {"a"} %x out_sharding=<@mesh, [{"a"}], unreduced={"b"}> : tensor<8xf32>
  return
}

// -----

// replicated_to_unreduced (C8)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{out_unreduced_axes should be in_unreduced_axes + r2u_axes}}
  %0 = sdy.replicated_to_unreduced {"a"} %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// sharded_to_unreduced (C5)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // expected-error@+1 {{can't apply shard-to-unreduce axis "b" to operand sharding on dimension 0}}
  %0 = sdy.sharded_to_unreduced [{"b"}] %x out_sharding=<@mesh, [{}], unreduced={"b"}> : tensor<8xf32>
  return
}

// -----

// sharded_to_unreduced (C6)
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // expected-error@+1 {{out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes}}
  %0 = sdy.sharded_to_unreduced [{"a"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}
