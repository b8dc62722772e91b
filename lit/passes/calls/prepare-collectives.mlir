// Collectives in the form that the runtime executes.
// RUN: xla-opt %s -xla-prepare-collectives -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-prepare-collectives -split-input-file --remarks-filter-missed=xla-prepare-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
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

// -----
// Futures that cross a function's border have no start, or no end, here; the axes of a mesh that is not there mean no devices.
// CHECK-LABEL: @borders
// CHECK: "stablehlo.async_start"
// CHECK: "stablehlo.async_done"
func.func @borders(%x: tensor<4xf32>, %f: !stablehlo.future<tensor<4xf32>>) -> (tensor<4xf32>, !stablehlo.future<tensor<4xf32>>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.async_start stays: its future has a user that is no async_done"
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %4 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %4 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.async_done stays: its future is not the result of an async_start"
  %1 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, !stablehlo.future<tensor<4xf32>>
}

// -----
// CHECK-LABEL: @no_mesh
// CHECK: mesh = @absent
func.func @no_mesh(%x: tensor<1xi32>) -> tensor<2xi32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.all_gather stays: the module has no mesh @absent"
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @absent, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<1xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
