// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-expand-custom-calls -split-input-file -verify-diagnostics | FileCheck %s
// RUN: xla-opt %s -xla-expand-custom-calls -canonicalize -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=DEAD
// RUN: not xla-opt %s -xla-expand-custom-calls -split-input-file --remarks-filter-missed=xla-expand-custom-calls -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// Annotations give way to their operand, also those with side effects.
// CHECK-LABEL: func.func @annotations
// CHECK-NEXT: return %arg0
func.func @annotations(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @annotate_device_placement(%0) {has_side_effect = true} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = stablehlo.custom_call @SPMDFullToShardShape(%1) : (tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// -----

// The type differs: only partitioning can say what it means.
// CHECK-LABEL: func.func @shard
// CHECK: custom_call @SPMDFullToShardShape
func.func @shard(%x: tensor<8xf32>) -> tensor<4xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: the annotation changes the type: partitioning replaces it"
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A sort with the called comparator, which nobody needs afterwards.
// CHECK-NOT: @greater
// CHECK-LABEL: func.func public @approx_top_k
// CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}>
// CHECK: stablehlo.compare GT
// CHECK: stablehlo.slice %[[S]]#0 [0:2, 0:5]
// CHECK: stablehlo.slice %[[S]]#1 [0:2, 0:5]
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @approx_top_k(%x: tensor<2x30xf32>, %i: tensor<2x30xi32>, %m: tensor<f32>, %n: tensor<i32>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %m, %n) {called_computations = [@greater], mhlo.backend_config = {is_fallback = true, reduction_dim = -1 : i64, top_k = 5 : i64}} : (tensor<2x30xf32>, tensor<2x30xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x5xf32>, tensor<2x5xi32>)
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2x5xi32>
}

// -----

// The configuration of older programs is a text.
// CHECK-LABEL: func.func public @legacy_config
// CHECK: "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}>
func.func private @less(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @legacy_config(%x: tensor<30xf32>, %i: tensor<30xi32>, %m: tensor<f32>, %n: tensor<i32>) -> tensor<5xf32> {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %m, %n) {backend_config = "{\22top_k\22: 5, \22reduction_dim\22: 0, \22is_fallback\22: true}", called_computations = [@less]} : (tensor<30xf32>, tensor<30xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %0#0 : tensor<5xf32>
}

// -----

func.func private @less(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @no_dimension(%x: tensor<30xf32>, %i: tensor<30xi32>, %m: tensor<f32>, %n: tensor<i32>) -> tensor<5xf32> {
  // expected-error @+1 {{expects an integer 'reduction_dim' in its backend_config}}
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %m, %n) {backend_config = "top_k=5", called_computations = [@less]} : (tensor<30xf32>, tensor<30xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %0#0 : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @top_k
// CHECK: chlo.top_k(%arg0, k = 4)
// CHECK: chlo.erf %arg0
func.func @top_k(%x: tensor<9xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<9xf32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 4 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<9xf32>) -> (tensor<4xf32>, tensor<4xi32>)
  %1 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<9xf32>) -> tensor<9xf32>
  return %0#0, %0#1, %1 : tensor<4xf32>, tensor<4xi32>, tensor<9xf32>
}

// -----

// CHECK-LABEL: func.func @qr
// CHECK: %[[P:.*]]:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%arg0)
// CHECK-SAME: operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]
// CHECK-SAME: output_tuple_indices = [0], operand_index = 0
// CHECK-SAME: result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>]
// CHECK: stablehlo.custom_call @lapack_zungqr_ffi(%[[P]]#0, %[[P]]#1)
func.func @qr(%a: tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xcomplex<f64>> {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x4x3xcomplex<f64>>) -> (tensor<2x4x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<2x4x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x4x3xcomplex<f64>>
  return %1 : tensor<2x4x3xcomplex<f64>>
}

// -----

func.func @qr_of_half(%a: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{expects elements of type f32, f64, complex<f32> or complex<f64>, but got 'f16'}}
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<4x3xf16>) -> (tensor<4x3xf16>, tensor<3xf16>)
  return %0#0 : tensor<4x3xf16>
}

// -----

// CHECK-LABEL: func.func @unknown
// CHECK: custom_call @somebody(
func.func @unknown(%x: tensor<3xf32>) -> tensor<3xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: no operations have the meaning of its target, which the runtime looks up"
  %0 = stablehlo.custom_call @somebody(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @lapack_of_nothing
// CHECK-NOT: custom_call
// CHECK-DAG: stablehlo.constant dense<> : tensor<0xf32>
// CHECK-DAG: stablehlo.constant dense<0> : tensor<i32>
func.func @lapack_of_nothing(%a: tensor<0x0xf32>) -> (tensor<0xf32>, tensor<0x0xcomplex<f32>>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_sgeev_ffi(%a) : (tensor<0x0xf32>) -> (tensor<0xf32>, tensor<0x0xcomplex<f32>>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<0xf32>, tensor<0x0xcomplex<f32>>, tensor<i32>
}

// -----

// The orthogonal factor of no columns has rows: LAPACK is asked.
// CHECK-LABEL: func.func @lapack_with_rows
// CHECK: custom_call @lapack_sgesdd_ffi
func.func @lapack_with_rows(%a: tensor<3x0xf32>) -> (tensor<3x3xf32>, tensor<i32>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: no operations have the meaning of its target, which the runtime looks up"
  %0:2 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) : (tensor<3x0xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<3x3xf32>, tensor<i32>
}

// -----

// LAPACK has no effects; of somebody's function nothing is known.
// DEAD-LABEL: func.func @effects
// DEAD-NOT: lapack
// DEAD: custom_call @somebody(
func.func @effects(%a: tensor<3x3xf32>, %t: tensor<3xf32>) -> tensor<3x3xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: no operations have the meaning of its target, which the runtime looks up"
  %0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %t) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: no operations have the meaning of its target, which the runtime looks up"
  %1 = stablehlo.custom_call @somebody(%a) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %a : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func.func @unknown_of_mhlo
// CHECK: custom_call @mhlo.nothing(
func.func @unknown_of_mhlo(%x: tensor<3xf32>) -> tensor<3xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: there is no operation chlo.nothing of one operand and one result"
  %0 = stablehlo.custom_call @mhlo.nothing(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
