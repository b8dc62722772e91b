// RUN: xla-opt %s -xla-lower-to-linalg -xla-emit-kernels=target=avx2 -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-lower-to-linalg -xla-emit-kernels='target=avx512 emitter=attention' -split-input-file --remarks-filter-missed=emitters --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// 256 rows in tiles of 86, the scores of a tile in scratch: in all 273 KiB, where all scores would take 3 MiB.
// CHECK-LABEL: func.func private @softmax_range(
// CHECK-SAME:    millrace.emitter = "attention", millrace.range_end = 12 : i64, millrace.scratch_bytes = [[BYTES:[0-9]+]]
// CHECK:         scf.for
// Keys, transposed while packed; values.
// CHECK-COUNT-24:  vector.shuffle
// CHECK:           vector.store
// Rows of the query; scores.
// CHECK:           vector.store
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             vector.load
// CHECK-COUNT-12:    vector.fma
// One sweep per reduction, in place, and one for the weights.
// CHECK:           arith.maximumf {{.*}} vector<8xf32>
// CHECK:           math.exp {{.*}} vector<8xf32>
// CHECK:           %[[LARGE:.*]] = arith.cmpf oge, %[[SUM:.*]], %{{.*}} : vector<8xf32>
// CHECK:           %[[LEAST:.*]] = arith.mulf %[[SUM]], %{{.*}} : vector<8xf32>
// CHECK:           %[[LIMIT:.*]] = arith.select %[[LARGE]], %[[LEAST]], %[[ZERO:.*]] : vector<8xi1>, vector<8xf32>
// CHECK:           %[[SIZE:.*]] = math.absf %[[EXP:.*]] : vector<8xf32>
// CHECK:           %[[TINY:.*]] = arith.cmpf olt, %[[SIZE]], %[[LIMIT]]
// CHECK:           %[[X:.*]] = arith.select %[[TINY]], %[[ZERO]], %[[EXP]]
// CHECK:           arith.divf %[[X]], %[[SUM]] : vector<8xf32>
// The second product.
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-12:    vector.fma
// CHECK-NOT:     linalg
func.func private @softmax(%q: tensor<12x256x64xf32>, %k: tensor<12x256x64xf32>, %v: tensor<12x256x64xf32>) -> tensor<12x256x64xf32>
    attributes {millrace.kernel} {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<12x256x64xf32>, tensor<12x256x64xf32>) -> tensor<12x256x256xf32>
  %2 = stablehlo.reduce(%0 init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<12x256x256xf32>, tensor<f32>) -> tensor<12x256xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<12x256xf32>) -> tensor<12x256x256xf32>
  %4 = stablehlo.subtract %0, %3 : tensor<12x256x256xf32>
  %5 = stablehlo.exponential %4 : tensor<12x256x256xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<12x256x256xf32>, tensor<f32>) -> tensor<12x256xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<12x256xf32>) -> tensor<12x256x256xf32>
  %8 = stablehlo.divide %5, %7 : tensor<12x256x256xf32>
  %9 = stablehlo.dot_general %8, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<12x256x256xf32>, tensor<12x256x64xf32>) -> tensor<12x256x64xf32>
  return %9 : tensor<12x256x64xf32>
}

// -----

// Heads that share keys and values: their rows follow one another, keys are packed once for each of 2 pairs, not for 8 heads.
// CHECK-LABEL: func.func private @shared_keys_range(
// CHECK-SAME:    millrace.emitter = "attention", millrace.range_end = 2 : i64
func.func private @shared_keys(%q: tensor<2x4x16x8xf32>, %k: tensor<2x32x8xf32>, %v: tensor<2x32x8xf32>) -> tensor<2x4x16x8xf32>
    attributes {millrace.kernel} {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [3] x [2] : (tensor<2x4x16x8xf32>, tensor<2x32x8xf32>) -> tensor<2x4x16x32xf32>
  %1 = stablehlo.exponential %0 : tensor<2x4x16x32xf32>
  %2 = stablehlo.dot_general %1, %v, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<2x4x16x32xf32>, tensor<2x32x8xf32>) -> tensor<2x4x16x8xf32>
  return %2 : tensor<2x4x16x8xf32>
}

// -----

// WHY: Function=unrelated | Remark="attention: one sum of products is not a factor of the other
func.func private @unrelated(%a: tensor<32x8xf32>, %b: tensor<32x8xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) attributes {millrace.kernel} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x32xf32>
  %1 = stablehlo.dot_general %b, %a, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x32xf32>
  return %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// A causal mask: a tile of rows is computed with the keys that one of them reaches, and with all keys only if the others turn out to matter.
// CHECK-LABEL: func.func private @causal_range(
// CHECK:         arith.ceildivui
// CHECK:         %{{.*}} = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(%[[END:.*]] = %{{.*}}) -> (index)
// CHECK:           scf.if
// CHECK:             scf.for %{{.*}} = %c0 to %[[END]]
func.func private @causal(%q: tensor<96x8xf32>, %k: tensor<96x8xf32>, %v: tensor<96x8xf32>) -> tensor<96x8xf32> attributes {millrace.kernel} {
  %row = stablehlo.iota dim = 0 : tensor<96x96xi32>
  %column = stablehlo.iota dim = 1 : tensor<96x96xi32>
  %allowed = stablehlo.compare GE, %row, %column : (tensor<96x96xi32>, tensor<96x96xi32>) -> tensor<96x96xi1>
  %low = stablehlo.constant dense<-1.0e+30> : tensor<96x96xf32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<96x8xf32>, tensor<96x8xf32>) -> tensor<96x96xf32>
  %1 = stablehlo.select %allowed, %0, %low : tensor<96x96xi1>, tensor<96x96xf32>
  %2 = stablehlo.exponential %1 : tensor<96x96xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x8xf32>) -> tensor<96x8xf32>
  return %3 : tensor<96x8xf32>
}

// -----

// Gradients of keys: both products with the shape of the scores of a tile, in the sweep the weights of the rows, and what they add to
// sums that stay in scratch for all keys until the last tile.
// CHECK-LABEL: func.func private @gradient_range(
// CHECK-SAME:    millrace.emitter = "attention", millrace.range_end = 4 : i64
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} = %c0 to %c200 step
// CHECK:           vector.fma
// CHECK:           vector.fma
// CHECK:           math.exp
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             vector.fma
// CHECK-NOT:     linalg
func.func private @gradient(%q: tensor<4x200x16xf32>, %k: tensor<4x48x16xf32>, %v: tensor<4x48x16xf32>, %g: tensor<4x200x16xf32>) -> tensor<4x48x16xf32>
    attributes {millrace.kernel} {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x200x16xf32>, tensor<4x48x16xf32>) -> tensor<4x200x48xf32>
  %1 = stablehlo.exponential %0 : tensor<4x200x48xf32>
  %2 = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x200x16xf32>, tensor<4x48x16xf32>) -> tensor<4x200x48xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<4x200x48xf32>
  %4 = stablehlo.dot_general %3, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x200x48xf32>, tensor<4x200x16xf32>) -> tensor<4x48x16xf32>
  return %4 : tensor<4x48x16xf32>
}
