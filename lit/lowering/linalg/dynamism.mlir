// RUN: xla-opt %s -xla-lower-to-linalg=all-functions=true -split-input-file | FileCheck %s

// Unknown sizes are read from the shape operand.
// CHECK-LABEL: func.func @iota(
// CHECK-SAME: %[[S:.*]]: tensor<2xi64>
// CHECK: tensor.extract %[[S]]
// CHECK: linalg.index 0
// CHECK: return %{{.*}} : tensor<?x4xf32>
func.func @iota(%s: tensor<2xi64>) -> tensor<?x4xf32> {
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Whether the first dimension expands shows at run time; the second cannot.
// CHECK-LABEL: func.func @broadcast(
// CHECK: arith.cmpi eq
// CHECK: arith.select
// CHECK: tensor.extract
func.func @broadcast(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x4xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @reshape(
// CHECK: tensor.reshape
func.func @reshape(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
