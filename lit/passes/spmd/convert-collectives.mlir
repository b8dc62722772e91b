// Collectives over several dimensions in all the words there are for them; four devices get the same from each.
// RUN: xla-opt %s -sdy-convert-global-to-local | FileCheck %s --check-prefixes=CHECK,LIST,TOGETHER,SLICES
// RUN: xla-opt %s -sdy-convert-global-to-local='per-dim-all-gather=true combine-multi-dimensions-reduce-scatter=true' | FileCheck %s --check-prefixes=CHECK,LIST,APART,SCATTER
// RUN: xla-opt %s -sdy-convert-global-to-local=enable-rgv3=true | FileCheck %s --check-prefixes=CHECK,AXES,TOGETHER,SLICES
// RUN: xla-opt %s -sdy-convert-global-to-local -sdy-inline-meshes -sdy-drop-sharding-and-mesh | xla-translate --interpret
// RUN: xla-opt %s -sdy-convert-global-to-local='per-dim-all-gather=true combine-multi-dimensions-reduce-scatter=true' -sdy-inline-meshes -sdy-drop-sharding-and-mesh | xla-translate --interpret
// RUN: xla-opt %s -sdy-convert-global-to-local=enable-rgv3=true -sdy-inline-meshes -sdy-drop-sharding-and-mesh | xla-translate --interpret

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @gather
// TOGETHER: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<2x2xi32>) -> tensor<1x2x2xi32>
// TOGETHER: "stablehlo.all_gather"(%[[FLAT]])
// AXES-SAME: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#sdy<axis_ref"x">, #sdy<axis_ref"y">]>
// APART-COUNT-2: "stablehlo.all_gather"
func.func @gather(%a: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x4xi32> {
  %0 = sdy.all_gather [{"x"}, {"y"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// CHECK-LABEL: func.func @scatter
// SLICES: "stablehlo.all_reduce"
// SLICES-COUNT-3: stablehlo.dynamic_slice
// SCATTER: "stablehlo.reduce_scatter"{{.*}}scatter_dimension = 0
func.func @scatter(%a: tensor<4x4xi32>) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// CHECK-LABEL: func.func @exchange
// LIST: "stablehlo.all_to_all"{{.*}}replica_groups = dense<{{\[}}[0, 2, 1, 3]]>
// AXES: "stablehlo.all_to_all"
// CHECK-NOT: "stablehlo.all_to_all"
// CHECK: return
func.func @exchange(%a: tensor<2x2x2x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>})
    -> (tensor<2x2x2x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}, {"x"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 1->3, {"y"}: 2->0] %a out_sharding=<@mesh, [{"y"}, {}, {}, {"x"}]> : tensor<2x2x2x2xi32>
  return %0 : tensor<2x2x2x2xi32>
}

func.func @main() {
  %a = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<4x4xi32>
  %q0 = stablehlo.slice %a [0:2, 0:2] : (tensor<4x4xi32>) -> tensor<2x2xi32>
  %q1 = stablehlo.slice %a [0:2, 2:4] : (tensor<4x4xi32>) -> tensor<2x2xi32>
  %q2 = stablehlo.slice %a [2:4, 0:2] : (tensor<4x4xi32>) -> tensor<2x2xi32>
  %q3 = stablehlo.slice %a [2:4, 2:4] : (tensor<4x4xi32>) -> tensor<2x2xi32>
  %g:4 = "interpreter.run_parallel"(%q0, %q1, %q2, %q3) {programs = [[@gather, @gather, @gather, @gather]]}
      : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>)
  check.expect_eq %g#0, %a : tensor<4x4xi32>
  check.expect_eq %g#3, %a : tensor<4x4xi32>

  %ten = stablehlo.constant dense<10> : tensor<4x4xi32>
  %b = stablehlo.multiply %a, %ten : tensor<4x4xi32>
  %s:4 = "interpreter.run_parallel"(%a, %b, %a, %a) {programs = [[@scatter, @scatter, @scatter, @scatter]]}
      : (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %s#1, dense<[[39, 52], [91, 104]]> : tensor<2x2xi32>
  check.expect_eq_const %s#2, dense<[[117, 130], [169, 182]]> : tensor<2x2xi32>

  // Element (i, j, k, l) is 8i + 4j + 2k + l; a device of (x, y) has j = x and k = y, then i = y and l = x.
  %e = stablehlo.iota dim = 0 : tensor<16xi32>
  %all = stablehlo.reshape %e : (tensor<16xi32>) -> tensor<2x2x2x2xi32>
  %e0 = stablehlo.slice %all [0:2, 0:1, 0:1, 0:2] : (tensor<2x2x2x2xi32>) -> tensor<2x1x1x2xi32>
  %e1 = stablehlo.slice %all [0:2, 0:1, 1:2, 0:2] : (tensor<2x2x2x2xi32>) -> tensor<2x1x1x2xi32>
  %e2 = stablehlo.slice %all [0:2, 1:2, 0:1, 0:2] : (tensor<2x2x2x2xi32>) -> tensor<2x1x1x2xi32>
  %e3 = stablehlo.slice %all [0:2, 1:2, 1:2, 0:2] : (tensor<2x2x2x2xi32>) -> tensor<2x1x1x2xi32>
  %x:4 = "interpreter.run_parallel"(%e0, %e1, %e2, %e3) {programs = [[@exchange, @exchange, @exchange, @exchange]]}
      : (tensor<2x1x1x2xi32>, tensor<2x1x1x2xi32>, tensor<2x1x1x2xi32>, tensor<2x1x1x2xi32>) -> (tensor<1x2x2x1xi32>, tensor<1x2x2x1xi32>, tensor<1x2x2x1xi32>, tensor<1x2x2x1xi32>)
  check.expect_eq_const %x#0, dense<[[[[0], [2]], [[4], [6]]]]> : tensor<1x2x2x1xi32>
  check.expect_eq_const %x#1, dense<[[[[8], [10]], [[12], [14]]]]> : tensor<1x2x2x1xi32>
  check.expect_eq_const %x#2, dense<[[[[1], [3]], [[5], [7]]]]> : tensor<1x2x2x1xi32>
  return
}
