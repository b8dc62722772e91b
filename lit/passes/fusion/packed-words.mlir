// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices in words of several codes, as GPTQ, AWQ and NF4 store them: one kernel reads the words, and no matrix is in memory.
// RUN: xla-opt %s -xla-reduce-computed-operands -xla-fuse-kernels | FileCheck %s
// RUN: xla-run %s --entry=terms_in_words --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=rows_chosen --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=columns_in_words --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=table --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=bits_of_words --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=signed_codes --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=might_wrap --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=other_order --verify --seed=3 --quiet --cache-dir=off

// Eight neighbouring terms in a word, groups of 128, zero points of integers: two vectors. Integers of 64 bits, as PyTorch's promotion makes them,
// are bits of 32-bit words.
// CHECK-LABEL: func.func @terms_in_words(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         call @reduce{{.*}} : ({{.*}}tensor<4x16x64xi32>{{.*}}) -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @terms_in_words(%x: tensor<2x512xf32>, %words: tensor<64x64xi32>, %zeros: tensor<4x64xi8>, %scales: tensor<4x64xf32>) -> tensor<2x64xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi64>
  %15 = stablehlo.constant dense<15> : tensor<64x8x64xi64>
  %wide = stablehlo.convert %words : (tensor<64x64xi32>) -> tensor<64x64xi64>
  %each = stablehlo.broadcast_in_dim %wide, dims = [0, 2] : (tensor<64x64xi64>) -> tensor<64x8x64xi64>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi64>) -> tensor<64x8x64xi64>
  %shifted = stablehlo.shift_right_arithmetic %each, %by : tensor<64x8x64xi64>
  %low = stablehlo.and %shifted, %15 : tensor<64x8x64xi64>
  %codes = stablehlo.reshape %low : (tensor<64x8x64xi64>) -> tensor<4x128x64xi64>
  %z64 = stablehlo.convert %zeros : (tensor<4x64xi8>) -> tensor<4x64xi64>
  %z = stablehlo.broadcast_in_dim %z64, dims = [0, 2] : (tensor<4x64xi64>) -> tensor<4x128x64xi64>
  %d = stablehlo.subtract %codes, %z : tensor<4x128x64xi64>
  %f = stablehlo.convert %d : (tensor<4x128x64xi64>) -> tensor<4x128x64xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x64xf32>) -> tensor<4x128x64xf32>
  %m = stablehlo.multiply %f, %s : tensor<4x128x64xf32>
  %w = stablehlo.reshape %m : (tensor<4x128x64xf32>) -> tensor<512x64xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x512xf32>, tensor<512x64xf32>) -> tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}

// A group is chosen for each term (g_idx), for scales and for packed zero points.
// CHECK-LABEL: func.func @rows_chosen(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         call @{{.*}}reduce{{.*}} : ({{.*}}tensor<64x64xi32>
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @rows_chosen(%x: tensor<1x512xf32>, %words: tensor<64x64xi32>, %zeros: tensor<4x8xi32>, %scales: tensor<4x64xf32>, %groups: tensor<512x1xi32>) -> tensor<1x64xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<64x8x64xi32>
  %each = stablehlo.broadcast_in_dim %words, dims = [0, 2] : (tensor<64x64xi32>) -> tensor<64x8x64xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi32>) -> tensor<64x8x64xi32>
  %shifted = stablehlo.shift_right_arithmetic %each, %by : tensor<64x8x64xi32>
  %low = stablehlo.and %shifted, %15 : tensor<64x8x64xi32>
  %codes = stablehlo.reshape %low : (tensor<64x8x64xi32>) -> tensor<512x64xi32>
  %zeach = stablehlo.broadcast_in_dim %zeros, dims = [0, 1] : (tensor<4x8xi32>) -> tensor<4x8x8xi32>
  %zby = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xi32>) -> tensor<4x8x8xi32>
  %zshifted = stablehlo.shift_right_arithmetic %zeach, %zby : tensor<4x8x8xi32>
  %z15 = stablehlo.constant dense<15> : tensor<4x8x8xi32>
  %zlow = stablehlo.and %zshifted, %z15 : tensor<4x8x8xi32>
  %zflat = stablehlo.reshape %zlow : (tensor<4x8x8xi32>) -> tensor<4x64xi32>
  %one = stablehlo.constant dense<1> : tensor<4x64xi32>
  %zplus = stablehlo.add %zflat, %one : tensor<4x64xi32>
  %z = "stablehlo.gather"(%zplus, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xi32>, tensor<512x1xi32>) -> tensor<512x64xi32>
  %s = "stablehlo.gather"(%scales, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xf32>, tensor<512x1xi32>) -> tensor<512x64xf32>
  %d = stablehlo.subtract %codes, %z : tensor<512x64xi32>
  %f = stablehlo.convert %d : (tensor<512x64xi32>) -> tensor<512x64xf32>
  %w = stablehlo.multiply %s, %f : tensor<512x64xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x64xf32>) -> tensor<1x64xf32>
  return %r : tensor<1x64xf32>
}

// Eight columns in a word, in AWQ's order, codes as bytes whose low half is taken after the columns were put in order.
// CHECK-LABEL: func.func @columns_in_words(
// CHECK-NOT:     call @{{.*}}{{dot_general|gather}}
// CHECK:         call @reduce{{.*}} : ({{.*}}tensor<4x64x16xi32>
// CHECK-NOT:     call @{{.*}}{{dot_general|gather}}
// CHECK:         return
func.func @columns_in_words(%x: tensor<1x256xf32>, %words: tensor<256x16xi32>, %zeros: tensor<4x128xi8>, %scales: tensor<4x128xf32>) -> tensor<1x128xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %each = stablehlo.broadcast_in_dim %words, dims = [0, 1] : (tensor<256x16xi32>) -> tensor<256x16x8xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xi32>) -> tensor<256x16x8xi32>
  %shifted = stablehlo.shift_right_arithmetic %each, %by : tensor<256x16x8xi32>
  %bytes = stablehlo.convert %shifted : (tensor<256x16x8xi32>) -> tensor<256x16x8xi8>
  %flat = stablehlo.reshape %bytes : (tensor<256x16x8xi8>) -> tensor<256x128xi8>
  %count = stablehlo.iota dim = 0 : tensor<128xi32>
  %words8 = stablehlo.reshape %count : (tensor<128xi32>) -> tensor<16x8xi32>
  %order = stablehlo.constant dense<[[0], [4], [1], [5], [2], [6], [3], [7]]> : tensor<8x1xi32>
  %ordered = "stablehlo.gather"(%words8, %order) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 16, 1>}> : (tensor<16x8xi32>, tensor<8x1xi32>) -> tensor<16x8xi32>
  %columns = stablehlo.reshape %ordered : (tensor<16x8xi32>) -> tensor<128x1xi32>
  %permuted = "stablehlo.gather"(%flat, %columns) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 256, 1>}> : (tensor<256x128xi8>, tensor<128x1xi32>) -> tensor<256x128xi8>
  %15 = stablehlo.constant dense<15> : tensor<256x128xi8>
  %codes = stablehlo.and %permuted, %15 : tensor<256x128xi8>
  %z15 = stablehlo.constant dense<15> : tensor<4x128xi8>
  %zcodes = stablehlo.and %zeros, %z15 : tensor<4x128xi8>
  %zb = stablehlo.broadcast_in_dim %zcodes, dims = [0, 2] : (tensor<4x128xi8>) -> tensor<4x64x128xi8>
  %z = stablehlo.reshape %zb : (tensor<4x64x128xi8>) -> tensor<256x128xi8>
  %d = stablehlo.subtract %codes, %z : tensor<256x128xi8>
  %f = stablehlo.convert %d : (tensor<256x128xi8>) -> tensor<256x128xf32>
  %sb = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x128xf32>) -> tensor<4x64x128xf32>
  %s = stablehlo.reshape %sb : (tensor<4x64x128xf32>) -> tensor<256x128xf32>
  %w = stablehlo.multiply %f, %s : tensor<256x128xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x256xf32>, tensor<256x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}

// Values from a table of 16 (NF4): the high half of a byte first, indices that wrap around as an array's do.
// CHECK-LABEL: func.func @table(
// CHECK-NOT:     call @{{.*}}{{dot_general|gather|and}}
// CHECK:         call @{{.*}}reduce{{.*}} : ({{.*}}tensor<96x4x32xui8>
// CHECK-NOT:     call @{{.*}}{{dot_general|gather|and}}
// CHECK:         return
func.func @table(%x: tensor<3x256xf32>, %bytes: tensor<12288xui8>, %scales: tensor<384xf32>, %table: tensor<16xf32>) -> tensor<3x96xf32> {
  %15 = stablehlo.constant dense<15> : tensor<12288xui8>
  %4 = stablehlo.constant dense<4> : tensor<12288xui8>
  %0 = stablehlo.constant dense<0> : tensor<24576xi32>
  %16 = stablehlo.constant dense<16> : tensor<24576xi32>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<12288xui8>
  %low = stablehlo.and %bytes, %15 : tensor<12288xui8>
  %h = stablehlo.reshape %high : (tensor<12288xui8>) -> tensor<12288x1xui8>
  %l = stablehlo.reshape %low : (tensor<12288xui8>) -> tensor<12288x1xui8>
  %both = stablehlo.concatenate %h, %l, dim = 1 : (tensor<12288x1xui8>, tensor<12288x1xui8>) -> tensor<12288x2xui8>
  %flat = stablehlo.reshape %both : (tensor<12288x2xui8>) -> tensor<24576xui8>
  %i = stablehlo.convert %flat : (tensor<24576xui8>) -> tensor<24576xi32>
  %isBelow = stablehlo.compare LT, %i, %0, SIGNED : (tensor<24576xi32>, tensor<24576xi32>) -> tensor<24576xi1>
  %fromEnd = stablehlo.add %i, %16 : tensor<24576xi32>
  %at = stablehlo.select %isBelow, %fromEnd, %i : tensor<24576xi1>, tensor<24576xi32>
  %indices = stablehlo.reshape %at : (tensor<24576xi32>) -> tensor<24576x1xi32>
  %values = "stablehlo.gather"(%table, %indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<16xf32>, tensor<24576x1xi32>) -> tensor<24576xf32>
  %grouped = stablehlo.reshape %values : (tensor<24576xf32>) -> tensor<384x64xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0] : (tensor<384xf32>) -> tensor<384x64xf32>
  %m = stablehlo.multiply %grouped, %s : tensor<384x64xf32>
  %w = stablehlo.reshape %m : (tensor<384x64xf32>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x256xf32>, tensor<96x256xf32>) -> tensor<3x96xf32>
  return %r : tensor<3x96xf32>
}

// A bitcast takes words apart, too.
// CHECK-LABEL: func.func @bits_of_words(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         call @reduce{{.*}} : ({{.*}}tensor<96x4x8xi32>
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @bits_of_words(%x: tensor<1x256xf32>, %words: tensor<96x32xi32>, %scales: tensor<96x4xf32>) -> tensor<1x96xf32> {
  %codes = stablehlo.bitcast_convert %words : (tensor<96x32xi32>) -> tensor<96x32x8xi4>
  %grouped = stablehlo.reshape %codes : (tensor<96x32x8xi4>) -> tensor<96x4x64xi4>
  %f = stablehlo.convert %grouped : (tensor<96x4x64xi4>) -> tensor<96x4x64xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x4xf32>) -> tensor<96x4x64xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x4x64xf32>
  %w = stablehlo.reshape %m : (tensor<96x4x64xf32>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// The sign of a code is spread by two shifts. The first factor is the matrix.
// CHECK-LABEL: func.func @signed_codes(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         call @reduce{{.*}} : ({{.*}}tensor<96x32xi32>
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @signed_codes(%x: tensor<1x256xf32>, %bytes: tensor<96x128xi8>, %scales: tensor<96xf32>) -> tensor<96x1xf32> {
  %4 = stablehlo.constant dense<4> : tensor<96x128xi8>
  %up = stablehlo.shift_left %bytes, %4 : tensor<96x128xi8>
  %low = stablehlo.shift_right_arithmetic %up, %4 : tensor<96x128xi8>
  %high = stablehlo.shift_right_arithmetic %bytes, %4 : tensor<96x128xi8>
  %l = stablehlo.reshape %low : (tensor<96x128xi8>) -> tensor<96x128x1xi8>
  %h = stablehlo.reshape %high : (tensor<96x128xi8>) -> tensor<96x128x1xi8>
  %both = stablehlo.concatenate %l, %h, dim = 2 : (tensor<96x128x1xi8>, tensor<96x128x1xi8>) -> tensor<96x128x2xi8>
  %flat = stablehlo.reshape %both : (tensor<96x128x2xi8>) -> tensor<96x256xi8>
  %f = stablehlo.convert %flat : (tensor<96x256xi8>) -> tensor<96x256xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0] : (tensor<96xf32>) -> tensor<96x256xf32>
  %w = stablehlo.multiply %f, %s : tensor<96x256xf32>
  %r = stablehlo.dot_general %w, %x, contracting_dims = [1] x [1] : (tensor<96x256xf32>, tensor<1x256xf32>) -> tensor<96x1xf32>
  return %r : tensor<96x1xf32>
}

// Differences in bytes that might wrap around stay differences in bytes.
// CHECK-LABEL: func.func @might_wrap(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         call @reduce{{.*}} : ({{.*}}tensor<96x8xi8>
// CHECK:         return
func.func @might_wrap(%x: tensor<1x256xf32>, %bytes: tensor<96x128xui8>, %zeros: tensor<96x8xi8>, %scales: tensor<96x8xf32>) -> tensor<1x96xf32> {
  %15 = stablehlo.constant dense<15> : tensor<96x128xui8>
  %4 = stablehlo.constant dense<4> : tensor<96x128xui8>
  %low = stablehlo.and %bytes, %15 : tensor<96x128xui8>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<96x128xui8>
  %l = stablehlo.reshape %low : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %h = stablehlo.reshape %high : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %both = stablehlo.concatenate %l, %h, dim = 2 : (tensor<96x128x1xui8>, tensor<96x128x1xui8>) -> tensor<96x128x2xui8>
  %grouped = stablehlo.reshape %both : (tensor<96x128x2xui8>) -> tensor<96x8x32xui8>
  %signed = stablehlo.convert %grouped : (tensor<96x8x32xui8>) -> tensor<96x8x32xi8>
  %z = stablehlo.broadcast_in_dim %zeros, dims = [0, 1] : (tensor<96x8xi8>) -> tensor<96x8x32xi8>
  %codes = stablehlo.subtract %signed, %z : tensor<96x8x32xi8>
  %f = stablehlo.convert %codes : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %m : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// Columns that are permuted beyond their words are unpacked first.
// CHECK-LABEL: func.func @other_order(
// CHECK:         call @{{.*}}dot_general
// CHECK:         return
func.func @other_order(%x: tensor<1x256xf32>, %words: tensor<256x16xi32>, %scales: tensor<128xf32>) -> tensor<1x128xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<256x16x8xi32>
  %each = stablehlo.broadcast_in_dim %words, dims = [0, 1] : (tensor<256x16xi32>) -> tensor<256x16x8xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xi32>) -> tensor<256x16x8xi32>
  %shifted = stablehlo.shift_right_arithmetic %each, %by : tensor<256x16x8xi32>
  %low = stablehlo.and %shifted, %15 : tensor<256x16x8xi32>
  %flat = stablehlo.reshape %low : (tensor<256x16x8xi32>) -> tensor<256x128xi32>
  %most = stablehlo.constant dense<127> : tensor<128xi32>
  %count = stablehlo.iota dim = 0 : tensor<128xi32>
  %backwards = stablehlo.subtract %most, %count : tensor<128xi32>
  %columns = stablehlo.reshape %backwards : (tensor<128xi32>) -> tensor<128x1xi32>
  %codes = "stablehlo.gather"(%flat, %columns) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 256, 1>}> : (tensor<256x128xi32>, tensor<128x1xi32>) -> tensor<256x128xi32>
  %f = stablehlo.convert %codes : (tensor<256x128xi32>) -> tensor<256x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [1] : (tensor<128xf32>) -> tensor<256x128xf32>
  %w = stablehlo.multiply %f, %s : tensor<256x128xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x256xf32>, tensor<256x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}
