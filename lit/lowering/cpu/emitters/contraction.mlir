// RUN: xla-opt %s -xla-emit-kernels=target=avx512 -split-input-file | FileCheck %s

// A product with bias and relu: 8x48 tiles, b packed into scratch, one loop over k, consumers on the accumulators.
// CHECK-LABEL: func.func private @fused_range(
// CHECK-SAME:    memref<65536xf32>, %{{.*}}: memref<24576xf32>, %{{.*}}: memref<96xf32>, %{{.*}}: memref<24576xf32>, %[[SCRATCH:.*]]: memref<?xi8>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    millrace.emitter = "contraction"
// CHECK:         %[[PACKED:.*]] = memref.view %[[SCRATCH]]
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:           vector.store %{{.*}}, %[[PACKED]]
// CHECK:             scf.for {{.*}} iter_args
// CHECK:               vector.load %[[PACKED]]
// CHECK-COUNT-24:      vector.fma
// CHECK-NOT:           vector.fma
// CHECK:             arith.addf {{.*}} : vector<16xf32>
// CHECK-NEXT:        arith.maximumf {{.*}} : vector<16xf32>
// CHECK:             vector.store
// CHECK-NOT:     linalg
func.func private @fused(%a: tensor<256x256xf32>, %b: tensor<256x96xf32>, %bias: tensor<96xf32>) -> tensor<256x96xf32>
    attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x96xf32>) -> tensor<256x96xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x96xf32>) outs(%f : tensor<256x96xf32>) -> tensor<256x96xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : tensor<256x96xf32>, tensor<96xf32>) outs(%e : tensor<256x96xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
  } -> tensor<256x96xf32>
  return %d : tensor<256x96xf32>
}

// -----

// Several panels of a large matrix: while some are multiplied, two k at a time, the next ones are asked for and packed.
// CHECK-LABEL: func.func private @packed_ahead_range(
// CHECK:         scf.for
// CHECK-COUNT-6:   vector.store
// CHECK:             scf.for {{.*}} iter_args
// CHECK:               memref.prefetch %arg1[{{.*}}], read, locality<2>, data
// CHECK-COUNT-48:      vector.fma
// CHECK-NOT:           vector.fma
func.func private @packed_ahead(%a: tensor<128x512xf32>, %b: tensor<512x768xf32>) -> tensor<128x768xf32>
    attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x768xf32>) -> tensor<128x768xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x512xf32>, tensor<512x768xf32>) outs(%f : tensor<128x768xf32>) -> tensor<128x768xf32>
  return %c : tensor<128x768xf32>
}

// -----

// An optimizer's step behind the gradient of a large weight: while a tile is multiplied, four k at a time, the lines of the weight and of both results
// are asked for.
// CHECK-LABEL: func.func private @update_of_large_range(
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           arith.minui
// CHECK-DAG:       memref.prefetch %arg2[{{.*}}], read, locality<3>, data
// CHECK-DAG:       memref.prefetch %arg3[{{.*}}], write, locality<3>, data
// CHECK-DAG:       memref.prefetch %arg4[{{.*}}], write, locality<3>, data
// CHECK-COUNT-96:  vector.fma
// CHECK-NOT:       vector.fma
func.func private @update_of_large(%a: tensor<1024x256xf32>, %b: tensor<256x2304xf32>, %p: tensor<1024x2304xf32>)
    -> (tensor<1024x2304xf32>, tensor<1024x2304xf32>) attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x2304xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x2304xf32>) -> tensor<1024x2304xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1024x256xf32>, tensor<256x2304xf32>) outs(%f : tensor<1024x2304xf32>) -> tensor<1024x2304xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p, %c : tensor<1024x2304xf32>, tensor<1024x2304xf32>) outs(%e : tensor<1024x2304xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.subf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<1024x2304xf32>
  return %d, %c : tensor<1024x2304xf32>, tensor<1024x2304xf32>
}

// -----

// The same of a small weight, which the caches hold: not so.
// CHECK-LABEL: func.func private @update_of_small_range(
// CHECK-NOT:     locality<3>
// CHECK:         vector.fma
func.func private @update_of_small(%a: tensor<128x256xf32>, %b: tensor<256x192xf32>, %p: tensor<128x192xf32>)
    -> (tensor<128x192xf32>, tensor<128x192xf32>) attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x192xf32>) -> tensor<128x192xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x256xf32>, tensor<256x192xf32>) outs(%f : tensor<128x192xf32>) -> tensor<128x192xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p, %c : tensor<128x192xf32>, tensor<128x192xf32>) outs(%e : tensor<128x192xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.subf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<128x192xf32>
  return %d, %c : tensor<128x192xf32>, tensor<128x192xf32>
}

// -----

// The k are odd: not so.
// CHECK-LABEL: func.func private @packed_before_range(
// CHECK-NOT:     locality<2>
// CHECK-COUNT-24: vector.fma
// CHECK-NOT:     vector.fma
func.func private @packed_before(%a: tensor<128x511xf32>, %b: tensor<511x768xf32>) -> tensor<128x768xf32>
    attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x768xf32>) -> tensor<128x768xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x511xf32>, tensor<511x768xf32>) outs(%f : tensor<128x768xf32>) -> tensor<128x768xf32>
  return %c : tensor<128x768xf32>
}

// -----

// Weights in rows of k (a linear layer's layout) are transposed by shuffles while packing.
// CHECK-LABEL: func.func private @transposed_weights_range(
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT:      vector.shuffle
func.func private @transposed_weights(%a: tensor<64x32xf32>, %b: tensor<96x32xf32>) -> tensor<64x96xf32>
    attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<64x32xf32>, tensor<96x32xf32>) outs(%f : tensor<64x96xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<64x96xf32>
  return %c : tensor<64x96xf32>
}

// -----

// Seven vectors of columns: the last of two panels has three of them and code of its own, with fewer products.
// CHECK-LABEL: func.func private @narrow_panel_range(
// CHECK:         scf.if
// CHECK-COUNT-18:  vector.fma
// CHECK-NOT:       vector.fma
// CHECK:         else
// CHECK-COUNT-24:  vector.fma
// CHECK-NOT:       vector.fma
func.func private @narrow_panel(%a: tensor<200x100xf32>, %b: tensor<100x100xf32>) -> tensor<200x100xf32>
    attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x100xf32>) -> tensor<200x100xf32>
  %c = linalg.matmul ins(%a, %b : tensor<200x100xf32>, tensor<100x100xf32>) outs(%f : tensor<200x100xf32>) -> tensor<200x100xf32>
  return %c : tensor<200x100xf32>
}

// -----

// One row is bandwidth-bound: a dot product per column, by the row emitter.
// CHECK-LABEL: func.func private @one_row_range(
// CHECK-SAME:    millrace.emitter = "row"
func.func private @one_row(%a: tensor<1x128xf32>, %b: tensor<128x128xf32>) -> tensor<1x128xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128xf32>) -> tensor<1x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1x128xf32>, tensor<128x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %c : tensor<1x128xf32>
}

// -----

// A gate that another buffer has: its function is computed row by row of a tile, not for all sums of the tile while they fill the registers.
// CHECK-LABEL: func.func private @gated_range(
// CHECK-COUNT-24: vector.fma
// CHECK:       scf.for
// CHECK-COUNT-3: math.exp
// CHECK-NOT:   math.exp
func.func private @gated(%a: tensor<256x256xf32>, %b: tensor<256x96xf32>, %gate: tensor<256x96xf32>) -> tensor<256x96xf32>
    attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<256x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x96xf32>) -> tensor<256x96xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x96xf32>) outs(%f : tensor<256x96xf32>) -> tensor<256x96xf32>
  %open = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%gate : tensor<256x96xf32>) outs(%e : tensor<256x96xf32>) {
    ^bb0(%x: f32, %o: f32):
      %n = arith.negf %x : f32
      %exp = math.exp %n : f32
      %d = arith.addf %exp, %one : f32
      %q = arith.divf %one, %d : f32
      linalg.yield %q : f32
  } -> tensor<256x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c, %open : tensor<256x96xf32>, tensor<256x96xf32>) outs(%e : tensor<256x96xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      linalg.yield %p : f32
  } -> tensor<256x96xf32>
  return %r : tensor<256x96xf32>
}

// -----

// While products are added up subnormal numbers are zeros: not before, where factors are computed, and not in the consumers.
// CHECK-LABEL: func.func private @flushes_tiles_range(
// CHECK:         call_intrinsic "llvm.x86.sse.stmxcsr"
// CHECK:         scf.for
// CHECK:           arith.divf
// CHECK:           call_intrinsic "llvm.x86.sse.ldmxcsr"
// CHECK:           scf.for
// CHECK-COUNT-24:    vector.fma
// CHECK:           llvm.inline_asm has_side_effects "", "=v,0"
// CHECK:           call_intrinsic "llvm.x86.sse.ldmxcsr"
// CHECK-COUNT-24:  llvm.inline_asm has_side_effects "", "=v,0"
// CHECK-NOT:       llvm.inline_asm
// CHECK:           arith.mulf
// CHECK-NOT:       mxcsr
func.func private @flushes_tiles(%a: tensor<24x192xf32>, %b: tensor<192x32xf32>) -> tensor<24x32xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %n = tensor.empty() : tensor<192x32xf32>
  %e = tensor.empty() : tensor<24x32xf32>
  %part = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%b : tensor<192x32xf32>) outs(%n : tensor<192x32xf32>) {
    ^bb0(%x: f32, %o: f32):
      %q = arith.divf %x, %three : f32
      linalg.yield %q : f32
  } -> tensor<192x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
  %c = linalg.matmul ins(%a, %part : tensor<24x192xf32>, tensor<192x32xf32>) outs(%f : tensor<24x32xf32>) -> tensor<24x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%c : tensor<24x32xf32>) outs(%e : tensor<24x32xf32>) {
    ^bb0(%x: f32, %o: f32):
      %p = arith.mulf %x, %three : f32
      linalg.yield %p : f32
  } -> tensor<24x32xf32>
  return %r : tensor<24x32xf32>
}

// -----

// Tiles without consumers follow each other in one such stretch.
// CHECK-LABEL: func.func private @flushes_panels_range(
// CHECK:         call_intrinsic "llvm.x86.sse.stmxcsr"
// CHECK:           call_intrinsic "llvm.x86.sse.ldmxcsr"
// CHECK:           scf.for
// CHECK-NOT:         mxcsr
// CHECK:             scf.for
// CHECK:               vector.fma
// CHECK-NOT:         mxcsr
// CHECK:             vector.store
// CHECK:           call_intrinsic "llvm.x86.sse.ldmxcsr"
// CHECK-NOT:       mxcsr
func.func private @flushes_panels(%a: tensor<96x48xf32>, %b: tensor<48x64xf32>) -> tensor<96x64xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<96x48xf32>, tensor<48x64xf32>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %c : tensor<96x64xf32>
}

// -----

// Short stretches keep them.
// CHECK-LABEL: func.func private @keeps_subnormals_range(
// CHECK-NOT:     mxcsr
// CHECK:         vector.fma
// CHECK-NOT:     mxcsr
func.func private @keeps_subnormals(%a: tensor<8x63xf32>, %b: tensor<63x32xf32>) -> tensor<8x32xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x63xf32>, tensor<63x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %c : tensor<8x32xf32>
}

// -----

// 3 rows of the product for each of up to 120 rows, whose number is the last argument: whole tiles of 8 rows, then tiles of 2, and at last one row,
// because nothing may be read or written behind the last one.
// CHECK-LABEL: func.func private @open_range(
// CHECK-SAME:    %{{.*}}: index, %{{.*}}: index, %[[ROWS:.*]]: index)
// CHECK:         arith.muli %[[ROWS]], %c3
// CHECK:         arith.minui
// CHECK:           scf.for {{.*}} step %c8
// CHECK-COUNT-24:    vector.fma
// CHECK-NOT:         vector.fma
// CHECK:           scf.for {{.*}} step %c2
// CHECK-COUNT-6:     vector.fma
// CHECK-NOT:         vector.fma
// CHECK:           scf.for {{.*}} step %c1
// CHECK-COUNT-3:     vector.fma
// CHECK-NOT:         vector.fma
// CHECK:         return
func.func private @open(%a: tensor<360x256xf32>, %b: tensor<256x96xf32>) -> tensor<360x96xf32>
    attributes {millrace.kernel, millrace.rows = array<i64: 120, 288>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<360x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<360x96xf32>) -> tensor<360x96xf32>
  %c = linalg.matmul ins(%a, %b : tensor<360x256xf32>, tensor<256x96xf32>) outs(%f : tensor<360x96xf32>) -> tensor<360x96xf32>
  return %c : tensor<360x96xf32>
}
