// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions with computations of their own are kernels that collectives call; promotion, groups as mesh axes, roots at
// run time and asynchronous pairs.
// RUN: split-file %s %t
// RUN: xla-run %t/reducers.mlir --cache-dir=off | FileCheck %s
// RUN: xla-run %t/complex.mlir --cache-dir=off
// RUN: xla-run %t/roots.mlir --cache-dir=off | FileCheck %s --check-prefix=ROOT
// RUN: xla-run %t/roots-each.mlir --cache-dir=off | FileCheck %s --check-prefix=EACH
// RUN: not xla-run %t/no-root.mlir --cache-dir=off 2>&1 | FileCheck %s --check-prefix=NOROOT
// RUN: xla-run %t/named-mesh.mlir --cache-dir=off | FileCheck %s --check-prefix=NAMED
// NOROOT: root 7 of a group of 4

// Device d holds d + 1. a * b - a + 1 over 1, 2, 3, 4 is 2, 5, 16; a * a + b scatters [1, 2, 3, 4] and [3, 4, 5, 6].
// CHECK: device 0: dense<16> : tensor<3xi32>
// CHECK-NEXT: device 0: dense<[4, 8]> : tensor<2xi64>
// CHECK-NEXT: device 0: dense<0.041666666666666664> : tensor<2xf64>
// CHECK-NEXT: device 0: dense<[4, 4, 3, 3, 2, 2, 1, 1]> : tensor<8xi32>
// CHECK-NEXT: device 0: dense<false> : tensor<2xi1>
// CHECK: device 2: dense<16> : tensor<3xi32>
// CHECK-NEXT: device 2: dense<[14, 22]> : tensor<2xi64>
// CHECK: device 3: dense<16> : tensor<3xi32>
//--- reducers.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main() -> (tensor<3xi32>, tensor<2xi64>, tensor<2xf64>, tensor<8xi32>, tensor<2xi1>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %d = stablehlo.add %i, %one : tensor<i32>
    %v = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<i32>) -> tensor<3xi32>
    // With a constant from outside.
    %0 = "stablehlo.all_reduce"(%v) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %2 = stablehlo.multiply %a, %b : tensor<i32>
      %3 = stablehlo.subtract %2, %a : tensor<i32>
      %4 = stablehlo.add %3, %one : tensor<i32>
      stablehlo.return %4 : tensor<i32>
    }) : (tensor<3xi32>) -> tensor<3xi32>
    %f = stablehlo.convert %d : (tensor<i32>) -> tensor<f32>
    // Scattered, in groups that a mesh describes.
    %e = stablehlo.iota dim = 0 : tensor<4xi64>
    %d64 = stablehlo.convert %d : (tensor<i32>) -> tensor<i64>
    %db = stablehlo.broadcast_in_dim %d64, dims = [] : (tensor<i64>) -> tensor<4xi64>
    %g = stablehlo.add %e, %db : tensor<4xi64>
    %7 = "stablehlo.reduce_scatter"(%g) <{scatter_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %8 = stablehlo.multiply %a, %a : tensor<i64>
      %9 = stablehlo.add %8, %b : tensor<i64>
      stablehlo.return %9 : tensor<i64>
    }) : (tensor<4xi64>) -> tensor<2xi64>
    // The computation works on f64.
    %h = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %10 = "stablehlo.all_reduce"(%h) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %11 = stablehlo.divide %a, %b : tensor<f64>
      stablehlo.return %11 : tensor<f64>
    }) : (tensor<2xf32>) -> tensor<2xf64>
    // Asynchronous.
    %v2 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %future = "stablehlo.async_start"(%v2) ({
    ^bb0(%a: tensor<2xi32>):
      %12 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids}> : (tensor<2xi32>) -> tensor<8xi32>
      stablehlo.return %12 : tensor<8xi32>
    }) : (tensor<2xi32>) -> !stablehlo.future<tensor<8xi32>>
    %13 = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<8xi32>>) -> tensor<8xi32>
    // Booleans.
    %two = stablehlo.constant dense<2> : tensor<2xi32>
    %p = stablehlo.compare GT, %v2, %two : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %14 = "stablehlo.all_reduce"(%p) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %15 = stablehlo.not %a : tensor<i1>
      %16 = stablehlo.and %15, %b : tensor<i1>
      stablehlo.return %16 : tensor<i1>
    }) : (tensor<2xi1>) -> tensor<2xi1>
    return %0, %7, %10, %13, %14 : tensor<3xi32>, tensor<2xi64>, tensor<2xf64>, tensor<8xi32>, tensor<2xi1>
  }
}
// ROOT: device 0: dense<2> : tensor<2xi32>
// ROOT-NEXT: device 0: dense<0> : tensor<2xi32>
// ROOT: device 2: dense<2> : tensor<2xi32>
// ROOT-NEXT: device 2: dense<2> : tensor<2xi32>
// ROOT: device 3: dense<2> : tensor<2xi32>
// ROOT-NEXT: device 3: dense<0> : tensor<2xi32>
//--- complex.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main() {
    %id = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %d = stablehlo.add %i, %one : tensor<i32>
    // Complex numbers in lexicographic order, more than one block of them.
    %f = stablehlo.convert %d : (tensor<i32>) -> tensor<f32>
    %fb = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<5001xf32>
    %io = stablehlo.iota dim = 0 : tensor<5001xf32>
    %sin = stablehlo.sine %io : tensor<5001xf32>
    %wave = stablehlo.multiply %sin, %fb : tensor<5001xf32>
    %c = stablehlo.complex %wave, %io : tensor<5001xcomplex<f32>>
    %5 = "stablehlo.all_reduce"(%c) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %6 = stablehlo.maximum %a, %b : tensor<complex<f32>>
      stablehlo.return %6 : tensor<complex<f32>>
    }) : (tensor<5001xcomplex<f32>>) -> tensor<5001xcomplex<f32>>
    %zero = stablehlo.constant dense<0.0> : tensor<5001xf32>
    %four = stablehlo.constant dense<4.0> : tensor<5001xf32>
    %positive = stablehlo.compare GT, %sin, %zero : (tensor<5001xf32>, tensor<5001xf32>) -> tensor<5001xi1>
    %top = stablehlo.multiply %sin, %four : tensor<5001xf32>
    %largest = stablehlo.select %positive, %top, %sin : tensor<5001xi1>, tensor<5001xf32>
    %expected = stablehlo.complex %largest, %io : tensor<5001xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%5, %expected) {has_side_effect = true} : (tensor<5001xcomplex<f32>>, tensor<5001xcomplex<f32>>) -> ()
    return
  }
}
//--- roots.mlir
module attributes {mhlo.num_replicas = 4 : i32} {
  func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
    %id = stablehlo.replica_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %v = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %z = stablehlo.subtract %i, %i : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %root = stablehlo.add %z, %two : tensor<i32>
    %0 = "stablehlo.collective_broadcast"(%v, %root) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, has_dynamic_root}> : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %1 = "stablehlo.collective_reduce"(%v, %root) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, has_dynamic_root}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %2 = stablehlo.subtract %b, %a : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    return %0, %1 : tensor<2xi32>, tensor<2xi32>
  }
}
// EACH: device 0: dense<1> : tensor<2xi32>
// EACH-NEXT: device 0: dense<3> : tensor<3xi32>
// EACH: device 2: dense<1> : tensor<2xi32>
// EACH-NEXT: device 2: dense<3> : tensor<3xi32>
//--- roots-each.mlir
module attributes {mhlo.num_replicas = 4 : i32} {
  func.func @main() -> (tensor<2xi32>, tensor<3xi32>) {
    %id = stablehlo.replica_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %v = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %w = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %roots = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %0:2 = "stablehlo.collective_broadcast"(%v, %w, %roots) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, has_dynamic_root}> : (tensor<2xi32>, tensor<3xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<3xi32>)
    return %0#0, %0#1 : tensor<2xi32>, tensor<3xi32>
  }
}
//--- no-root.mlir
module attributes {mhlo.num_replicas = 4 : i32} {
  func.func @main() -> tensor<2xi32> {
    %v = stablehlo.constant dense<1> : tensor<2xi32>
    %root = stablehlo.constant dense<7> : tensor<i32>
    %0 = "stablehlo.collective_broadcast"(%v, %root) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, has_dynamic_root}> : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
// NAMED: device 0: dense<[0, 2]> : tensor<2xi32>
// NAMED: device 1: dense<[1, 3]> : tensor<2xi32>
//--- named-mesh.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func @main() -> tensor<2xi32> {
    %id = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %v = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %0 = "stablehlo.all_gather"(%v) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids}> : (tensor<1xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
