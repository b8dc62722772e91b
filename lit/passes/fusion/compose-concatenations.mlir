// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Concatenations of parts of a concatenation read what that was made of.
// RUN: xla-opt %s -xla-compose-concatenations -xla-fuse-kernels | FileCheck %s

// A roll along two dimensions is one kernel with four parts of %x.
// CHECK-LABEL: func.func @roll
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:         return
func.func @roll(%x: tensor<40x50xf32>) -> tensor<40x50xf32> {
  %0 = stablehlo.slice %x [37:40, 0:50] : (tensor<40x50xf32>) -> tensor<3x50xf32>
  %1 = stablehlo.slice %x [0:37, 0:50] : (tensor<40x50xf32>) -> tensor<37x50xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x50xf32>, tensor<37x50xf32>) -> tensor<40x50xf32>
  %3 = stablehlo.slice %2 [0:40, 45:50] : (tensor<40x50xf32>) -> tensor<40x5xf32>
  %4 = stablehlo.slice %2 [0:40, 0:45] : (tensor<40x50xf32>) -> tensor<40x45xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<40x5xf32>, tensor<40x45xf32>) -> tensor<40x50xf32>
  return %5 : tensor<40x50xf32>
}

// Mirrored borders: reversed parts of a concatenation are its reversed parts in the reverse order.
// CHECK-LABEL: func.func @mirror
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:         return
func.func @mirror(%x: tensor<40x50xf32>) -> tensor<42x52xf32> {
  %0 = stablehlo.slice %x [1:2, 0:50] : (tensor<40x50xf32>) -> tensor<1x50xf32>
  %1 = stablehlo.slice %x [38:39, 0:50] : (tensor<40x50xf32>) -> tensor<1x50xf32>
  %2 = stablehlo.concatenate %0, %x, %1, dim = 0 : (tensor<1x50xf32>, tensor<40x50xf32>, tensor<1x50xf32>) -> tensor<42x50xf32>
  %3 = stablehlo.slice %2 [0:42, 1:2] : (tensor<42x50xf32>) -> tensor<42x1xf32>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<42x1xf32>
  %5 = stablehlo.slice %2 [0:42, 48:49] : (tensor<42x50xf32>) -> tensor<42x1xf32>
  %6 = stablehlo.concatenate %4, %2, %5, dim = 1 : (tensor<42x1xf32>, tensor<42x50xf32>, tensor<42x1xf32>) -> tensor<42x52xf32>
  return %6 : tensor<42x52xf32>
}

// Borders that repeat the last elements, corners along both dimensions.
// CHECK-LABEL: func.func @edge
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:         return
func.func @edge(%x: tensor<40x50xf32>) -> tensor<46x56xf32> {
  %0 = stablehlo.slice %x [0:1, 0:50] : (tensor<40x50xf32>) -> tensor<1x50xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<3x50xf32>
  %2 = stablehlo.slice %x [39:40, 0:50] : (tensor<40x50xf32>) -> tensor<1x50xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<3x50xf32>
  %4 = stablehlo.concatenate %1, %x, %3, dim = 0 : (tensor<3x50xf32>, tensor<40x50xf32>, tensor<3x50xf32>) -> tensor<46x50xf32>
  %5 = stablehlo.slice %4 [0:46, 0:1] : (tensor<46x50xf32>) -> tensor<46x1xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<46x1xf32>) -> tensor<46x3xf32>
  %7 = stablehlo.slice %4 [0:46, 49:50] : (tensor<46x50xf32>) -> tensor<46x1xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<46x1xf32>) -> tensor<46x3xf32>
  %9 = stablehlo.concatenate %6, %4, %8, dim = 1 : (tensor<46x3xf32>, tensor<46x50xf32>, tensor<46x3xf32>) -> tensor<46x56xf32>
  return %9 : tensor<46x56xf32>
}

// Somebody else reads the concatenation: it is made as a whole.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK:         %[[WHOLE:.*]] = call @{{.*}} -> tensor<40x50xf32>
// CHECK:         call @{{.*}}(%[[WHOLE]]) : (tensor<40x50xf32>) -> tensor<40x50xf32>
func.func @read_elsewhere(%x: tensor<40x50xf32>) -> (tensor<40x50xf32>, tensor<40x50xf32>) {
  %0 = stablehlo.slice %x [37:40, 0:50] : (tensor<40x50xf32>) -> tensor<3x50xf32>
  %1 = stablehlo.slice %x [0:37, 0:50] : (tensor<40x50xf32>) -> tensor<37x50xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x50xf32>, tensor<37x50xf32>) -> tensor<40x50xf32>
  %3 = stablehlo.slice %2 [0:40, 45:50] : (tensor<40x50xf32>) -> tensor<40x5xf32>
  %4 = stablehlo.slice %2 [0:40, 0:45] : (tensor<40x50xf32>) -> tensor<40x45xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<40x5xf32>, tensor<40x45xf32>) -> tensor<40x50xf32>
  return %2, %5 : tensor<40x50xf32>, tensor<40x50xf32>
}
