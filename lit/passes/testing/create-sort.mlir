// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -hlo-test-create-sort -allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @by_float
// CHECK: "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = false}>
// CHECK: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
// CHECK: stablehlo.compare LT, %[[A]], %[[B]], TOTALORDER
func.func @by_float(%keys: tensor<8xf32>, %values: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = "hlo_test_create_sort.build"(%keys, %values) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

// CHECK-LABEL: func.func @by_integer
// CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<i32>, tensor<i32>)
func.func @by_integer(%keys: tensor<8xi32>) -> tensor<8xi32> {
  %0 = "hlo_test_create_sort.build"(%keys) : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @no_tensor
// CHECK: hlo_test_create_sort.build
func.func @no_tensor(%a: !stablehlo.token) -> !stablehlo.token {
  %0 = "hlo_test_create_sort.build"(%a) : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
