// RUN: xla-opt %s -xla-emit-kernels=target=avx512 -split-input-file | FileCheck %s

// A transpose reads 16 vectors, exchanges lanes in 4 rounds of 16 shuffles and writes 16 vectors.
// CHECK-LABEL: func.func private @transpose_range(
// CHECK-SAME:    millrace.emitter = "movement", millrace.range_end = 2 : i64
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
func.func private @transpose(%x: tensor<128x64xf32>) -> tensor<64x128xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%x : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  return %t : tensor<64x128xf32>
}

// -----

// A concatenation is one store per piece.
// CHECK-LABEL: func.func private @concatenate_range(
// CHECK-SAME:    millrace.emitter = "row", millrace.range_end = 4 : i64
// CHECK:         vector.store
// CHECK:         vector.store
func.func private @concatenate(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x32xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<4x32xf32>
  %p = tensor.insert_slice %x into %e[0, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<4x32xf32>
  %q = tensor.insert_slice %y into %p[0, 16] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<4x32xf32>
  return %q : tensor<4x32xf32>
}

// -----

// Weights of a convolution: 9 elements and the 32 input channels are read as one index of 288; where a row of 16 elements goes is
// divided out.
// CHECK-LABEL: func.func private @weights_range(
// CHECK-SAME:    millrace.emitter = "movement"
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c288
// CHECK-NOT:     vector.maskedload
// CHECK:         arith.divui %{{.*}}, %c9
// CHECK:         vector.store
func.func private @weights(%x: tensor<64x32x9xf32>) -> tensor<9x32x64xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<9x32x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x32x9xf32>) outs(%e : tensor<9x32x64xf32>) permutation = [2, 1, 0]
  return %t : tensor<9x32x64xf32>
}
