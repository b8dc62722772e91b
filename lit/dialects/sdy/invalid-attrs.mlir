// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint of meshes, shardings and rules has a program that breaks it; so has each rule of the text.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// mesh_axis (C1)
// expected-error@+2 {{axis size must be at least 1, got: 0}}
// expected-error@+1 {{failed to parse Sdy_Mesh parameter 'axes'}}
sdy.mesh @mesh = <["a"=0]>

// -----

// mesh (C1)
// expected-error@+1 {{duplicate axis name: "a"}}
sdy.mesh @mesh = <["a"=2, "a"=2]>

// -----

// mesh (C2)
// expected-error@+1 {{device id must be non-negative, got: -1}}
sdy.mesh @mesh = <[], device_ids=[-1]>

// -----

// mesh (C3)
// expected-error@+1 {{total product of axis sizes must match total number of device ids, got: 4 != 3}}
sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[0, 2, 1]>

// -----

// mesh (C4)
// expected-error@+1 {{sorted device ids must be iota(product(axes)), got: 0, 1, 2, 4}}
sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[0, 2, 1, 4]>

// -----

// mesh (C3)
// expected-error@+1 {{axes is empty and device_ids has more than one element}}
sdy.mesh @mesh = <[], device_ids=[2, 0]>

// -----

// mesh (C5)
// expected-error@+1 {{product of axis sizes does not fit 64 bits}}
sdy.mesh @mesh = <["a"=4294967296, "b"=4294967296]>

// -----

// An unknown mesh.
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown mesh: @mesh}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// sharding (C1): a maximal mesh
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{a maximal sharding can only have a sharding with rank 0}}
  %0 = sdy.sharding_constraint %x <mesh<[], device_ids=[0]>, [{}]> : tensor<8xf32>
  return
}

// -----

// sharding (C1): a token
func.func @f() {
  // expected-error@+1 {{non-shaped tensors can only have a sharding with rank 0}}
  %0 = stablehlo.create_token {sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=2]>, [{}]>]>} : !stablehlo.token
  return
}

// -----

// sharding (C2)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{sharding doesn't match tensor rank: 2 != 1}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=2]>, [{}, {}]> : tensor<8xf32>
  return
}

// -----

// sharding (C3)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dim 0 is empty and closed but has a priority}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=2]>, [{}p1]> : tensor<8xf32>
  return
}

// -----

// sharding (C4): names
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{unknown axis name: "b"}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=2]>, [{"b"}]> : tensor<8xf32>
  return
}

// -----

// sharding (C4): repetition
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{duplicate axis ref: "a"}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=2]>, [{"a"}], replicated={"a"}> : tensor<8xf32>
  return
}

// -----

// sharding (C4): a part and the whole
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{both sub-axis and full-axis are used for axis name: "a"}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a"}], replicated={"a":(1)2}> : tensor<8xf32>
  return
}

// -----

// sharding (C4): overlap
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{overlapping sub-axes: "a":(1)4, "a":(2)2}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=8]>, [{"a":(1)4}, {"a":(2)2}]> : tensor<8x8xf32>
  return
}

// -----

// sharding (C4): parts that are one
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{two consecutive sub-axes can be merged: "a":(1)2, "a":(2)2}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=8]>, [{"a":(1)2, "a":(2)2}]> : tensor<8xf32>
  return
}

// -----

// sharding (C4): sub-axis beyond the axis; products that overflow count as beyond
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{sub-axis next pre-size 8 doesn't divide the size of the full axis 4: "a":(4)2}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a":(4)2}]> : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{doesn't divide the size of the full axis 4}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a":(4611686018427387904)4}]> : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{sub-axis pre-size must be at least 1: "a":(0)2}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a":(0)2}]> : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{sub-axis sizes must be greater than 1: "a":(1)1}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a":(1)1}]> : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{sub-axis size is equal to the full axis size: "a":(1)4}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=4]>, [{"a":(1)4}]> : tensor<8xf32>
  return
}

// -----

// sharding (C5)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{replicated axes are not ordered w.r.t. mesh}}
  %0 = sdy.sharding_constraint %x <mesh<["a"=2, "b"=2]>, [{}], replicated={"b", "a"}> : tensor<8xf32>
  return
}

// -----

// sharding (C6)
sdy.mesh @mesh = <["a"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-note@+1 {{parent bounding this axis as manual}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%y: tensor<4xf32>) {
    // expected-error@+1 {{operates on axis "a" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.sharding_constraint %y <@mesh, [{"a"}]> : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// Attributes of the wrong kind.
// expected-error@+1 {{arg 0 - should have a sharding attribute of type TensorShardingAttr}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = 1 : i32}) {
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{should have a sharding attribute of type TensorShardingPerValueAttr}}
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding<@mesh, [{}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{result shardings don't match number of values: 2 shardings vs 1 values}}
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{should have a sharding rule attribute of type OpShardingRuleAttr}}
  %0 = stablehlo.add %x, %x {sdy.sharding_rule = 1 : i32} : tensor<8xf32>
  return
}

// -----

// op_sharding_rule (C1)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{number of operands and mappings must match: 2 != 1}}
  %0 = stablehlo.add %x, %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

// op_sharding_rule (C2)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand - mapping rank must match: 2 != 1}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1}>} : tensor<8xf32>
  return
}

// -----

// op_sharding_rule (C3)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand - dim mapping must have at least one factor}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([*])->([i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand - expecting factor indices to be within 0<=...<num_factors; received: 1, num_factors: 1}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([j])->([i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{operand - cannot reuse factors for the same tensor value}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, i]) {i=8}>} : tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{operand - dim mapping can't have a factor of size 1 if there are multiple factors}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([i]) {i=8, j=1}>} : tensor<8xf32>
  return
}

// -----

// op_sharding_rule (C4)
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{has factor j=2 that isn't used in operand and result mappings}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return
}

// -----

// op_sharding_rule (C5)
func.func @f(%x: tensor<8x2xf32>) {
  // expected-error@+1 {{indices of special factors must be sorted}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=2} reduction={j, i}>} : tensor<8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<8x2xf32>) {
  // expected-error@+1 {{a factor can only be in one of the reduction, need replication, or permutation factor sets}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=2} reduction={j} permutation={j}>} : tensor<8x2xf32>
  return
}

// -----

// Text of priorities: one spelling per number.
// expected-error@+2 {{priorities with leading zeros are not allowed, got: p01}}
// expected-error@+1 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings' which is to be a `::llvm::ArrayRef<DimensionShardingAttr>`}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p01]>})

// -----

// expected-error@+2 {{expecting priority in format 'p<number>', got: q1}}
// expected-error@+1 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings' which is to be a `::llvm::ArrayRef<DimensionShardingAttr>`}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}q1]>})

// -----

// `?` stands last.
// expected-error@+2 {{expected '}'}}
// expected-error@+1 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings' which is to be a `::llvm::ArrayRef<DimensionShardingAttr>`}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "a"}]>})

// -----

// expected-error@+1 {{expected valid named axis list after comma}}
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}], other={"b"}>})

// -----

// Factors are declared in order.
func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{Expecting factor index symbol 'i', received: 'j'}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([j])->([j]) {j=8}>} : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+3 {{expecting symbol from 'i' to 'z'. Received: 'a'}}
  // expected-error@+2 {{failed to parse Sdy_TensorMapping parameter 'dim_mappings'}}
  // expected-error@+1 {{failed to parse Sdy_OpShardingRule parameter 'operand_mappings' which is to be a `::llvm::ArrayRef<TensorMappingAttr>`}}
  %0 = stablehlo.abs %x {sdy.sharding_rule = #sdy.op_sharding_rule<([a])->([i]) {i=8}>} : tensor<8xf32>
  return
}
