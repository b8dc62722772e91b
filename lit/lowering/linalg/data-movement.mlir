// RUN: xla-opt %s -xla-lower-to-linalg=all-functions=true -split-input-file | FileCheck %s

// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (0, d2)>
// CHECK-LABEL: func.func @maps(
// CHECK: indexing_maps = [#[[SWAP]], #{{.*}}]
// CHECK: indexing_maps = [#[[BACK]], #{{.*}}]
// CHECK: indexing_maps = [#[[ROW]], #{{.*}}]
func.func @maps(%a: tensor<2x3xf32>, %r: tensor<1x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x5x3xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>
  %2 = stablehlo.broadcast_in_dim %r, dims = [0, 2] : (tensor<1x3xf32>) -> tensor<2x5x3xf32>
  return %0, %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x5x3xf32>
}

// -----

// Negative padding drops the columns that end outside; interior padding is the stride of the insertion.
// CHECK-LABEL: func.func @pad(
// CHECK: linalg.generic
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 1] [2, 2] [1, 1]
// CHECK: tensor.insert_slice %[[PART]] into %{{.*}}[1, 1] [2, 2] [1, 2]
func.func @pad(%a: tensor<2x3xf32>, %p: tensor<f32>) -> tensor<4x7xf32> {
  %0 = stablehlo.pad %a, %p, low = [1, -1], high = [1, 3], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// -----

// CHECK-LABEL: func.func @blocks(
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [2, 2] [1, 2]
// CHECK: tensor.insert_slice %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %{{.*}}[2, 0] [2, 3] [1, 1]
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
func.func @blocks(%a: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<4x3xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<4x3xf32>, tensor<3x2xf32>
}

// -----

// A splat is computed; other constants are stored, complex ones by their parts.
// CHECK-LABEL: func.func @constants(
// CHECK-NOT: dense<1.000000e+00> : tensor<3xf32>
// CHECK: arith.constant dense<[1, -1]> : tensor<2xi8>
// CHECK: {{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK: complex.create
func.func @constants() -> (tensor<3xf32>, tensor<2xui8>, tensor<2xcomplex<f32>>) {
  %0 = stablehlo.constant dense<1.0> : tensor<3xf32>
  %1 = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
  %2 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  return %0, %1, %2 : tensor<3xf32>, tensor<2xui8>, tensor<2xcomplex<f32>>
}
