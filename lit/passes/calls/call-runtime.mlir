// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-call-runtime -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-call-runtime -split-input-file --remarks-filter-missed=xla-call-runtime -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// JAX's comparator: zeros and NaNs are made equal, then total order. Positions are not passed.
// CHECK-LABEL: func.func @argsort
// CHECK-NOT: stablehlo.iota
// CHECK: %[[S:.*]] = stablehlo.custom_call @millrace_sort(%arg0) {mhlo.backend_config = {descending = array<i64: 0>, dimension = 1 : i64, keys = array<i64: 0>, results = array<i64: -1>, total = array<i64: 0>}} : (tensor<2x1000xf32>) -> tensor<2x1000xi32>
// CHECK: return %[[S]]
func.func @argsort(%x: tensor<2x1000xf32>) -> tensor<2x1000xi32> {
  %i = stablehlo.iota dim = 1 : tensor<2x1000xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %0 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %0, %zero, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.select %2, %nan, %1 : tensor<i1>, tensor<f32>
    %4 = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.select %4, %zero, %b : tensor<i1>, tensor<f32>
    %6 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.select %6, %nan, %5 : tensor<i1>, tensor<f32>
    %8 = stablehlo.compare LT, %3, %7, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %8 : tensor<i1>
  }) : (tensor<2x1000xf32>, tensor<2x1000xi32>) -> (tensor<2x1000xf32>, tensor<2x1000xi32>)
  return %s#1 : tensor<2x1000xi32>
}

// -----

// First by the second operand descending, then by the first one; both are returned.
// CHECK-LABEL: func.func @two_keys
// CHECK: stablehlo.custom_call @millrace_sort(%arg1, %arg0) {mhlo.backend_config = {descending = array<i64: 1, 0>, dimension = 0 : i64, keys = array<i64: 0, 1>, results = array<i64: 1, 0>, total = array<i64: 0, 1>}}
func.func @two_keys(%x: tensor<100xf32>, %y: tensor<100xi8>) -> (tensor<100xf32>, tensor<100xi8>) {
  %s:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare LT, %d, %c, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %c, %d, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %3 = stablehlo.and %2, %0 : tensor<i1>
    %4 = stablehlo.or %1, %3 : tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<100xf32>, tensor<100xi8>) -> (tensor<100xf32>, tensor<100xi8>)
  return %s#0, %s#1 : tensor<100xf32>, tensor<100xi8>
}

// -----

// Equality of floats that is false for NaNs does not go with an order in which they are equal.
// CHECK-LABEL: func.func @unequal_nans
// CHECK: stablehlo.sort
func.func @unequal_nans(%x: tensor<100xf32>, %y: tensor<100xi8>) -> tensor<100xi8> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.sort stays: its comparator is no order of the operands"
  %s:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
    %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.and %2, %1 : tensor<i1>
    %4 = stablehlo.or %0, %3 : tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<100xf32>, tensor<100xi8>) -> (tensor<100xf32>, tensor<100xi8>)
  return %s#1 : tensor<100xi8>
}

// -----

// A few elements are sorted in a kernel; many short lines by the runtime.
// CHECK-LABEL: func.func @short
// CHECK: stablehlo.sort
// CHECK: stablehlo.custom_call @millrace_sort
func.func @short(%x: tensor<5x16xi32>, %y: tensor<5000x16xi32>) -> (tensor<5x16xi32>, tensor<5000x16xi32>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.sort stays: a kernel sorts a few lines of 16 elements faster"
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5x16xi32>) -> tensor<5x16xi32>
  %2 = "stablehlo.sort"(%y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<5000x16xi32>) -> tensor<5000x16xi32>
  return %0, %2 : tensor<5x16xi32>, tensor<5000x16xi32>
}

// -----

// CHECK-LABEL: func.func @fft
// CHECK: stablehlo.custom_call @millrace_fft(%arg0) {mhlo.backend_config = {length = array<i64: 8, 12>, type = "RFFT", wide = true}} : (tensor<3x8x12xf64>) -> tensor<3x8x7xcomplex<f64>>
func.func @fft(%x: tensor<3x8x12xf64>) -> tensor<3x8x7xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [8, 12] : (tensor<3x8x12xf64>) -> tensor<3x8x7xcomplex<f64>>
  return %0 : tensor<3x8x7xcomplex<f64>>
}

// -----

// Transposed, transformed and transposed back: the axes of the operand itself. A user who wants another order keeps the transposes.
// CHECK-LABEL: func.func @fft_of_other_axes
// CHECK: %[[Y:.*]] = stablehlo.custom_call @millrace_fft(%arg0) {mhlo.backend_config = {axes = array<i64: 2, 0>, length = array<i64: 6, 4>, type = "IFFT", wide = false}} : (tensor<4x5x6xcomplex<f32>>) -> tensor<4x5x6xcomplex<f32>>
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [2, 1, 0]
// CHECK: %[[Z:.*]] = stablehlo.custom_call @millrace_fft(%[[T]]) {mhlo.backend_config = {length = array<i64: 4>, type = "FFT", wide = false}}
// CHECK: %[[B:.*]] = stablehlo.transpose %[[Z]], dims = [0, 2, 1]
// CHECK: return %[[Y]], %[[B]]
func.func @fft_of_other_axes(%x: tensor<4x5x6xcomplex<f32>>) -> (tensor<4x5x6xcomplex<f32>>, tensor<6x4x5xcomplex<f32>>) {
  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<4x5x6xcomplex<f32>>) -> tensor<5x6x4xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IFFT, length = [6, 4] : (tensor<5x6x4xcomplex<f32>>) -> tensor<5x6x4xcomplex<f32>>
  %2 = stablehlo.transpose %1, dims = [2, 0, 1] : (tensor<5x6x4xcomplex<f32>>) -> tensor<4x5x6xcomplex<f32>>
  %3 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<4x5x6xcomplex<f32>>) -> tensor<6x5x4xcomplex<f32>>
  %4 = stablehlo.fft %3, type = FFT, length = [4] : (tensor<6x5x4xcomplex<f32>>) -> tensor<6x5x4xcomplex<f32>>
  %5 = stablehlo.transpose %4, dims = [0, 2, 1] : (tensor<6x5x4xcomplex<f32>>) -> tensor<6x4x5xcomplex<f32>>
  return %2, %5 : tensor<4x5x6xcomplex<f32>>, tensor<6x4x5xcomplex<f32>>
}

// -----

// Sums of at least a few thousand numbers; narrow integers are a kernel's.
// CHECK-LABEL: func.func @running_sums
// CHECK: stablehlo.custom_call @millrace_scan(%arg0, %{{.*}}) {mhlo.backend_config = {dimension = 1 : i64, reduction = "add", reverse = true}} : (tensor<64x100xf32>, tensor<f32>) -> tensor<64x100xf32>
// CHECK: stablehlo.reduce_window
func.func @running_sums(%x: tensor<64x100xf32>, %y: tensor<64x100xi8>) -> (tensor<64x100xf32>, tensor<64x100xi8>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i8>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [0, 99]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<64x100xf32>, tensor<f32>) -> tensor<64x100xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.reduce_window stays: its elements are not f16, bf16, f32, f64 or integers of at least 32 bits"
  %1 = "stablehlo.reduce_window"(%y, %none) <{padding = dense<[[0, 0], [0, 99]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 100>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %2 = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %2 : tensor<i8>
  }) : (tensor<64x100xi8>, tensor<i8>) -> tensor<64x100xi8>
  return %0, %1 : tensor<64x100xf32>, tensor<64x100xi8>
}

// -----

// A body of several operations: rows of a transposed table, few lines in blocks. One that the init value changes is no scan.
// CHECK-LABEL: func.func @running_others
// CHECK: %[[ROWS:.*]] = stablehlo.transpose %{{.*}}, dims = [2, 0, 1, 3] : (tensor<64x1x100x1xi32>) -> tensor<100x64x1x1xi32>
// CHECK: window_dimensions = array<i64: 100, 1>
// CHECK: : (tensor<100x64xi32>, tensor<i32>) -> tensor<100x64xi32>
// CHECK: stablehlo.reverse %{{.*}}, dims = [1] : tensor<1x8192x1xi32>
// CHECK: : (tensor<128x64xi32>, tensor<i32>) -> tensor<128x64xi32>
// CHECK: %[[BEFORE:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<64xi32>) -> tensor<128x64xi32>
// CHECK: %[[IS:.*]] = stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<128x64xi32>, tensor<128x64xi32>) -> tensor<128x64xi1>
// CHECK: stablehlo.select %[[IS]], %[[BEFORE]]
// CHECK: "stablehlo.reduce_window"(%arg0, %{{.*}}) <{padding = dense<{{\[}}[0, 0], [99, 0]]>
func.func @running_others(%x: tensor<64x100xi32>, %y: tensor<8192xi32>) -> (tensor<64x100xi32>, tensor<8192xi32>, tensor<64x100xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 100>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.compare EQ, %b, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }) : (tensor<64x100xi32>, tensor<i32>) -> tensor<64x100xi32>
  %1 = "stablehlo.reduce_window"(%y, %zero) <{padding = dense<[[0, 8191]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8192>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.compare EQ, %a, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.select %3, %b, %a : tensor<i1>, tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }) : (tensor<8192xi32>, tensor<i32>) -> tensor<8192xi32>
  %2 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 100>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.add %a, %b : tensor<i32>
    %4 = stablehlo.add %3, %one : tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }) : (tensor<64x100xi32>, tensor<i32>) -> tensor<64x100xi32>
  return %0, %1, %2 : tensor<64x100xi32>, tensor<8192xi32>, tensor<64x100xi32>
}

// -----

// JAX asks for vectors where it wants eigenvalues.
// CHECK-LABEL: func.func @eigenvalues
// CHECK: @lapack_ssyevd_ffi(%{{.*}}) {{.*}}mode = 78 : ui8
func.func @eigenvalues(%a: tensor<4x4xf32>) -> tensor<4xf32> {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @eigenvectors
// CHECK: @lapack_dsyevd_ffi(%{{.*}}) {{.*}}mode = 86 : ui8
func.func @eigenvectors(%a: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>) {
  %0:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>, tensor<i32>)
  return %0#0, %0#1 : tensor<4x4xf64>, tensor<4xf64>
}

// -----

// Real matrices row by row, whether the program says so or calls LAPACK, which wants them by columns.
// CHECK-LABEL: func.func @systems
// CHECK: stablehlo.custom_call @millrace_triangular_solve(%arg0, %arg1) {mhlo.backend_config = {left = true, lower = true, transposed = true, unit = false}} : (tensor<3x9x9xf32>, tensor<3x9x5xf32>) -> tensor<3x9x5xf32>
// CHECK: stablehlo.custom_call @millrace_triangular_solve(%arg0, %arg1) {mhlo.backend_config = {left = true, lower = false, transposed = false, unit = true}}
// CHECK: stablehlo.custom_call @millrace_cholesky(%arg0) {mhlo.backend_config = {lower = false}} : (tensor<3x9x9xf32>) -> (tensor<3x9x9xf32>, tensor<3xi32>)
// CHECK: stablehlo.custom_call @millrace_lu(%arg0) {mhlo.backend_config = {}} : (tensor<3x9x9xf32>) -> (tensor<3x9x9xf32>, tensor<3x9xi32>, tensor<3xi32>)
// CHECK: stablehlo.custom_call @millrace_cholesky(%arg0) {mhlo.backend_config = {lower = true}} : (tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
func.func @systems(%a: tensor<3x9x9xf32>, %b: tensor<3x9x5xf32>) -> (tensor<3x9x5xf32>, tensor<3x9x5xf32>, tensor<3x9x9xf32>, tensor<3x9xi32>, tensor<3x9x9xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x9x9xf32>, tensor<3x9x5xf32>) -> tensor<3x9x5xf32>
  %1 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8},
    operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]} : (tensor<3x9x9xf32>, tensor<3x9x5xf32>) -> tensor<3x9x5xf32>
  %2:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
    result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]} : (tensor<3x9x9xf32>) -> (tensor<3x9x9xf32>, tensor<3xi32>)
  %3:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
    result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<3x9x9xf32>) -> (tensor<3x9x9xf32>, tensor<3x9xi32>, tensor<3xi32>)
  %4 = stablehlo.cholesky %a, lower = true : (tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
  return %0, %1, %2#0, %3#1, %4 : tensor<3x9x5xf32>, tensor<3x9x5xf32>, tensor<3x9x9xf32>, tensor<3x9xi32>, tensor<3x9x9xf32>
}

// Other layouts, complex numbers, tiny matrices.
// CHECK-LABEL: func.func @other_matrices
// CHECK: @lapack_sgetrf_ffi
// CHECK: @lapack_cpotrf_ffi
// CHECK: stablehlo.cholesky
func.func @other_matrices(%a: tensor<9x9xf32>, %c: tensor<9x9xcomplex<f32>>, %t: tensor<100x3x3xf32>) -> (tensor<9x9xf32>, tensor<9x9xcomplex<f32>>, tensor<100x3x3xf32>) {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.custom_call stays: its matrices are not column-major"
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<9x9xf32>) -> (tensor<9x9xf32>, tensor<9xi32>, tensor<i32>)
  %1:2 = stablehlo.custom_call @lapack_cpotrf_ffi(%c) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<9x9xcomplex<f32>>) -> (tensor<9x9xcomplex<f32>>, tensor<i32>)
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.cholesky stays: a kernel computes matrices of 3 rows faster"
  %2 = stablehlo.cholesky %t, lower = true : (tensor<100x3x3xf32>) -> tensor<100x3x3xf32>
  return %0#0, %1#0, %2 : tensor<9x9xf32>, tensor<9x9xcomplex<f32>>, tensor<100x3x3xf32>
}

// -----

// Prefixes of narrow floats run in f32 and are rounded where they are written.
// CHECK-LABEL: func.func @narrow_prefixes
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<64x100xbf16>) -> tensor<64x100xf32>
// CHECK: %[[SCAN:.*]] = stablehlo.custom_call @millrace_scan(%[[WIDE]], %{{.*}}) {{.*}} : (tensor<64x100xf32>, tensor<f32>) -> tensor<64x100xf32>
// CHECK: stablehlo.convert %[[SCAN]] : (tensor<64x100xf32>) -> tensor<64x100xbf16>
func.func @narrow_prefixes(%x: tensor<64x100xbf16>) -> tensor<64x100xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 100>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<64x100xbf16>, tensor<bf16>) -> tensor<64x100xbf16>
  return %0 : tensor<64x100xbf16>
}

// -----

// Loops over tiny triangles are compiled.
// CHECK-LABEL: func.func @tiny_triangles
// CHECK: "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}>
func.func @tiny_triangles(%a: tensor<100x3x3xf32>, %b: tensor<100x3x2xf32>) -> tensor<100x3x2xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8},
    operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]} : (tensor<100x3x3xf32>, tensor<100x3x2xf32>) -> tensor<100x3x2xf32>
  return %0 : tensor<100x3x2xf32>
}

// -----

// Two numbers of a column are not zero; what the program transposes is in order already.
// CHECK-LABEL: func.func @few_terms
// CHECK-DAG: %[[P:.*]] = stablehlo.constant dense<{{\[\[}}0, 0, 4], [0, 1, 7]]> : tensor<2x3xi32>
// CHECK-DAG: %[[W:.*]] = stablehlo.constant dense<{{\[\[}}2.000000e+00, 3.000000e+00, 5.000000e+00], [0.000000e+00, 4.000000e+00, 6.000000e+00]]> : tensor<2x3xf32>
// CHECK: %[[Y:.*]] = stablehlo.custom_call @millrace_few_terms(%arg0, %[[P]], %[[W]]) {mhlo.backend_config = {sizes = array<i64: 100, 8, 64>}} : (tensor<100x8x64xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<100x3x64xf32>
// CHECK-NEXT: return %[[Y]]
func.func @few_terms(%x: tensor<100x8x64xf32>) -> tensor<100x3x64xf32> {
  %w = stablehlo.constant dense<[[2.0, 3.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 6.0]]> : tensor<8x3xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<100x8x64xf32>, tensor<8x3xf32>) -> tensor<100x64x3xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<100x64x3xf32>) -> tensor<100x3x64xf32>
  return %1 : tensor<100x3x64xf32>
}

// -----

// An algorithm that rounds the factors.
// CHECK-LABEL: func.func @few_terms_rounded
// CHECK-NOT: millrace_few_terms
// CHECK: stablehlo.dot_general {{.*}}algorithm =
func.func @few_terms_rounded(%x: tensor<100x8x64xf32>) -> tensor<100x64x3xf32> {
  %w = stablehlo.constant dense<[[2.0, 3.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 6.0]]> : tensor<8x3xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<100x8x64xf32>, tensor<8x3xf32>) -> tensor<100x64x3xf32>
  return %0 : tensor<100x64x3xf32>
}

// -----

// Columns come first, and somebody else wants them there; dense matrices stay.
// CHECK-LABEL: func.func @few_terms_left
// CHECK: stablehlo.custom_call @millrace_few_terms({{.*}}) -> tensor<100x3x64xf32>
// CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<100x3x64xf32>) -> tensor<3x100x64xf32>
// CHECK: stablehlo.dot_general
// CHECK-NOT: millrace_few_terms
func.func @few_terms_left(%x: tensor<100x8x64xf32>) -> (tensor<3x100x64xf32>, tensor<100x64x3xf32>) {
  %w = stablehlo.constant dense<[[2.0, 3.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 6.0]]> : tensor<8x3xf32>
  %v = stablehlo.constant dense<1.5> : tensor<8x3xf32>
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1] : (tensor<8x3xf32>, tensor<100x8x64xf32>) -> tensor<3x100x64xf32>
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<100x8x64xf32>, tensor<8x3xf32>) -> tensor<100x64x3xf32>
  return %0, %1 : tensor<3x100x64xf32>, tensor<100x64x3xf32>
}

// -----

// Two dimensions, one after the other, as JAX resizes images: the second product reads what the first one made in its order.
// CHECK-LABEL: func.func @few_terms_twice
// CHECK: %[[Y:.*]] = stablehlo.custom_call @millrace_few_terms(%arg0, {{.*}}) {mhlo.backend_config = {sizes = array<i64: 3200, 8, 3>}} : {{.*}} -> tensor<400x8x3x3xf32>
// CHECK-NOT: stablehlo.transpose
// CHECK: %[[Z:.*]] = stablehlo.custom_call @millrace_few_terms(%[[Y]], {{.*}}) {mhlo.backend_config = {sizes = array<i64: 400, 8, 9>}} : {{.*}} -> tensor<400x3x3x3xf32>
// CHECK-NEXT: return %[[Z]]
func.func @few_terms_twice(%x: tensor<400x8x8x3xf32>) -> tensor<400x3x3x3xf32> {
  %w = stablehlo.constant dense<[[2.0, 3.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 6.0]]> : tensor<8x3xf32>
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [0] x [2] : (tensor<8x3xf32>, tensor<400x8x8x3xf32>) -> tensor<3x400x8x3xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [2] x [0] : (tensor<3x400x8x3xf32>, tensor<8x3xf32>) -> tensor<3x400x3x3xf32>
  %2 = stablehlo.transpose %1, dims = [1, 3, 0, 2] : (tensor<3x400x3x3xf32>) -> tensor<400x3x3x3xf32>
  return %2 : tensor<400x3x3x3xf32>
}

// -----

// A matrix too large for the folder, whose zeros a maximum makes, along the last dimension. One of sines, or of an argument, stays.
// CHECK-LABEL: func.func @few_terms_evaluated
// CHECK-NOT: stablehlo.abs
// CHECK: stablehlo.custom_call @millrace_few_terms(%arg0, {{.*}}) {mhlo.backend_config = {sizes = array<i64: 5, 400, 1>}} : (tensor<5x400xf32>, tensor<1x200xi32>, tensor<1x200xf32>) -> tensor<5x200xf32>
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
func.func @few_terms_evaluated(%x: tensor<5x400xf32>, %m: tensor<400x200xf32>) -> (tensor<5x200xf32>, tensor<5x200xf32>, tensor<5x200xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<400x200xf32>
  %one = stablehlo.constant dense<1.0> : tensor<400x200xf32>
  %row = stablehlo.iota dim = 0 : tensor<400x200xf32>
  %column = stablehlo.iota dim = 1 : tensor<400x200xf32>
  %0 = stablehlo.subtract %row, %column : tensor<400x200xf32>
  %1 = stablehlo.abs %0 : tensor<400x200xf32>
  %2 = stablehlo.subtract %one, %1 : tensor<400x200xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<400x200xf32>
  %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0] : (tensor<5x400xf32>, tensor<400x200xf32>) -> tensor<5x200xf32>
  %5 = stablehlo.sine %row : tensor<400x200xf32>
  %6 = stablehlo.dot_general %x, %5, contracting_dims = [1] x [0] : (tensor<5x400xf32>, tensor<400x200xf32>) -> tensor<5x200xf32>
  %7 = stablehlo.maximum %m, %zero : tensor<400x200xf32>
  %8 = stablehlo.dot_general %x, %7, contracting_dims = [1] x [0] : (tensor<5x400xf32>, tensor<400x200xf32>) -> tensor<5x200xf32>
  return %4, %6, %8 : tensor<5x200xf32>, tensor<5x200xf32>, tensor<5x200xf32>
}

// -----

// What two operations read is erased once, with the second of them.
// CHECK-LABEL: func.func @few_terms_of_a_shared_value
// CHECK-NOT: stablehlo.iota
// CHECK: stablehlo.custom_call @millrace_few_terms(%arg0,
// CHECK-NEXT: return
func.func @few_terms_of_a_shared_value(%x: tensor<400x64xf32>) -> tensor<200x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<400x200xf32>
  %one = stablehlo.constant dense<1.0> : tensor<400x200xf32>
  %row = stablehlo.iota dim = 0 : tensor<400x200xf32>
  %column = stablehlo.iota dim = 1 : tensor<400x200xf32>
  %0 = stablehlo.subtract %row, %column : tensor<400x200xf32>
  %1 = stablehlo.abs %0 : tensor<400x200xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<400x200xf32>
  %3 = stablehlo.abs %2 : tensor<400x200xf32>
  %4 = stablehlo.subtract %one, %3 : tensor<400x200xf32>
  %5 = stablehlo.maximum %4, %zero : tensor<400x200xf32>
  %6 = stablehlo.dot_general %5, %x, contracting_dims = [0] x [0] : (tensor<400x200xf32>, tensor<400x64xf32>) -> tensor<200x64xf32>
  return %6 : tensor<200x64xf32>
}
