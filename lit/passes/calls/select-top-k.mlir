// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-select-top-k -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-select-top-k -split-input-file --remarks-filter-missed=xla-select-top-k -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// CHECK-LABEL: func.func @top_k
// CHECK-NOT: stablehlo.sort
// CHECK: %[[K:.*]]:2 = stablehlo.custom_call @millrace_top_k(%arg0) {mhlo.backend_config = {largest = true, total_order = true}} : (tensor<2x1000xf32>) -> (tensor<2x5xf32>, tensor<2x5xi32>)
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @top_k(%x: tensor<2x1000xf32>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x1000xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<2x1000xf32>, tensor<2x1000xi32>) -> (tensor<2x1000xf32>, tensor<2x1000xi32>)
  %v = stablehlo.slice %s#0 [0:2, 0:5] : (tensor<2x1000xf32>) -> tensor<2x5xf32>
  %p = stablehlo.slice %s#1 [0:2, 0:5] : (tensor<2x1000xi32>) -> tensor<2x5xi32>
  return %v, %p : tensor<2x5xf32>, tensor<2x5xi32>
}

// -----

// Somebody wants the rest.
// CHECK-LABEL: func.func @all_used
// CHECK: stablehlo.sort
func.func @all_used(%x: tensor<1000xi32>) -> (tensor<5xi32>, tensor<1000xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<1000xi32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.sort stays: its users do not all take the same number of first elements"
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %0 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<1000xi32>, tensor<1000xi32>) -> (tensor<1000xi32>, tensor<1000xi32>)
  %v = stablehlo.slice %s#0 [0:5] : (tensor<1000xi32>) -> tensor<5xi32>
  return %v, %s#1 : tensor<5xi32>, tensor<1000xi32>
}

// -----

// The comparator looks at the second operand.
// CHECK-LABEL: func.func @by_position
// CHECK: stablehlo.sort
func.func @by_position(%x: tensor<1000xi32>) -> tensor<5xi32> {
  %i = stablehlo.iota dim = 0 : tensor<1000xi32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.sort stays: its comparator is no order of the first operand alone"
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %0 = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<1000xi32>, tensor<1000xi32>) -> (tensor<1000xi32>, tensor<1000xi32>)
  %v = stablehlo.slice %s#0 [0:5] : (tensor<1000xi32>) -> tensor<5xi32>
  return %v : tensor<5xi32>
}

// -----

// PyTorch's comparator, NaNs first, and its positions of 64 bits.
// CHECK-LABEL: func.func @nan_first
// CHECK: stablehlo.custom_call @millrace_top_k(%arg0) {mhlo.backend_config = {largest = true, total_order = false}} : (tensor<1000xf32>) -> (tensor<5xf32>, tensor<5xi64>)
func.func @nan_first(%x: tensor<1000xf32>) -> tensor<5xi64> {
  %i = stablehlo.iota dim = 0 : tensor<1000xi64>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i64>, %d: tensor<i64>):
    %0 = stablehlo.compare LT, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.and %1, %2 : tensor<i1>
    %4 = stablehlo.or %0, %3 : tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<1000xf32>, tensor<1000xi64>) -> (tensor<1000xf32>, tensor<1000xi64>)
  %p = stablehlo.slice %s#1 [0:5] : (tensor<1000xi64>) -> tensor<5xi64>
  return %p : tensor<5xi64>
}

// -----

// Positions that nobody wants are gone already.
// CHECK-LABEL: func.func @values_only
// CHECK: stablehlo.custom_call @millrace_top_k(%arg0) {mhlo.backend_config = {largest = false, total_order = true}} : (tensor<1000xf32>) -> (tensor<5xf32>, tensor<5xi32>)
func.func @values_only(%x: tensor<1000xf32>) -> tensor<5xf32> {
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<1000xf32>) -> tensor<1000xf32>
  %v = stablehlo.slice %s [0:5] : (tensor<1000xf32>) -> tensor<5xf32>
  return %v : tensor<5xf32>
}
