// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composites become calls of their decompositions, except those that are listed.
// RUN: xla-opt %s -stablehlo-legalize-composite-to-call=except=foo.kept,foo.versions@2 | FileCheck %s

// CHECK-LABEL: @calls
// CHECK: %[[A:.*]] = call @impl(%arg0) {mhlo.note = 1 : i32} : (tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.composite "foo.kept" %[[A]]
func.func @calls(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "foo.bar" %x {composite_attributes = {a = 1 : i32}, decomposition = @impl, mhlo.note = 1 : i32} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "foo.kept" %0 {decomposition = @impl} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: @versions
// CHECK: call @impl(%arg0)
// CHECK: stablehlo.composite "foo.versions" %{{.*}} {decomposition = @impl, version = 2 : i32}
func.func @versions(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "foo.versions" %x {decomposition = @impl, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "foo.versions" %0 {decomposition = @impl, version = 2 : i32} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

func.func private @impl(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
