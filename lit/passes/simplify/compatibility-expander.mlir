// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the target version lacks is written with what it has, and nothing else changes.
// RUN: xla-opt %s -stablehlo-compatibility-expander=target=1.0.0 -mlir-print-debuginfo | FileCheck %s
// RUN: xla-opt %s -stablehlo-compatibility-expander=target=1.17.0 -mlir-print-debuginfo | FileCheck %s --check-prefix=NEW
// RUN: not xla-opt %s -stablehlo-compatibility-expander=target=0.8.0 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not xla-opt %s -stablehlo-compatibility-expander=target=2.0.0 2>&1 | FileCheck %s --check-prefix=FUTURE
// RUN: not xla-opt %s -stablehlo-compatibility-expander=target=1.x 2>&1 | FileCheck %s --check-prefix=FORM
// OLD: target version 0.8.0 is less than minimum supported 0.9.0
// FUTURE: target version 2.0.0 is greater than current version 1.20.0
// FORM: Invalid target version argument '1.x'. Target version must be of the form #.#.#.

// CHECK-LABEL: @tan
// CHECK: %[[S:.*]] = stablehlo.sine %arg0
// CHECK: %[[C:.*]] = stablehlo.cosine %arg0
// CHECK: stablehlo.divide %[[S]], %[[C]]
// NEW-LABEL: @tan
// NEW: stablehlo.tan
func.func @tan(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tan %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @complex_tan
// CHECK-NOT: stablehlo.tan %
// CHECK: stablehlo.tanh
// CHECK: stablehlo.divide %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
func.func @complex_tan(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.tan %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// The position along the batching dimension goes in front of each index vector.
// CHECK-LABEL: @gather
// CHECK: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<2x3x1xi32>
// CHECK: %[[J:.*]] = stablehlo.concatenate %[[I]], %arg1, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x2xi32>
// CHECK: "stablehlo.gather"(%arg0, %[[J]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false
// NEW-LABEL: @gather
// NEW: operand_batching_dims = [0]
func.func @gather(%x: tensor<2x5x4xf32>, %i: tensor<2x3x1xi32>) -> tensor<2x3x4xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<2x5x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Positions up to 299 do not fit i8; the index vectors are scalars before.
// CHECK-LABEL: @narrow_indices
// CHECK: %[[W:.*]] = stablehlo.convert %arg1 : (tensor<300x3xi8>) -> tensor<300x3xi64>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<300x3xi64>) -> tensor<300x3x1xi64>
// CHECK: stablehlo.concatenate %{{.*}}, %[[R]], dim = 2 : (tensor<300x3x1xi64>, tensor<300x3x1xi64>) -> tensor<300x3x2xi64>
func.func @narrow_indices(%x: tensor<300x5xf32>, %i: tensor<300x3xi8>) -> tensor<300x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<300x5xf32>, tensor<300x3xi8>) -> tensor<300x3xf32>
  return %0 : tensor<300x3xf32>
}

// CHECK-LABEL: @scatter
// CHECK: stablehlo.concatenate
// CHECK: "stablehlo.scatter"{{.*}} <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>
// CHECK: stablehlo.add
func.func @scatter(%x: tensor<2x5x4xf32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3x4xf32>) -> tensor<2x5x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x5x4xf32>, tensor<2x3x1xi32>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// The mesh may be at a symbol; along x, the devices 3 and 1, 0 and 2.
// CHECK-LABEL: @named_mesh
// CHECK{LITERAL}: replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>
// NEW-LABEL: @named_mesh
// NEW: replica_group_mesh_axes<mesh = @devices,
func.func private @devices() attributes {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}], device_ids = dense<[3, 0, 1, 2]> : tensor<4xi64>}}
func.func @named_mesh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @devices, axes = [#stablehlo.axis_ref<name = "x">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Axis y of a 2x2 mesh: devices 0 and 1, 2 and 3. A new release may know meshes, this one lists devices.
// CHECK-LABEL: @mesh
// CHECK{LITERAL}: replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
// NEW-LABEL: @mesh
// NEW: replica_group_mesh_axes
func.func @mesh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @range
// CHECK-DAG: loc("f.py":3:7)
// CHECK-NOT: to 5:9
// NEW-LABEL: @range
// NEW-DAG: loc("f.py":3:7 to 5:9)
func.func @range(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32> loc(callsite("f" at "f.py":3:7 to 5:9))
  return %0 : tensor<4xf32>
}
