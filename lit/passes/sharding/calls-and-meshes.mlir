// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small passes, each with what it changes and what it leaves alone.
// RUN: xla-opt %s -split-input-file -sdy-import-maximal-sharding | FileCheck %s --check-prefix=MAXIMAL
// RUN: xla-opt %s -split-input-file -sdy-import-maximal-sharding -sdy-inline-meshes | FileCheck %s --check-prefix=INLINE
// RUN: xla-opt %s -split-input-file -sdy-propagate-sharding-from-func-to-call | FileCheck %s --check-prefix=CALL
// RUN: xla-opt %s -split-input-file -sdy-pre-order-funcs | FileCheck %s --check-prefix=ORDER
// RUN: xla-opt %s -split-input-file -sdy-propagate-to-func-results | FileCheck %s --check-prefix=RESULTS
// RUN: xla-opt %s -split-input-file -sdy-import-maximal-sharding -sdy-drop-sharding-and-mesh | FileCheck %s --check-prefix=DROP --implicit-check-not=sdy

// A device's number becomes a mesh of that device; one that is there is used.
// MAXIMAL: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// MAXIMAL-NEXT: sdy.mesh @maximal_mesh_0
// MAXIMAL-LABEL: @devices
// MAXIMAL: stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_3, []>]>}
// MAXIMAL: stablehlo.custom_call @f({{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>, <@maximal_mesh_0, []>]>}
// INLINE-NOT: sdy.mesh
// INLINE-LABEL: @devices
// INLINE: stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[3]>, []>]>}
// DROP-LABEL: @devices
// DROP: stablehlo.sine %arg0 : tensor<2x2xf32>
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
func.func @devices(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.sine %x {sdy.sharding = 3 : i64} : tensor<2x2xf32>
  %1:2 = stablehlo.custom_call @f(%0) {sdy.sharding = 0 : i64} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tuple<>)
  return %1#0 : tensor<2x2xf32>
}

// -----

// A call says nothing of its first result, the other call speaks for itself; of @g nothing is known.
// CALL-LABEL: func.func private @f
// CALL-LABEL: @main
// CALL: call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"x"}]>]>}
// CALL: call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>}
// CALL: call @g(%arg0) : (tensor<4xf32>)
// ORDER: @main
// ORDER: @f
// ORDER: @g
// What @g returns is sharded, what @main returns stays as it is.
// RESULTS-LABEL: func.func private @f
// RESULTS: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// RESULTS: func.func private @g(%arg0: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
// DROP-LABEL: @main
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.sine %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.cosine %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
