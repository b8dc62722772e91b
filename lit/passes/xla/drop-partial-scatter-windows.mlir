// RUN: xla-opt %s -xla-drop-partial-scatter-windows -split-input-file | FileCheck %s
// RUN: xla-run %s --xla-semantics | FileCheck %s --check-prefix=XLA
// RUN: xla-run %s --xla-semantics --backend=interpreter | FileCheck %s --check-prefix=XLA
// RUN: xla-run %s | FileCheck %s --check-prefix=SPEC

// Windows of 2 in 4 elements start at -1, 0, 2 and 3: XLA drops the first and the last, the specification clips them.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.constant dense<0> : tensor<1xi64>
// CHECK: %[[GE:.*]] = stablehlo.compare GE, %[[START:.*]], %{{.*}}
// CHECK: stablehlo.constant dense<2> : tensor<1xi64>
// CHECK: %[[LE:.*]] = stablehlo.compare LE, %[[START]], %{{.*}}
// CHECK: %[[IN:.*]] = stablehlo.and %[[GE]], %[[LE]]
// CHECK: stablehlo.constant dense<4> : tensor<1xi64>
// CHECK: stablehlo.select %[[IN]], %[[START]], %{{.*}}
// XLA: dense<1.000000e+00> : tensor<4xf32>
// SPEC: dense<[2.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %x = stablehlo.constant dense<0.0> : tensor<4xf32>
  %start = stablehlo.constant dense<[[-1], [0], [2], [3]]> : tensor<4x1xi32>
  %one = stablehlo.constant dense<1.0> : tensor<4x2xf32>
  %0 = "stablehlo.scatter"(%x, %start, %one) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<4xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two components: a window is dropped when either does not fit.
// CHECK-LABEL: func.func @two_components
// CHECK: stablehlo.slice %[[MASK:.*]] [0:3, 0:1]
// CHECK: stablehlo.slice %[[MASK]] [0:3, 1:2]
// CHECK: stablehlo.and
// CHECK: stablehlo.broadcast_in_dim
// CHECK: stablehlo.select
func.func @two_components(%x: tensor<4x5xf32>, %start: tensor<3x2xi32>, %u: tensor<3x2x3xf32>) -> tensor<4x5xf32> {
  %0 = "stablehlo.scatter"(%x, %start, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}
    : (tensor<4x5xf32>, tensor<3x2xi32>, tensor<3x2x3xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Rows of a table: the window is whole along the dimension that is not scattered, and cannot be partly outside.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: stablehlo.compare
func.func @rows(%x: tensor<9x4xf32>, %start: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> tensor<9x4xf32> {
  %0 = "stablehlo.scatter"(%x, %start, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<9x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}
