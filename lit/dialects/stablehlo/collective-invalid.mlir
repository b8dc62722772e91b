// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint of collectives, async pairs, send, recv and infeed has a program that breaks it.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// (C1) the dimension exists
func.func @all_gather_c1(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{all_gather_dim must be a valid index of operand}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// the gathered dimension is not empty
func.func @all_gather_empty(%x: tensor<0x3xf32>) {
  // expected-error@+1 {{dimension size of operand at 'all_gather_dim' cannot be zero}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<0x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

// (C2) ids are unique
func.func @all_gather_c2(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{replica id #0 seen more than once}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C4) no id is left out
func.func @all_gather_c4(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{replica id #1 not seen in replica groups}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C4) groups are full
func.func @all_gather_c4_hole(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{Invalid replica id -1}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (I3) groups are a matrix
func.func @all_gather_i3(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{replica groups should be a rank 2 tensor}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1xi64>}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C5) global ids need a channel
func.func @all_gather_c5(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{channel_id cannot be negative when useGlobalDeviceIds is set}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>, use_global_device_ids}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// global ids need groups
func.func @all_gather_global_empty(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{if `use_global_device_ids` is set, the replica groups cannot be empty}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}>  : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C6) ranks agree
func.func @all_gather_c6_rank(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{operand and result must have the same rank}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8xf32>
  return
}

// -----

// (C6) the other dimensions agree
func.func @all_gather_c6_shape(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{operand and result should have the same shape except for the dimension size at 'all_gather_dim'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8x4xf32>
  return
}

// -----

// (C6) the gathered dimension grows by a factor
func.func @all_gather_c6_multiple(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{result gather dimension has size 7, expected to be a multiple of operand gather dimension size 4}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

// (C6) element types agree
func.func @all_gather_c6_type(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{requires the same element type for operand and result at index 0}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x3xf32>) -> tensor<8x3xf64>
  return
}

// -----

// (C1) ids are unique
func.func @all_reduce_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica id #1 seen more than once}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) no id is left out
func.func @all_reduce_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica id #0 not seen in replica groups}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[1, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C4) global ids need a channel
func.func @all_reduce_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{channel_id must be positive when useGlobalDeviceIds is set but got: 0}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C5) the computation takes two values
func.func @all_reduce_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{Reduction-region must take 2 parameters, but takes 1 parameter(s)}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C6) the result has the shape of the operand
func.func @all_reduce_c6(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// (C7) the result has the element type of the computation
func.func @all_reduce_c7(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4xf64>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

// (C1) ids are unique
func.func @collective_reduce_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica id #1 seen more than once}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) no id is left out
func.func @collective_reduce_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica id #0 not seen in replica groups}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[1, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C4) global ids need a channel
func.func @collective_reduce_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{channel_id must be positive when useGlobalDeviceIds is set but got: 0}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C5) the computation takes two values
func.func @collective_reduce_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{Reduction-region must take 2 parameters, but takes 1 parameter(s)}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C6) the result has the shape of the operand
func.func @collective_reduce_c6(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// (C7) the result has the element type of the computation
func.func @collective_reduce_c7(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4xf64>'}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

// a dynamic root is an operand of its own
func.func @collective_reduce_root(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a root operand after the data operands when has_dynamic_root is set}}
  "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

// (C1) the dimension divides
func.func @reduce_scatter_c1(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{operand scatter dimension has size 4, expected to be a multiple of result scatter dimension size 3}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// (C2) the dimension exists
func.func @reduce_scatter_c2(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{scatter dim should be less than operand/result rank}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C3) ids are unique
func.func @reduce_scatter_c3(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{replica id #0 seen more than once}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C5) no id is left out
func.func @reduce_scatter_c5(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{replica id #1 not seen in replica groups}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C6) global ids need a channel
func.func @reduce_scatter_c6(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{channel_id must be positive when useGlobalDeviceIds is set but got: 0}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C7) the computation takes two values
func.func @reduce_scatter_c7(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{Reduction-region must take 2 parameters, but takes 1 parameter(s)}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C8) ranks agree
func.func @reduce_scatter_c8_rank(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{operand and result should have same rank}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2xf32>
  return
}

// -----

// (C8) the other dimensions agree
func.func @reduce_scatter_c8_shape(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{non scatter dimensions should be same for operand (3) and result (4)}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C8) the result is not empty
func.func @reduce_scatter_c8_empty(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{result dimension size at scatter_dimension cannot be zero}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

// (C9) the result has the element type of the computation
func.func @reduce_scatter_c9(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{result element-type is expected to be 'f32', but got 'f64'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

// (C1) the split dimension exists
func.func @all_to_all_c1(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{AllToAll split_dimension 2 is out-of-bounds for input rank 2}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C2) the split dimension divides
func.func @all_to_all_c2(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{split dimension has size 5, expected to be a multiple of split_count 2}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x5xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C3) the concat dimension exists
func.func @all_to_all_c3(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{AllToAll concat_dimension 2 is out-of-bounds for input rank 2}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C4) split_count is positive
func.func @all_to_all_c4(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{attribute 'split_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C5) ids are unique
func.func @all_to_all_c5(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{replica id #0 seen more than once}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}>  : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C7) no id is left out
func.func @all_to_all_c7(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{replica id #1 not seen in replica groups}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}>  : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C8) groups have split_count processes
func.func @all_to_all_c8(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{group size of replica_groups must be 2}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}>  : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// -----

// (C9) the result has the exchanged shape
func.func @all_to_all_c9(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<8x3xf32>' are incompatible with return type(s) of operation 'tensor<4x6xf32>'}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// (C1) ids are unique
func.func @collective_broadcast_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica id #0 seen more than once}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C2) ids are not negative
func.func @collective_broadcast_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica_groups values must be positive, but was given -1}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) the result has the type of the operand
func.func @collective_broadcast_c3(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// groups are a matrix
func.func @collective_broadcast_i2(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica groups should be a rank 2 tensor,but instead it is of rank 1}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<0> : tensor<1xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C1) pairs are N x 2
func.func @collective_permute_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{expect source_target_pairs attribute of shape (N, 2), but got (2, 1)}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0], [1]]> : tensor<2x1xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// pairs are a matrix
func.func @collective_permute_i2(%x: tensor<4xf32>) {
  // expected-error@+1 {{expect source_target_pairs attribute to be of rank 2, but got rank 1}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[0, 1]> : tensor<2xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C2) sources are unique
func.func @collective_permute_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{duplicate sources not allowed.}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) targets are unique
func.func @collective_permute_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{duplicate targets not allowed.}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C4) ids are not negative
func.func @collective_permute_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{replica ids in source_target_pairs must be >= 0.}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}>  : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C5) the result has the type of the operand
func.func @collective_permute_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires the same element type for all operands and results}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>  : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

// (C1) between devices
func.func @send_c1_device(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// (C1) to the host
func.func @send_c1_host(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{channel_type should be DEVICE_TO_HOST when is_host_transfer is true}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// (C2) sources are unique
func.func @send_c2(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error@+1 {{duplicate sources not allowed.}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// (C3) targets are unique
func.func @send_c3(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error@+1 {{duplicate targets not allowed.}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// (C1) between devices
func.func @recv_c1_device(%t: !stablehlo.token) {
  // expected-error@+1 {{channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// (C1) from the host
func.func @recv_c1_host(%t: !stablehlo.token) {
  // expected-error@+1 {{channel_type should be HOST_TO_DEVICE when is_host_transfer is true}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// (C2) at least a token
func.func @recv_c2(%t: !stablehlo.token) {
  // expected-error@+1 {{result is expected to be at least of size 1, but got 0}}
  "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> ()
  return
}

// -----

// (C3) tensors come first
func.func @recv_c3(%t: !stablehlo.token) {
  // expected-error@+1 {{everything but the last element of result types is expected to be of tensor type, but got '!stablehlo.token'}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

// (C4) the token comes last
func.func @recv_c4(%t: !stablehlo.token) {
  // expected-error@+1 {{last element of result types is expected to be of token type, but got 'tensor<4xf32>'}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// (C1) at least a token
func.func @infeed_c1(%t: !stablehlo.token) {
  // expected-error@+1 {{result is expected to be at least of size 1, but got 0}}
  "stablehlo.infeed"(%t) : (!stablehlo.token) -> ()
  return
}

// -----

// (C2) tensors come first
func.func @infeed_c2(%t: !stablehlo.token) {
  // expected-error@+1 {{all elements of result types, except the last element, are expected to be of tensor type}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

// (C3) the token comes last
func.func @infeed_c3(%t: !stablehlo.token) {
  // expected-error@+1 {{last element of result types is expected to be of token type, but got 'tensor<4xf32>'}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// one layout per tensor
func.func @infeed_layout_count(%t: !stablehlo.token) {
  // expected-error@+1 {{layout-attribute size must be 1 (which is the number of op-results - 1 (for token result)), but got 0}}
  %0:2 = "stablehlo.infeed"(%t) <{layout = []}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// a layout is an array
func.func @infeed_layout_array(%t: !stablehlo.token) {
  // expected-error@+1 {{layout-attribute expected to have elements of type array, but got 1}}
  %0:2 = "stablehlo.infeed"(%t) <{layout = [1 : i64]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// a layout holds integers
func.func @infeed_layout_leaf(%t: !stablehlo.token) {
  // expected-error@+1 {{layout-attribute's leaf elements are expected to be of type integer, but got}}
  %0:2 = "stablehlo.infeed"(%t) <{layout = [["a"]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// the body takes the operands
func.func @async_start_arguments(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operand type 'tensor<4xf32>' at index 0 must match region argument type 'tensor<5xf32>'}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
    stablehlo.return %1 : tensor<5xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<5xf32>>
  return
}

// -----

// the body is one collective
func.func @async_start_body(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects the body to be a single collective operation}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

// the values of the future
func.func @async_done(%f: !stablehlo.future<tensor<4xf32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<5xf32>
  return
}

// -----

func.func @collective_broadcast_roots(%x: tensor<4xf32>, %r: tensor<3xi32>) {
  // expected-error@+1 {{expects a root operand of one element or of 2 (one for each data operand), but got 'tensor<3xi32>'}}
  %0:2 = "stablehlo.collective_broadcast"(%x, %x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<4xf32>, tensor<3xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @collective_broadcast_float_root(%x: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error@+1 {{expects an integer root operand, but got 'tensor<f32>'}}
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
