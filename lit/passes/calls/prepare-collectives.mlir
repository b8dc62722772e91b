// Collectives in the form that the runtime executes.
// RUN: xla-opt %s -xla-prepare-collectives -split-input-file | FileCheck %s
// CHECK-LABEL: @async
// CHECK-NOT: async
// CHECK: %[[R:.*]] = "stablehlo.collective_permute"(%arg0)
// CHECK-NEXT: stablehlo.negate %arg0
// CHECK-NEXT: stablehlo.add %[[R]]
func.func @async(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %4 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %4 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = stablehlo.negate %x : tensor<4xf32>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %3 = stablehlo.add %2, %1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----
// The root of a collective_reduce is no data.
// CHECK-LABEL: @promotes
// CHECK: %[[C:.*]] = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf64>
// CHECK: "stablehlo.collective_reduce"(%[[C]], %arg1)
func.func @promotes(%x: tensor<4xf32>, %root: tensor<i32>) -> tensor<4xf64> {
  %0 = "stablehlo.collective_reduce"(%x, %root) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    stablehlo.return %a : tensor<f64>
  }) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----
// A mesh that is named comes in place; what needs nothing stays.
// CHECK-LABEL: @mesh_by_name
// CHECK: mesh = #stablehlo.mesh<axes{{.*}}"a", size = 2{{.*}}"b", size = 2{{.*}}dense<[3, 2, 1, 0]> : tensor<4xi64>
// CHECK: stablehlo.all_reduce
// CHECK-NOT: convert
sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
func.func @mesh_by_name(%x: tensor<1xi32>) -> (tensor<2xi32>, tensor<1xi32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<1xi32>) -> tensor<2xi32>
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<1xi32>) -> tensor<1xi32>
  return %0, %1 : tensor<2xi32>, tensor<1xi32>
}
