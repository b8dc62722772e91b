// RUN: xla-opt %s -split-input-file -verify-diagnostics -xla-sdy-round-trip-import-shardy-attrs -xla-sdy-round-trip-shard-map-import -xla-sdy-import-sdy-custom-calls

// expected-error @below {{xla.sdy.meshes: expected a mesh, but got 5 : i64 for "mesh"}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = 5}"}} {
}

// -----

// expected-error @below {{xla.sdy.tuple_args_shardings: expected 1 shardings, but got}}
module attributes {mhlo.frontend_attributes = {xla.sdy.tuple_args_shardings = "#sdy.sharding_per_value<[]>"}} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @below {{argument 0: expected a sharding, but got "3"}}
func.func @no_sharding(%x: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "3"}}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

func.func @no_body(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected to stand before or after a call of @xla.sdy.manual_computation_body}}
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_way_in(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+2 {{expected at least one operand of @xla.sdy.manual_computation_body to be produced by a xla.sdy.GlobalToLocalShape}}
  // expected-error @+1 {{failed to legalize operation 'func.call'}}
  %0 = call @xla.sdy.manual_computation_body(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%0) : (tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @xla.sdy.manual_computation_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @no_group(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected CustomCallOp with a sharding group id.}}
  stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true} : (tensor<8xf32>) -> ()
  return %x : tensor<8xf32>
}
