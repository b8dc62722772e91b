// RUN: xla-opt %s -xla-emit-kernels=target=avx512 -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-emit-kernels=target=avx512 -split-input-file | FileCheck %s --check-prefix=LOADS
// RUN: xla-opt %s -xla-emit-kernels=target=avx2 -split-input-file | FileCheck %s --check-prefix=AVX2

#rc = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>

// Softmax: three sweeps over a row of 1024 in strips of vectors; exp is computed once and kept in scratch. Meanwhile the next row comes
// into the cache.
// CHECK-LABEL: func.func private @softmax_range(
// CHECK-SAME:    millrace.emitter = "row", millrace.range_end = 64 : i64, millrace.scratch_bytes = 4096 : i64
// CHECK:         %[[ROW:.*]] = memref.view
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} iter_args
// CHECK-NOT:         arith.maximumf
// CHECK:             %[[IS:.*]] = arith.cmpf ogt, %[[X:[^,]*]], %[[BEST:[^ ]*]] : vector<16xf32>
// CHECK:             arith.select %[[IS]], %[[X]], %[[BEST]]
// CHECK:             arith.andi {{.*}} : vector<16xi32>
// CHECK:             %[[NAN:.*]] = arith.cmpf uno, %[[X]], %{{.*}} : vector<16xf32>
// CHECK:             arith.ori %{{.*}}, %[[NAN]] : vector<16xi1>
// CHECK:           vector.shuffle
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             %[[NEXT:.*]] = arith.addi %{{.*}}, %c1024
// CHECK:             memref.prefetch %arg0[%[[NEXT]]], read, locality<3>, data
// CHECK:             math.exp {{.*}} : vector<16xf32>
// CHECK:             vector.store %{{.*}}, %[[ROW]]
// CHECK:             arith.addf {{.*}} : vector<16xf32>
// CHECK:           scf.for
// CHECK-NOT:         math.exp
// CHECK-NOT:         memref.prefetch
// CHECK:             vector.load %[[ROW]]
// CHECK:             arith.divf {{.*}} : vector<16xf32>
func.func private @softmax(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> attributes {millrace.kernel} {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<64xf32>
  %erc = tensor.empty() : tensor<64x1024xf32>
  %fm = linalg.fill ins(%ninf : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.reduce ins(%x : tensor<64x1024xf32>) outs(%fm : tensor<64xf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.maximumf %in, %acc : f32 linalg.yield %a : f32 }
  %e = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%x, %m : tensor<64x1024xf32>, tensor<64xf32>) outs(%erc : tensor<64x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %v = math.exp %d : f32
      linalg.yield %v : f32
  } -> tensor<64x1024xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce ins(%e : tensor<64x1024xf32>) outs(%fs : tensor<64xf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  %q = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]}
    ins(%e, %s : tensor<64x1024xf32>, tensor<64xf32>) outs(%erc : tensor<64x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.divf %a, %b : f32
      linalg.yield %v : f32
  } -> tensor<64x1024xf32>
  return %q : tensor<64x1024xf32>
}

// -----

// A sum over rows keeps the columns in the lanes: no combination across lanes; the last 4 columns are masked.
// CHECK-LABEL: func.func private @column_sum_range(
// CHECK-SAME:    millrace.range_end = 2 : i64
// CHECK:         scf.for {{.*}} iter_args
// CHECK-COUNT-4:   vector.load
// CHECK:         vector.maskedload
// CHECK-NOT:     vector.shuffle
func.func private @column_sum(%x: tensor<50x100xf32>) -> tensor<100xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %s = linalg.reduce ins(%x : tensor<50x100xf32>) outs(%f : tensor<100xf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s : tensor<100xf32>
}

// -----

// 20 vectors of each row in pieces of 5: two for each of two threads.
// CHECK-LABEL: func.func private @even_column_sum_range(
// CHECK-SAME:    millrace.range_end = 4 : i64
// CHECK-COUNT-5:   vector.load
// CHECK-NOT:       vector.load
func.func private @even_column_sum(%x: tensor<50x320xf32>) -> tensor<320xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<320xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<320xf32>) -> tensor<320xf32>
  %s = linalg.reduce ins(%x : tensor<50x320xf32>) outs(%f : tensor<320xf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s : tensor<320xf32>
}

// -----

// Wide columns are two chunks for two threads: six rows at a time are added to sums in scratch, then the five that are left.
// CHECK-LABEL: func.func private @wide_column_sum_range(
// CHECK-SAME:    millrace.range_end = 2 : i64
// CHECK-SAME:    millrace.scratch_bytes = 4352 : i64
// CHECK:         %[[SIX:.+]] = arith.constant 6 : index
// CHECK:         memref.view
// CHECK:         scf.for {{.*}} step %[[SIX]]
// CHECK-COUNT-28:   vector.load
// CHECK-COUNT-4:    vector.store
// CHECK-NOT:     iter_args
func.func private @wide_column_sum(%x: tensor<47x2048xf32>) -> tensor<2048xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048xf32>) -> tensor<2048xf32>
  %s = linalg.reduce ins(%x : tensor<47x2048xf32>) outs(%f : tensor<2048xf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %s : tensor<2048xf32>
}

// -----

// An elementwise kernel of any rank is one loop over all elements.
// CHECK-LABEL: func.func private @negate_range(
// CHECK-SAME:    memref<24000xf32>
// CHECK-SAME:    millrace.range_end = 6 : i64
func.func private @negate(%x: tensor<20x30x40xf32>) -> tensor<20x30x40xf32> attributes {millrace.kernel} {
  %e = tensor.empty() : tensor<20x30x40xf32>
  %s = linalg.map { arith.negf } ins(%x : tensor<20x30x40xf32>) outs(%e : tensor<20x30x40xf32>)
  return %s : tensor<20x30x40xf32>
}

// -----

// Not a kernel: left alone.
// CHECK-LABEL: func.func @not_a_kernel
// CHECK:         linalg.map
func.func @not_a_kernel(%x: tensor<20xf32>) -> tensor<20xf32> {
  %e = tensor.empty() : tensor<20xf32>
  %s = linalg.map { arith.negf } ins(%x : tensor<20xf32>) outs(%e : tensor<20xf32>)
  return %s : tensor<20xf32>
}

// -----

// A gather of rows: the index is a scalar, the row's vectors are plain loads.
// CHECK-LABEL: func.func private @gather_rows_range(
// CHECK-SAME:    millrace.emitter = "row"
// CHECK:         memref.load %{{.*}} : memref<24xi64>
// CHECK:         arith.minsi {{.*}} : index
// CHECK:         vector.load %{{.*}} : memref<6400xf32>, vector<16xf32>
// CHECK:         vector.store %{{.*}} : memref<1536xf32>, vector<16xf32>
// CHECK-NOT:     vector.extract
func.func private @gather_rows(%t: tensor<100x64xf32>, %i: tensor<24xi64>) -> tensor<24x64xf32> attributes {millrace.kernel} {
  %c0 = arith.constant 0 : index
  %c99 = arith.constant 99 : index
  %e = tensor.empty() : tensor<24x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<24x64xf32>) {
  ^bb0(%out: f32):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %x = tensor.extract %i[%row] : tensor<24xi64>
    %at = arith.index_cast %x : i64 to index
    %low = arith.maxsi %at, %c0 : index
    %high = arith.minsi %low, %c99 : index
    %v = tensor.extract %t[%high, %column] : tensor<100x64xf32>
    linalg.yield %v : f32
  } -> tensor<24x64xf32>
  return %r : tensor<24x64xf32>
}

// -----

// Every lane has an index of its own: the indices are a vector, and so are the elements. LLVM takes the gather apart where it is slow.
// CHECK-LABEL: func.func private @gather_elements_range(
// CHECK-SAME:    millrace.emitter = "row"
// CHECK:         vector.load %{{.*}} : memref<2048xi32>, vector<16xi32>
// CHECK:         arith.minsi {{.*}} : vector<16xindex>
// CHECK:         vector.gather %{{.*}} : memref<2048xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK:         vector.store %{{.*}} : memref<2048xf32>, vector<16xf32>
func.func private @gather_elements(%t: tensor<16x128xf32>, %i: tensor<16x128xi32>) -> tensor<16x128xf32> attributes {millrace.kernel} {
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %e = tensor.empty() : tensor<16x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x128xf32>) {
  ^bb0(%out: f32):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %x = tensor.extract %i[%row, %column] : tensor<16x128xi32>
    %at = arith.index_cast %x : i32 to index
    %low = arith.maxsi %at, %c0 : index
    %high = arith.minsi %low, %c127 : index
    %v = tensor.extract %t[%row, %high] : tensor<16x128xf32>
    linalg.yield %v : f32
  } -> tensor<16x128xf32>
  return %r : tensor<16x128xf32>
}

// -----

// All rows have elements at the same positions: a vector of them that lies within one vector of the row is loaded and permuted, others are gathered. In
// the last vector of 33 columns one lane exists.
// CHECK-LABEL: func.func private @gather_columns_range(
// CHECK-SAME:    millrace.emitter = "row"
// CHECK:         %[[ALL:.*]] = vector.reduction <and>, %{{.*}} : vector<16xi1> into i1
// CHECK-NEXT:    scf.if %[[ALL]] -> (vector<16xf32>) {
// CHECK-NEXT:      %[[NEAR:.*]] = vector.load %arg0{{.*}} : memref<2048xf32>, vector<16xf32>
// CHECK-NEXT:      llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[NEAR]], %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK:         } else {
// CHECK-NEXT:      vector.gather %arg0
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi1>, vector<16xi32>
// AVX2-LABEL:    func.func private @gather_columns_range(
// AVX2:          llvm.call_intrinsic "llvm.x86.avx2.permps"(%{{.*}}, %{{.*}}) : (vector<8xf32>, vector<8xi32>) -> vector<8xf32>
func.func private @gather_columns(%t: tensor<16x128xf32>, %i: tensor<33xi32>) -> tensor<16x33xf32> attributes {millrace.kernel} {
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %e = tensor.empty() : tensor<16x33xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x33xf32>) {
  ^bb0(%out: f32):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %x = tensor.extract %i[%column] : tensor<33xi32>
    %at = arith.index_cast %x : i32 to index
    %low = arith.maxsi %at, %c0 : index
    %high = arith.minsi %low, %c127 : index
    %v = tensor.extract %t[%row, %high] : tensor<16x128xf32>
    linalg.yield %v : f32
  } -> tensor<16x33xf32>
  return %r : tensor<16x33xf32>
}

// -----

// Rows of three: lanes are neighbouring rows, read as three vectors of which none reaches beyond the last row, and shuffled.
#x = affine_map<(d0, d1) -> (d0, d1)>
#y = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func private @short_rows_range(
// CHECK-NOT:     memref.load
// CHECK-COUNT-3: vector.load %arg0{{.*}} vector<16xf32>
// CHECK-NOT:     memref.load
// CHECK:         vector.store
func.func private @short_rows(%x: tensor<64x3xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<64x3xf32>) outs(%f : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %a = arith.addf %acc, %in : f32
      linalg.yield %a : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

#x = affine_map<(b, n, k) -> (b, k, n)>
#w = affine_map<(b, n, k) -> (k, n)>
#o = affine_map<(b, n, k) -> (b, n)>

// Nothing of x is read again: one b after the other, although all share w.
// CHECK-LABEL: func.func private @read_once_range(
// CHECK:         scf.for {{.*}} iter_args
// CHECK-COUNT-4:   vector.fma
// CHECK-NOT:       vector.fma
func.func private @read_once(%x: tensor<8x100x64xf32>, %w: tensor<100x64xf32>) -> tensor<8x64xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8x100x64xf32>, tensor<100x64xf32>) outs(%f : tensor<8x64xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %acc, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %s : tensor<8x64xf32>
}

// -----

#x = affine_map<(q, c, r) -> (q + r, c)>
#w = affine_map<(q, c, r) -> (r, c)>
#o = affine_map<(q, c, r) -> (q, c)>

// A window of seventeen in parts: a loop of two parts of six, five products behind it.
// CHECK-LABEL: func.func private @long_window_range(
// CHECK:         scf.for {{.*}} = %c0 to %c12 step %c6 iter_args
// CHECK-COUNT-48:  vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           scf.yield
// CHECK-COUNT-40: vector.fma
// CHECK-NOT:     vector.fma
func.func private @long_window(%x: tensor<32x64xf32>, %k: tensor<17x64xf32>) -> tensor<16x64xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %s = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %k : tensor<32x64xf32>, tensor<17x64xf32>) outs(%f : tensor<16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %acc, %p : f32
      linalg.yield %t : f32
  } -> tensor<16x64xf32>
  return %s : tensor<16x64xf32>
}

// -----

#x = affine_map<(n, q, c, r) -> (n, q + r, c)>
#w = affine_map<(n, q, c, r) -> (r, c)>
#o = affine_map<(n, q, c, r) -> (n, q, c)>

// Depthwise: two vectors of channels at four neighbours, whose windows of three find most elements again: six loads of each vector of x, not 12,
// and three of w. The two pieces of the 64 channels count up after the four blocks of a row, before the batch.
// CHECK-LABEL: func.func private @depthwise_range(
// CHECK-SAME:    millrace.emitter = "row", millrace.range_end = 24 : i64
// CHECK:         %[[BLOCK:.*]] = arith.remui %[[I:.*]], %c4
// CHECK:         %[[REST:.*]] = arith.divui %[[I]], %c4
// CHECK:         arith.remui %[[REST]], %c2
// CHECK-NOT:     scf.for
// CHECK-COUNT-24: vector.fma
// CHECK-NOT:     vector.fma
// CHECK-COUNT-8: vector.store
// CHECK-NOT:     vector.store
// LOADS-LABEL: func.func private @depthwise_range(
// LOADS-COUNT-18: vector.load
// LOADS-NOT:     vector.load
func.func private @depthwise(%x: tensor<3x18x64xf32>, %k: tensor<3x64xf32>) -> tensor<3x16x64xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x16x64xf32>) -> tensor<3x16x64xf32>
  %s = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %k : tensor<3x18x64xf32>, tensor<3x64xf32>) outs(%f : tensor<3x16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %acc, %p : f32
      linalg.yield %t : f32
  } -> tensor<3x16x64xf32>
  return %s : tensor<3x16x64xf32>
}
