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

// -----

// Pairs along the last dimension: both vectors of an iteration's columns, then their lanes in turns.
// CHECK-LABEL: func.func private @interleave_range(
// CHECK-SAME:    millrace.emitter = "movement"
// CHECK-COUNT-2: vector.load
// CHECK-COUNT-2: vector.shuffle
// CHECK-COUNT-2: vector.store
// CHECK-NOT:     vector.extract
func.func private @interleave(%x: tensor<8x2x64xf32>) -> tensor<8x64x2xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<8x64x2xf32>
  %t = linalg.transpose ins(%x : tensor<8x2x64xf32>) outs(%e : tensor<8x64x2xf32>) permutation = [0, 2, 1]
  return %t : tensor<8x64x2xf32>
}

// -----

// Three pixels' colours, the last columns once more: 50 is no multiple of 16.
// CHECK-LABEL: func.func private @colours_range(
// CHECK-SAME:    millrace.emitter = "movement"
// CHECK-COUNT-3: vector.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: vector.store
// CHECK-NOT:     vector.extract
func.func private @colours(%x: tensor<3x50xf32>) -> tensor<50x3xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<50x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x50xf32>) outs(%e : tensor<50x3xf32>) permutation = [1, 0]
  return %t : tensor<50x3xf32>
}

// -----

// Colours scaled each by its number: three vectors of every third element, written in turns; 50 is no multiple of 16.
// CHECK-LABEL: func.func private @scaled_colours_range(
// CHECK-SAME:    millrace.emitter = "movement"
// CHECK:         vector.shuffle
// CHECK-COUNT-3: vector.store
// CHECK-NOT:     masked
// CHECK:         return
func.func private @scaled_colours(%x: tensor<50x3xf32>, %s: tensor<3xf32>) -> tensor<50x3xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<50x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(p, c) -> (p, c)>, affine_map<(p, c) -> (c)>, affine_map<(p, c) -> (p, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<50x3xf32>, tensor<3xf32>) outs(%e : tensor<50x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<50x3xf32>
  return %t : tensor<50x3xf32>
}

// -----

// Stacked along the last dimension, written in turns.
// CHECK-LABEL: func.func private @stack_range(
// CHECK-SAME:    millrace.emitter = "row"
// CHECK:         vector.shuffle
// CHECK:         vector.store
// CHECK-NOT:     vector.extract
// CHECK:         return
func.func private @stack(%x: tensor<64x1xf32>, %y: tensor<64x1xf32>) -> tensor<64x2xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<64x2xf32>
  %p = tensor.insert_slice %x into %e[0, 0] [64, 1] [1, 1] : tensor<64x1xf32> into tensor<64x2xf32>
  %q = tensor.insert_slice %y into %p[0, 1] [64, 1] [1, 1] : tensor<64x1xf32> into tensor<64x2xf32>
  return %q : tensor<64x2xf32>
}

// -----

// Pieces that have no index in common are two parts of the range: units of the first one, then those of the second.
// CHECK-LABEL: func.func private @rows_range(
// CHECK-SAME:    millrace.emitter = "row", millrace.range_end = {{[0-9][0-9]+}} : i64
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         scf.for
// CHECK:         vector.load %arg0
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         scf.for
// CHECK:         vector.load %arg1
func.func private @rows(%x: tensor<100x301xf32>, %y: tensor<200x301xf32>) -> tensor<300x301xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<300x301xf32>
  %p = tensor.insert_slice %x into %e[0, 0] [100, 301] [1, 1] : tensor<100x301xf32> into tensor<300x301xf32>
  %q = tensor.insert_slice %y into %p[100, 0] [200, 301] [1, 1] : tensor<200x301xf32> into tensor<300x301xf32>
  return %q : tensor<300x301xf32>
}

// -----

// What is joined may be joined itself.
// CHECK-LABEL: func.func private @nested_range(
// CHECK-SAME:    millrace.emitter = "row"
// CHECK:         memref<18000xf32>
func.func private @nested(%x: tensor<60x300xf32>) -> tensor<60x300xf32> attributes {millrace.kernel} {
  %a = tensor.extract_slice %x[0, 0] [59, 200] [1, 1] : tensor<60x300xf32> to tensor<59x200xf32>
  %b = tensor.extract_slice %x[59, 0] [1, 200] [1, 1] : tensor<60x300xf32> to tensor<1x200xf32>
  %c = tensor.extract_slice %x[0, 200] [60, 100] [1, 1] : tensor<60x300xf32> to tensor<60x100xf32>
  %e = tensor.empty() : tensor<60x200xf32>
  %p = tensor.insert_slice %b into %e[0, 0] [1, 200] [1, 1] : tensor<1x200xf32> into tensor<60x200xf32>
  %q = tensor.insert_slice %a into %p[1, 0] [59, 200] [1, 1] : tensor<59x200xf32> into tensor<60x200xf32>
  %f = tensor.empty() : tensor<60x300xf32>
  %r = tensor.insert_slice %c into %f[0, 0] [60, 100] [1, 1] : tensor<60x100xf32> into tensor<60x300xf32>
  %s = tensor.insert_slice %q into %r[0, 100] [60, 200] [1, 1] : tensor<60x200xf32> into tensor<60x300xf32>
  return %s : tensor<60x300xf32>
}
