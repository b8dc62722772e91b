// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of rows that the program has rounded to bytes with weights in codes: kernels that read the codes, whatever the order of the operations.
// RUN: xla-opt %s -xla-fuse-coded-products | FileCheck %s
// RUN: xla-opt %s -xla-fuse-coded-products | FileCheck %s --check-prefix=KERNELS
// RUN: xla-run %s --entry=nibbles --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=zeros --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=halves --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=bitcast --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=shifts --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=bytes_in_groups --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=four_bits --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=whole_rows --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=swapped --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=sums_of_groups --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=bytes --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=by_rows --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=many_by_rows --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=shifted_rows --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=sums_by_rows --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=words --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=words_in_columns --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=columns_in_words --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=columns_in_signed_bytes --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=constant_columns_in_bytes --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=constant_columns_in_unsigned_words --verify --seed=4 --quiet --cache-dir=off
// RUN: xla-run %s --entry=high_half_first --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=words_in_other_order --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=groups_in_any_order --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=groups_for_many_rows --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=nibbles --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=zeros --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=halves --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=bitcast --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=shifts --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=bytes_in_groups --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=four_bits --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=whole_rows --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=swapped --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=sums_of_groups --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=bytes --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=by_rows --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=many_by_rows --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=shifted_rows --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=sums_by_rows --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=words --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=words_in_columns --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=columns_in_words --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=columns_in_signed_bytes --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=constant_columns_in_bytes --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=constant_columns_in_unsigned_words --verify --seed=4 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=high_half_first --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=words_in_other_order --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=groups_in_any_order --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3
// RUN: xla-run %s --entry=groups_for_many_rows --verify --seed=3 --quiet --cache-dir=off --target=x86-64-v3

// Two codes in a byte, with 8 as zero, and a scale for each group; a scale for each row.
// CHECK-LABEL: func.func @nibbles(
// CHECK-NOT:     dot_general
// CHECK:         %[[X:.*]] = stablehlo.transpose {{.*}} : (tensor<3x128x2x1xi8>) -> tensor<2x3x128x1xi8>
// CHECK:         %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<2x3x128x1xi8>) -> tensor<2x3x8x16xi8>
// CHECK:         %[[P:.*]] = call @[[NIBBLES:coded_product.*]](%{{.*}}, %[[R]], %{{.*}}) : (tensor<96x8x16xui8>, tensor<2x3x8x16xi8>, tensor<96x8xf32>) -> tensor<3x96xf32>
// CHECK:         stablehlo.multiply %[[P]]
// KERNELS:       func.func private @coded_product(
// KERNELS-SAME:  millrace.coded_product = {across = array<i64>, by_rows = false, narrow = false, packed = true, ragged = false, scaled = true, signed = false, zero = 8 : i64, zeros = false}, millrace.kernel
func.func @nibbles(%x: tensor<3x256xi8>, %rows: tensor<3xf32>, %bytes: tensor<96x128xui8>, %scales: tensor<96x8xf32>) -> tensor<3x96xf32> {
  %15 = stablehlo.constant dense<15> : tensor<96x128xui8>
  %4 = stablehlo.constant dense<4> : tensor<96x128xui8>
  %8 = stablehlo.constant dense<8> : tensor<96x8x32xi8>
  %low = stablehlo.and %bytes, %15 : tensor<96x128xui8>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<96x128xui8>
  %l = stablehlo.reshape %low : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %h = stablehlo.reshape %high : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %both = stablehlo.concatenate %l, %h, dim = 2 : (tensor<96x128x1xui8>, tensor<96x128x1xui8>) -> tensor<96x128x2xui8>
  %grouped = stablehlo.reshape %both : (tensor<96x128x2xui8>) -> tensor<96x8x32xui8>
  %signed = stablehlo.convert %grouped : (tensor<96x8x32xui8>) -> tensor<96x8x32xi8>
  %codes = stablehlo.subtract %signed, %8 : tensor<96x8x32xi8>
  %numbers = stablehlo.convert %codes : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %scaled = stablehlo.multiply %numbers, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %scaled : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %f = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %r = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<3xf32>) -> tensor<3x256xf32>
  %a = stablehlo.multiply %f, %r : tensor<3x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<3x256xf32>, tensor<96x256xf32>) -> tensor<3x96xf32>
  return %result : tensor<3x96xf32>
}

// Zero points of rows and of groups, as torchao has them: bytes that are differences in 32 bits. A row of ones subtracts those of rows.
// CHECK-LABEL: func.func @zeros(
// CHECK-NOT:     dot_general
// CHECK:         stablehlo.concatenate {{.*}} : (tensor<2x256xi8>, tensor<1x256xi8>) -> tensor<3x256xi8>
// CHECK:         call @coded_product{{.*}} : (tensor<96x4x64xi8>, tensor<1x3x4x64xi8>, tensor<96x4xbf16>, tensor<96x4xi8>) -> tensor<3x96xf32>
// CHECK:         stablehlo.subtract
// CHECK:         stablehlo.multiply
func.func @zeros(%x: tensor<2x256xi8>, %rows: tensor<2x1xf32>, %row_zeros: tensor<2x1xi8>, %bytes: tensor<96x4x64xi8>, %zeros: tensor<96x4x1xi8>, %scales: tensor<96x4x1xbf16>) -> tensor<2x96xf32> {
  %b = stablehlo.convert %bytes : (tensor<96x4x64xi8>) -> tensor<96x4x64xi32>
  %z = stablehlo.convert %zeros : (tensor<96x4x1xi8>) -> tensor<96x4x1xi32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [0, 1, 2] : (tensor<96x4x1xi32>) -> tensor<96x4x64xi32>
  %d = stablehlo.subtract %b, %zb : tensor<96x4x64xi32>
  %f = stablehlo.convert %d : (tensor<96x4x64xi32>) -> tensor<96x4x64xf32>
  %sf = stablehlo.convert %scales : (tensor<96x4x1xbf16>) -> tensor<96x4x1xf32>
  %s = stablehlo.broadcast_in_dim %sf, dims = [0, 1, 2] : (tensor<96x4x1xf32>) -> tensor<96x4x64xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x4x64xf32>
  %w = stablehlo.reshape %m : (tensor<96x4x64xf32>) -> tensor<96x256xf32>
  %xi = stablehlo.convert %x : (tensor<2x256xi8>) -> tensor<2x256xi32>
  %xz = stablehlo.convert %row_zeros : (tensor<2x1xi8>) -> tensor<2x1xi32>
  %xzb = stablehlo.broadcast_in_dim %xz, dims = [0, 1] : (tensor<2x1xi32>) -> tensor<2x256xi32>
  %xd = stablehlo.subtract %xi, %xzb : tensor<2x256xi32>
  %xf = stablehlo.convert %xd : (tensor<2x256xi32>) -> tensor<2x256xf32>
  %r = stablehlo.broadcast_in_dim %rows, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x256xf32>
  %a = stablehlo.multiply %xf, %r : tensor<2x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<2x256xf32>, tensor<96x256xf32>) -> tensor<2x96xf32>
  return %result : tensor<2x96xf32>
}

// Low halves are the first 16 of 32 codes, as in GGUF's Q4_0; scales come last.
// CHECK-LABEL: func.func @halves(
// CHECK:         stablehlo.transpose {{.*}} : (tensor<17x8x2x16xi8>) -> tensor<2x17x8x16xi8>
// CHECK:         call @coded_product
func.func @halves(%x: tensor<17x256xi8>, %bytes: tensor<97x8x16xui8>, %scales: tensor<97x8xf32>) -> tensor<17x97xf32> {
  %15 = stablehlo.constant dense<15> : tensor<97x8x16xui8>
  %4 = stablehlo.constant dense<4> : tensor<97x8x16xui8>
  %8 = stablehlo.constant dense<8.0> : tensor<97x256xf32>
  %low = stablehlo.and %bytes, %15 : tensor<97x8x16xui8>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<97x8x16xui8>
  %both = stablehlo.concatenate %low, %high, dim = 2 : (tensor<97x8x16xui8>, tensor<97x8x16xui8>) -> tensor<97x8x32xui8>
  %flat = stablehlo.reshape %both : (tensor<97x8x32xui8>) -> tensor<97x256xui8>
  %f = stablehlo.convert %flat : (tensor<97x256xui8>) -> tensor<97x256xf32>
  %d = stablehlo.subtract %f, %8 : tensor<97x256xf32>
  %sb = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<97x8xf32>) -> tensor<97x8x32xf32>
  %s = stablehlo.reshape %sb : (tensor<97x8x32xf32>) -> tensor<97x256xf32>
  %w = stablehlo.multiply %s, %d : tensor<97x256xf32>
  %a = stablehlo.convert %x : (tensor<17x256xi8>) -> tensor<17x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<17x256xf32>, tensor<97x256xf32>) -> tensor<17x97xf32>
  return %result : tensor<17x97xf32>
}

// StableHLO's own form of two codes in a byte.
// CHECK-LABEL: func.func @bitcast(
// CHECK:         call @coded_product{{.*}} : (tensor<96x4x32xi8>, tensor<2x5x4x32xi8>, tensor<96x4xf32>) -> tensor<5x96xf32>
func.func @bitcast(%x: tensor<5x256xi8>, %bytes: tensor<96x128xi8>, %scales: tensor<96x4xf32>) -> tensor<5x96xf32> {
  %c = stablehlo.bitcast_convert %bytes : (tensor<96x128xi8>) -> tensor<96x128x2xi4>
  %g = stablehlo.reshape %c : (tensor<96x128x2xi4>) -> tensor<96x4x64xi4>
  %f = stablehlo.convert %g : (tensor<96x4x64xi4>) -> tensor<96x4x64xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x4xf32>) -> tensor<96x4x64xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x4x64xf32>
  %w = stablehlo.reshape %m : (tensor<96x4x64xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<5x256xi8>) -> tensor<5x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<5x256xf32>, tensor<96x256xf32>) -> tensor<5x96xf32>
  return %result : tensor<5x96xf32>
}

// Every byte twice, shifted by 0 and 4; a zero for each group, itself of integers.
// CHECK-LABEL: func.func @shifts(
// CHECK:         call @coded_product{{.*}} : (tensor<96x2x64xui8>, tensor<2x1x2x64xi8>, tensor<96x2xf32>, tensor<96x2xi32>) -> tensor<1x96xf32>
func.func @shifts(%x: tensor<1x256xi8>, %bytes: tensor<96x128xui8>, %zeros: tensor<96x2xui8>, %scales: tensor<96x2xf32>) -> tensor<1x96xf32> {
  %amounts = stablehlo.constant dense<[0, 4]> : tensor<2xui8>
  %15 = stablehlo.constant dense<15> : tensor<96x128x2xui8>
  %twice = stablehlo.broadcast_in_dim %bytes, dims = [0, 1] : (tensor<96x128xui8>) -> tensor<96x128x2xui8>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<2xui8>) -> tensor<96x128x2xui8>
  %shifted = stablehlo.shift_right_logical %twice, %by : tensor<96x128x2xui8>
  %c = stablehlo.and %shifted, %15 : tensor<96x128x2xui8>
  %g = stablehlo.reshape %c : (tensor<96x128x2xui8>) -> tensor<96x2x128xui8>
  %f = stablehlo.convert %g : (tensor<96x2x128xui8>) -> tensor<96x2x128xf32>
  %zf = stablehlo.convert %zeros : (tensor<96x2xui8>) -> tensor<96x2xf32>
  %z = stablehlo.broadcast_in_dim %zf, dims = [0, 1] : (tensor<96x2xf32>) -> tensor<96x2x128xf32>
  %d = stablehlo.subtract %f, %z : tensor<96x2x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x2xf32>) -> tensor<96x2x128xf32>
  %m = stablehlo.multiply %d, %s : tensor<96x2x128xf32>
  %w = stablehlo.reshape %m : (tensor<96x2x128xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<1x256xi8>) -> tensor<1x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  return %result : tensor<1x96xf32>
}

// Codes of eight bits, unsigned, in groups.
// CHECK-LABEL: func.func @bytes_in_groups(
// CHECK:         call @coded_product{{.*}} : (tensor<96x8x32xui8>, tensor<1x6x8x32xi8>, tensor<96x8xf32>) -> tensor<6x96xf32>
func.func @bytes_in_groups(%x: tensor<2x3x256xi8>, %bytes: tensor<96x256xui8>, %scales: tensor<96x8xf32>) -> tensor<2x3x96xf32> {
  %f = stablehlo.convert %bytes : (tensor<96x256xui8>) -> tensor<96x256xf32>
  %128 = stablehlo.constant dense<-128.0> : tensor<96x256xf32>
  %d = stablehlo.add %f, %128 : tensor<96x256xf32>
  %sb = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %s = stablehlo.reshape %sb : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %w = stablehlo.multiply %d, %s : tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<2x3x256xi8>) -> tensor<2x3x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [2] x [1] : (tensor<2x3x256xf32>, tensor<96x256xf32>) -> tensor<2x3x96xf32>
  return %result : tensor<2x3x96xf32>
}

// A type of four bits with one scale for all weights, and one for all rows.
// CHECK-LABEL: func.func @four_bits(
// CHECK:         call @coded_product{{.*}} : (tensor<96x1x256xi4>, tensor<1x4x1x256xi8>) -> tensor<4x96xi32>
func.func @four_bits(%x: tensor<4x256xi8>, %codes: tensor<96x256xi4>) -> tensor<4x96xf32> {
  %f = stablehlo.convert %codes : (tensor<96x256xi4>) -> tensor<96x256xf32>
  %s = stablehlo.constant dense<0.125> : tensor<96x256xf32>
  %w = stablehlo.multiply %f, %s : tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<4x256xi8>) -> tensor<4x256xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4x256xf32>
  %h = stablehlo.multiply %a, %half : tensor<4x256xf32>
  %result = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<4x256xf32>, tensor<96x256xf32>) -> tensor<4x96xf32>
  return %result : tensor<4x96xf32>
}

// Integers all the way: the result is exact.
// CHECK-LABEL: func.func @whole_rows(
// CHECK:         call @coded_product{{.*}} : (tensor<128x1x96xui8>, tensor<2x9x1x96xi8>) -> tensor<9x128xi32>
func.func @whole_rows(%x: tensor<9x192xi8>, %bytes: tensor<128x96xui8>) -> tensor<9x128xi32> {
  %c = stablehlo.bitcast_convert %bytes : (tensor<128x96xui8>) -> tensor<128x96x2xi4>
  %g = stablehlo.reshape %c : (tensor<128x96x2xi4>) -> tensor<128x192xi4>
  %i = stablehlo.convert %g : (tensor<128x192xi4>) -> tensor<128x192xi8>
  %result = stablehlo.dot_general %x, %i, contracting_dims = [1] x [1] : (tensor<9x192xi8>, tensor<128x192xi8>) -> tensor<9x128xi32>
  return %result : tensor<9x128xi32>
}

// CHECK-LABEL: func.func @swapped(
// CHECK:         call @coded_product
// CHECK:         stablehlo.transpose {{.*}} : (tensor<3x96xf32>) -> tensor<96x3xf32>
func.func @swapped(%x: tensor<3x256xi8>, %codes: tensor<96x8x32xi8>, %scales: tensor<96x8xf32>) -> tensor<96x3xf32> {
  %f = stablehlo.convert %codes : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %m : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %result = stablehlo.dot_general %w, %a, contracting_dims = [1] x [1] : (tensor<96x256xf32>, tensor<3x256xf32>) -> tensor<96x3xf32>
  return %result : tensor<96x3xf32>
}

// Rows of floats stay floats. Differences of bytes in eight bits may wrap around.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NOT:     call
// CHECK:         return
func.func @left_alone(%x: tensor<3x256xf32>, %y: tensor<3x256xi8>, %codes: tensor<96x8x32xi8>, %zeros: tensor<96x8xi8>, %scales: tensor<96x8xf32>) -> (tensor<3x96xf32>, tensor<3x96xf32>) {
  %z = stablehlo.broadcast_in_dim %zeros, dims = [0, 1] : (tensor<96x8xi8>) -> tensor<96x8x32xi8>
  %d = stablehlo.subtract %codes, %z : tensor<96x8x32xi8>
  %f = stablehlo.convert %d : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %g = stablehlo.convert %codes : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %m : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %n = stablehlo.multiply %g, %s : tensor<96x8x32xf32>
  %v = stablehlo.reshape %n : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %y : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<3x256xf32>, tensor<96x256xf32>) -> tensor<3x96xf32>
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<3x256xf32>, tensor<96x256xf32>) -> tensor<3x96xf32>
  return %0, %1 : tensor<3x96xf32>, tensor<3x96xf32>
}

// Integers of each group, and scales afterwards, as JAX programs write it: groups come first in the contraction's result.
// CHECK-LABEL: func.func @sums_of_groups(
// CHECK:         stablehlo.transpose {{.*}} : (tensor<4x96xf32>) -> tensor<96x4xf32>
// CHECK:         call @coded_product{{.*}} : (tensor<96x4x64xi4>, tensor<1x5x4x64xi8>, tensor<96x4xf32>) -> tensor<5x96xf32>
// CHECK:         stablehlo.multiply
func.func @sums_of_groups(%x: tensor<5x4x64xi8>, %rows: tensor<5xf32>, %codes: tensor<96x4x64xi4>, %scales: tensor<4x96xf32>) -> tensor<5x96xf32> {
  %i = stablehlo.convert %codes : (tensor<96x4x64xi4>) -> tensor<96x4x64xi8>
  %d = stablehlo.dot_general %x, %i, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<5x4x64xi8>, tensor<96x4x64xi8>) -> tensor<4x5x96xi32>
  %t = stablehlo.transpose %d, dims = [1, 0, 2] : (tensor<4x5x96xi32>) -> tensor<5x4x96xi32>
  %f = stablehlo.convert %t : (tensor<5x4x96xi32>) -> tensor<5x4x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [1, 2] : (tensor<4x96xf32>) -> tensor<5x4x96xf32>
  %r = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<5xf32>) -> tensor<5x4x96xf32>
  %fs = stablehlo.multiply %f, %s : tensor<5x4x96xf32>
  %fr = stablehlo.multiply %fs, %r : tensor<5x4x96xf32>
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%fr init: %0) applies stablehlo.add across dimensions = [1] : (tensor<5x4x96xf32>, tensor<f32>) -> tensor<5x96xf32>
  return %sum : tensor<5x96xf32>
}

// Signed bytes with one scale for each column are left to the contractions of integers.
// CHECK-LABEL: func.func @bytes(
// CHECK-NOT:     call
// CHECK:         stablehlo.dot_general {{.*}} : (tensor<5x256xi8>, tensor<96x256xi8>) -> tensor<5x96xi32>
// CHECK-NOT:     call
// CHECK:         return
func.func @bytes(%x: tensor<5x256xi8>, %rows: tensor<5xf32>, %codes: tensor<96x256xi8>, %scales: tensor<96xf32>) -> tensor<5x96xf32> {
  %f = stablehlo.convert %codes : (tensor<96x256xi8>) -> tensor<96x256xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0] : (tensor<96xf32>) -> tensor<96x256xf32>
  %w = stablehlo.multiply %f, %s : tensor<96x256xf32>
  %xf = stablehlo.convert %x : (tensor<5x256xi8>) -> tensor<5x256xf32>
  %r = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<5xf32>) -> tensor<5x256xf32>
  %a = stablehlo.multiply %xf, %r : tensor<5x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<5x256xf32>, tensor<96x256xf32>) -> tensor<5x96xf32>
  return %result : tensor<5x96xf32>
}

// Weights that lie row by row, with two neighbouring k in a byte, and a scale for each column of a group of rows.
// CHECK-LABEL: func.func @by_rows(
// CHECK:         stablehlo.transpose {{.*}} : (tensor<3x128x2x1xi8>) -> tensor<2x3x128x1xi8>
// CHECK:         call @coded_product{{.*}} : (tensor<8x16x128xui8>, tensor<2x3x8x16xi8>, tensor<8x128xf32>) -> tensor<3x128xf32>
func.func @by_rows(%x: tensor<3x256xi8>, %bytes: tensor<128x128xui8>, %scales: tensor<8x128xf32>) -> tensor<3x128xf32> {
  %15 = stablehlo.constant dense<15> : tensor<128x128xui8>
  %4 = stablehlo.constant dense<4> : tensor<128x128xui8>
  %8 = stablehlo.constant dense<8> : tensor<256x128xi8>
  %low = stablehlo.and %bytes, %15 : tensor<128x128xui8>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<128x128xui8>
  %l = stablehlo.reshape %low : (tensor<128x128xui8>) -> tensor<128x1x128xui8>
  %h = stablehlo.reshape %high : (tensor<128x128xui8>) -> tensor<128x1x128xui8>
  %both = stablehlo.concatenate %l, %h, dim = 1 : (tensor<128x1x128xui8>, tensor<128x1x128xui8>) -> tensor<128x2x128xui8>
  %flat = stablehlo.reshape %both : (tensor<128x2x128xui8>) -> tensor<256x128xui8>
  %signed = stablehlo.convert %flat : (tensor<256x128xui8>) -> tensor<256x128xi8>
  %codes = stablehlo.subtract %signed, %8 : tensor<256x128xi8>
  %f = stablehlo.convert %codes : (tensor<256x128xi8>) -> tensor<256x128xf32>
  %sb = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<8x128xf32>) -> tensor<8x32x128xf32>
  %s = stablehlo.reshape %sb : (tensor<8x32x128xf32>) -> tensor<256x128xf32>
  %w = stablehlo.multiply %f, %s : tensor<256x128xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x256xf32>, tensor<256x128xf32>) -> tensor<3x128xf32>
  return %result : tensor<3x128xf32>
}

// A type of four bits, row by row, with zeros of groups and many rows.
// CHECK-LABEL: func.func @many_by_rows(
// CHECK:         call @coded_product{{.*}} : (tensor<2x64x176xi4>, tensor<1x37x2x64xi8>, tensor<2x176xf32>, tensor<2x176xi8>) -> tensor<37x176xf32>
func.func @many_by_rows(%x: tensor<37x128xi8>, %codes: tensor<2x64x176xi4>, %zeros: tensor<2x176xi8>, %scales: tensor<2x176xf32>) -> tensor<37x176xf32> {
  %f = stablehlo.convert %codes : (tensor<2x64x176xi4>) -> tensor<2x64x176xf32>
  %zf = stablehlo.convert %zeros : (tensor<2x176xi8>) -> tensor<2x176xf32>
  %z = stablehlo.broadcast_in_dim %zf, dims = [0, 2] : (tensor<2x176xf32>) -> tensor<2x64x176xf32>
  %d = stablehlo.subtract %f, %z : tensor<2x64x176xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<2x176xf32>) -> tensor<2x64x176xf32>
  %m = stablehlo.multiply %d, %s : tensor<2x64x176xf32>
  %w = stablehlo.reshape %m : (tensor<2x64x176xf32>) -> tensor<128x176xf32>
  %a = stablehlo.convert %x : (tensor<37x128xi8>) -> tensor<37x128xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<37x128xf32>, tensor<128x176xf32>) -> tensor<37x176xf32>
  return %result : tensor<37x176xf32>
}

// Every row of bytes twice, shifted by 0 and 4, and integers all the way.
// CHECK-LABEL: func.func @shifted_rows(
// CHECK:         call @coded_product{{.*}} : (tensor<1x96x192xui8>, tensor<2x2x1x96xi8>) -> tensor<2x192xi32>
func.func @shifted_rows(%x: tensor<2x192xi8>, %bytes: tensor<96x192xui8>) -> tensor<2x192xi32> {
  %amounts = stablehlo.constant dense<[0, 4]> : tensor<2xui8>
  %15 = stablehlo.constant dense<15> : tensor<96x2x192xui8>
  %twice = stablehlo.broadcast_in_dim %bytes, dims = [0, 2] : (tensor<96x192xui8>) -> tensor<96x2x192xui8>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<2xui8>) -> tensor<96x2x192xui8>
  %shifted = stablehlo.shift_right_logical %twice, %by : tensor<96x2x192xui8>
  %c = stablehlo.and %shifted, %15 : tensor<96x2x192xui8>
  %flat = stablehlo.reshape %c : (tensor<96x2x192xui8>) -> tensor<192x192xui8>
  %i = stablehlo.convert %flat : (tensor<192x192xui8>) -> tensor<192x192xi8>
  %result = stablehlo.dot_general %x, %i, contracting_dims = [1] x [0] : (tensor<2x192xi8>, tensor<192x192xi8>) -> tensor<2x192xi32>
  return %result : tensor<2x192xi32>
}

// CHECK-LABEL: func.func @sums_by_rows(
// CHECK:         call @coded_product{{.*}} : (tensor<4x64x96xi8>, tensor<1x5x4x64xi8>, tensor<4x96xf32>) -> tensor<5x96xf32>
func.func @sums_by_rows(%x: tensor<5x4x64xi8>, %codes: tensor<4x64x96xi8>, %scales: tensor<4x96xf32>) -> tensor<5x96xf32> {
  %d = stablehlo.dot_general %x, %codes, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<5x4x64xi8>, tensor<4x64x96xi8>) -> tensor<4x5x96xi32>
  %f = stablehlo.convert %d : (tensor<4x5x96xi32>) -> tensor<4x5x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x96xf32>) -> tensor<4x5x96xf32>
  %fs = stablehlo.multiply %s, %f : tensor<4x5x96xf32>
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%fs init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4x5x96xf32>, tensor<f32>) -> tensor<5x96xf32>
  return %sum : tensor<5x96xf32>
}

// Words of eight neighbouring k as GPTQ has them, taken apart as bytes, with zeros that are unpacked and increased as bytes, too.
// CHECK-LABEL: func.func @words(
// CHECK-NOT:     dot_general
// CHECK:         call @coded_product{{.*}} : (tensor<4x8x128xi32>, tensor<2x3x4x32xi8>, tensor<4x128xf32>, tensor<4x128xi8>) -> tensor<3x128xf32>
func.func @words(%x: tensor<3x256xi8>, %rows: tensor<3xf32>, %words: tensor<32x128xi32>, %zeros: tensor<4x16xi32>, %scales: tensor<4x128xf32>) -> tensor<3x128xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<32x8x128xi8>
  %all = stablehlo.broadcast_in_dim %words, dims = [0, 2] : (tensor<32x128xi32>) -> tensor<32x8x128xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi32>) -> tensor<32x8x128xi32>
  %shifted = stablehlo.shift_right_arithmetic %all, %by : tensor<32x8x128xi32>
  %bytes = stablehlo.convert %shifted : (tensor<32x8x128xi32>) -> tensor<32x8x128xi8>
  %c = stablehlo.and %bytes, %15 : tensor<32x8x128xi8>
  %codes = stablehlo.reshape %c : (tensor<32x8x128xi8>) -> tensor<4x64x128xi8>
  %zall = stablehlo.broadcast_in_dim %zeros, dims = [0, 1] : (tensor<4x16xi32>) -> tensor<4x16x8xi32>
  %zby = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xi32>) -> tensor<4x16x8xi32>
  %zshifted = stablehlo.shift_right_arithmetic %zall, %zby : tensor<4x16x8xi32>
  %zbytes = stablehlo.convert %zshifted : (tensor<4x16x8xi32>) -> tensor<4x16x8xi8>
  %z15 = stablehlo.constant dense<15> : tensor<4x16x8xi8>
  %zc = stablehlo.and %zbytes, %z15 : tensor<4x16x8xi8>
  %one = stablehlo.constant dense<1> : tensor<4x16x8xi8>
  %z = stablehlo.add %zc, %one : tensor<4x16x8xi8>
  %zflat = stablehlo.reshape %z : (tensor<4x16x8xi8>) -> tensor<4x128xi8>
  %zb = stablehlo.broadcast_in_dim %zflat, dims = [0, 2] : (tensor<4x128xi8>) -> tensor<4x64x128xi8>
  %d = stablehlo.subtract %codes, %zb : tensor<4x64x128xi8>
  %f = stablehlo.convert %d : (tensor<4x64x128xi8>) -> tensor<4x64x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x128xf32>) -> tensor<4x64x128xf32>
  %m = stablehlo.multiply %s, %f : tensor<4x64x128xf32>
  %w = stablehlo.reshape %m : (tensor<4x64x128xf32>) -> tensor<256x128xf32>
  %xf = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %r = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<3xf32>) -> tensor<3x256xf32>
  %a = stablehlo.multiply %xf, %r : tensor<3x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x256xf32>, tensor<256x128xf32>) -> tensor<3x128xf32>
  return %result : tensor<3x128xf32>
}

// Words of one column after the other, unsigned and widened, with 8 as zero.
// CHECK-LABEL: func.func @words_in_columns(
// CHECK:         call @coded_product{{.*}} : (tensor<96x2x16xui32>, tensor<2x20x2x64xi8>, tensor<96x2xf32>) -> tensor<20x96xf32>
func.func @words_in_columns(%x: tensor<20x256xi8>, %words: tensor<96x32xui32>, %scales: tensor<96x2xf32>) -> tensor<20x96xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xui64>
  %15 = stablehlo.constant dense<15> : tensor<96x32x8xui64>
  %wide = stablehlo.convert %words : (tensor<96x32xui32>) -> tensor<96x32xui64>
  %all = stablehlo.broadcast_in_dim %wide, dims = [0, 1] : (tensor<96x32xui64>) -> tensor<96x32x8xui64>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xui64>) -> tensor<96x32x8xui64>
  %shifted = stablehlo.shift_right_logical %all, %by : tensor<96x32x8xui64>
  %c = stablehlo.and %shifted, %15 : tensor<96x32x8xui64>
  %codes = stablehlo.reshape %c : (tensor<96x32x8xui64>) -> tensor<96x2x128xui64>
  %i = stablehlo.convert %codes : (tensor<96x2x128xui64>) -> tensor<96x2x128xf32>
  %8 = stablehlo.constant dense<8.0> : tensor<96x2x128xf32>
  %d = stablehlo.subtract %i, %8 : tensor<96x2x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x2xf32>) -> tensor<96x2x128xf32>
  %m = stablehlo.multiply %d, %s : tensor<96x2x128xf32>
  %w = stablehlo.reshape %m : (tensor<96x2x128xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<20x256xi8>) -> tensor<20x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<20x256xf32>, tensor<96x256xf32>) -> tensor<20x96xf32>
  return %result : tensor<20x96xf32>
}

// Bytes of which a zero is subtracted that may not fit in a byte stay as they are.
// CHECK-LABEL: func.func @differences_that_wrap(
// CHECK-NOT:     call
// CHECK:         return
func.func @differences_that_wrap(%x: tensor<3x256xi8>, %codes: tensor<4x64x128xi8>, %zeros: tensor<4x128xi8>, %scales: tensor<4x128xf32>) -> tensor<3x128xf32> {
  %zb = stablehlo.broadcast_in_dim %zeros, dims = [0, 2] : (tensor<4x128xi8>) -> tensor<4x64x128xi8>
  %d = stablehlo.subtract %codes, %zb : tensor<4x64x128xi8>
  %f = stablehlo.convert %d : (tensor<4x64x128xi8>) -> tensor<4x64x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x128xf32>) -> tensor<4x64x128xf32>
  %m = stablehlo.multiply %s, %f : tensor<4x64x128xf32>
  %w = stablehlo.reshape %m : (tensor<4x64x128xf32>) -> tensor<256x128xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x256xf32>, tensor<256x128xf32>) -> tensor<3x128xf32>
  return %result : tensor<3x128xf32>
}

// Eight columns in a word, in AWQ's order, codes as bytes whose low half is taken after the columns were put in order: the words are read as they are.
// CHECK-LABEL: func.func @columns_in_words(
// CHECK-NOT:     dot_general
// CHECK:         call @coded_product{{.*}} : (tensor<4x64x16xi32>, tensor<1x3x4x64xi8>, tensor<4x128xf32>, tensor<4x128xi8>) -> tensor<3x128xf32>
// KERNELS:       millrace.coded_product = {across = array<i64: 0, 4, 1, 5, 2, 6, 3, 7>, by_rows = true, narrow = false, packed = true, ragged = false, scaled = true, signed = false, zero = 0 : i64, zeros = true}
func.func @columns_in_words(%x: tensor<3x256xi8>, %words: tensor<256x16xi32>, %zeros: tensor<4x128xi8>, %scales: tensor<4x128xf32>) -> tensor<3x128xf32> {
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
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x256xf32>, tensor<256x128xf32>) -> tensor<3x128xf32>
  return %r : tensor<3x128xf32>
}

// Two columns in a byte, with a sign, the first one in the high half.
// CHECK-LABEL: func.func @columns_in_signed_bytes(
// CHECK-NOT:     dot_general
// CHECK:         call @coded_product{{.*}} : (tensor<2x128x48xi8>, tensor<1x17x2x128xi8>, tensor<2x96xf32>) -> tensor<17x96xf32>
// KERNELS:       millrace.coded_product = {across = array<i64: 1, 0>, by_rows = true, narrow = false, packed = true, ragged = false, scaled = true, signed = true, zero = 0 : i64, zeros = false}
func.func @columns_in_signed_bytes(%x: tensor<17x256xi8>, %bytes: tensor<256x48xi8>, %scales: tensor<2x96xf32>) -> tensor<17x96xf32> {
  %4 = stablehlo.constant dense<4> : tensor<256x48xi8>
  %up = stablehlo.shift_left %bytes, %4 : tensor<256x48xi8>
  %low = stablehlo.shift_right_arithmetic %up, %4 : tensor<256x48xi8>
  %high = stablehlo.shift_right_arithmetic %bytes, %4 : tensor<256x48xi8>
  %l = stablehlo.reshape %low : (tensor<256x48xi8>) -> tensor<256x48x1xi8>
  %h = stablehlo.reshape %high : (tensor<256x48xi8>) -> tensor<256x48x1xi8>
  %both = stablehlo.concatenate %h, %l, dim = 2 : (tensor<256x48x1xi8>, tensor<256x48x1xi8>) -> tensor<256x48x2xi8>
  %codes = stablehlo.reshape %both : (tensor<256x48x2xi8>) -> tensor<2x128x96xi8>
  %f = stablehlo.convert %codes : (tensor<2x128x96xi8>) -> tensor<2x128x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<2x96xf32>) -> tensor<2x128x96xf32>
  %m = stablehlo.multiply %f, %s : tensor<2x128x96xf32>
  %w = stablehlo.reshape %m : (tensor<2x128x96xf32>) -> tensor<256x96xf32>
  %a = stablehlo.convert %x : (tensor<17x256xi8>) -> tensor<17x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<17x256xf32>, tensor<256x96xf32>) -> tensor<17x96xf32>
  return %r : tensor<17x96xf32>
}

// The same of a constant argument: packed once as words of eight neighbours in a column.
// CHECK-LABEL: func.func @constant_columns_in_bytes(
// CHECK-NOT:     dot_general
// CHECK:         call @coded_product{{.*}} : (tensor<2x16x96xi32>, tensor<2x17x2x64xi8>, tensor<2x96xf32>) -> tensor<17x96xf32>
// KERNELS:       millrace.coded_product = {across = array<i64>, by_rows = true, narrow = false, packed = true, ragged = false, scaled = true, signed = true, zero = 0 : i64, zeros = false}
func.func @constant_columns_in_bytes(%x: tensor<17x256xi8>, %bytes: tensor<256x48xi8> {millrace.constant}, %scales: tensor<2x96xf32>) -> tensor<17x96xf32> {
  %4 = stablehlo.constant dense<4> : tensor<256x48xi8>
  %up = stablehlo.shift_left %bytes, %4 : tensor<256x48xi8>
  %low = stablehlo.shift_right_arithmetic %up, %4 : tensor<256x48xi8>
  %high = stablehlo.shift_right_arithmetic %bytes, %4 : tensor<256x48xi8>
  %l = stablehlo.reshape %low : (tensor<256x48xi8>) -> tensor<256x48x1xi8>
  %h = stablehlo.reshape %high : (tensor<256x48xi8>) -> tensor<256x48x1xi8>
  %both = stablehlo.concatenate %h, %l, dim = 2 : (tensor<256x48x1xi8>, tensor<256x48x1xi8>) -> tensor<256x48x2xi8>
  %codes = stablehlo.reshape %both : (tensor<256x48x2xi8>) -> tensor<2x128x96xi8>
  %f = stablehlo.convert %codes : (tensor<2x128x96xi8>) -> tensor<2x128x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<2x96xf32>) -> tensor<2x128x96xf32>
  %m = stablehlo.multiply %f, %s : tensor<2x128x96xf32>
  %w = stablehlo.reshape %m : (tensor<2x128x96xf32>) -> tensor<256x96xf32>
  %a = stablehlo.convert %x : (tensor<17x256xi8>) -> tensor<17x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<17x256xf32>, tensor<256x96xf32>) -> tensor<17x96xf32>
  return %r : tensor<17x96xf32>
}

// The same of unsigned words, whose highest bit is set in half of them.
// CHECK-LABEL: func.func @constant_columns_in_unsigned_words(
// CHECK-NOT:     dot_general
// CHECK-COUNT-8: stablehlo.bitcast_convert {{.*}} : (tensor<32x16xui32>) -> tensor<32x16xi32>
// CHECK:         call @coded_product{{.*}} : (tensor<4x8x128xi32>, tensor<2x3x4x32xi8>, tensor<4x128xf32>) -> tensor<3x128xf32>
func.func @constant_columns_in_unsigned_words(%x: tensor<3x256xi8>, %words: tensor<256x16xui32> {millrace.constant}, %scales: tensor<4x128xf32>) -> tensor<3x128xf32> {
  %high = stablehlo.constant dense<2863311530> : tensor<256x16xui32>
  %all = stablehlo.xor %words, %high : tensor<256x16xui32>
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xui32>
  %15 = stablehlo.constant dense<15> : tensor<256x128xi8>
  %each = stablehlo.broadcast_in_dim %all, dims = [0, 1] : (tensor<256x16xui32>) -> tensor<256x16x8xui32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xui32>) -> tensor<256x16x8xui32>
  %shifted = stablehlo.shift_right_logical %each, %by : tensor<256x16x8xui32>
  %bytes = stablehlo.convert %shifted : (tensor<256x16x8xui32>) -> tensor<256x16x8xi8>
  %flat = stablehlo.reshape %bytes : (tensor<256x16x8xi8>) -> tensor<256x128xi8>
  %low = stablehlo.and %flat, %15 : tensor<256x128xi8>
  %codes = stablehlo.reshape %low : (tensor<256x128xi8>) -> tensor<4x64x128xi8>
  %f = stablehlo.convert %codes : (tensor<4x64x128xi8>) -> tensor<4x64x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x128xf32>) -> tensor<4x64x128xf32>
  %m = stablehlo.multiply %f, %s : tensor<4x64x128xf32>
  %w = stablehlo.reshape %m : (tensor<4x64x128xf32>) -> tensor<256x128xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x256xf32>, tensor<256x128xf32>) -> tensor<3x128xf32>
  return %r : tensor<3x128xf32>
}

// Those of an argument that the caller gives up are read as they are, although it is marked: no preparation reads it.
// CHECK-LABEL: func.func @donated_columns_in_bytes(
// CHECK-NOT:     dot_general
// CHECK:         call @coded_product{{.*}} : (tensor<2x128x48xi8>, tensor<1x17x2x128xi8>, tensor<2x96xf32>) -> tensor<17x96xf32>
func.func @donated_columns_in_bytes(%x: tensor<17x256xi8>, %bytes: tensor<256x48xi8> {millrace.constant, jax.buffer_donor = true}, %scales: tensor<2x96xf32>) -> tensor<17x96xf32> {
  %4 = stablehlo.constant dense<4> : tensor<256x48xi8>
  %up = stablehlo.shift_left %bytes, %4 : tensor<256x48xi8>
  %low = stablehlo.shift_right_arithmetic %up, %4 : tensor<256x48xi8>
  %high = stablehlo.shift_right_arithmetic %bytes, %4 : tensor<256x48xi8>
  %l = stablehlo.reshape %low : (tensor<256x48xi8>) -> tensor<256x48x1xi8>
  %h = stablehlo.reshape %high : (tensor<256x48xi8>) -> tensor<256x48x1xi8>
  %both = stablehlo.concatenate %h, %l, dim = 2 : (tensor<256x48x1xi8>, tensor<256x48x1xi8>) -> tensor<256x48x2xi8>
  %codes = stablehlo.reshape %both : (tensor<256x48x2xi8>) -> tensor<2x128x96xi8>
  %f = stablehlo.convert %codes : (tensor<2x128x96xi8>) -> tensor<2x128x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<2x96xf32>) -> tensor<2x128x96xf32>
  %m = stablehlo.multiply %f, %s : tensor<2x128x96xf32>
  %w = stablehlo.reshape %m : (tensor<2x128x96xf32>) -> tensor<256x96xf32>
  %a = stablehlo.convert %x : (tensor<17x256xi8>) -> tensor<17x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<17x256xf32>, tensor<256x96xf32>) -> tensor<17x96xf32>
  return %r : tensor<17x96xf32>
}

// Neighbours of a column in a byte, the first one in the high half: elements of x are put in that order.
// CHECK-LABEL: func.func @high_half_first(
// CHECK-NOT:     dot_general
// CHECK:         "stablehlo.gather"({{.*}}) {{.*}} : (tensor<3x128x2xi8>, tensor<2x1xi32>) -> tensor<3x128x2xi8>
// CHECK:         call @coded_product{{.*}} : (tensor<96x8x16xui8>, tensor<2x3x8x16xi8>, tensor<96x8xf32>) -> tensor<3x96xf32>
func.func @high_half_first(%x: tensor<3x256xi8>, %bytes: tensor<96x128xui8>, %scales: tensor<96x8xf32>) -> tensor<3x96xf32> {
  %15 = stablehlo.constant dense<15> : tensor<96x128xui8>
  %4 = stablehlo.constant dense<4> : tensor<96x128xui8>
  %low = stablehlo.and %bytes, %15 : tensor<96x128xui8>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<96x128xui8>
  %l = stablehlo.reshape %low : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %h = stablehlo.reshape %high : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %both = stablehlo.concatenate %h, %l, dim = 2 : (tensor<96x128x1xui8>, tensor<96x128x1xui8>) -> tensor<96x128x2xui8>
  %codes = stablehlo.reshape %both : (tensor<96x128x2xui8>) -> tensor<96x8x32xui8>
  %f = stablehlo.convert %codes : (tensor<96x8x32xui8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %m = stablehlo.multiply %f, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %m : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<3x256xf32>, tensor<96x256xf32>) -> tensor<3x96xf32>
  return %r : tensor<3x96xf32>
}

// Eight neighbours of a column in a word, even ones first.
// CHECK-LABEL: func.func @words_in_other_order(
// CHECK-NOT:     dot_general
// CHECK:         "stablehlo.gather"({{.*}}) {{.*}} : (tensor<3x32x8xi8>, tensor<8x1xi32>) -> tensor<3x32x8xi8>
// CHECK:         call @coded_product{{.*}} : (tensor<4x8x128xi32>, tensor<2x3x4x32xi8>, tensor<4x128xf32>) -> tensor<3x128xf32>
func.func @words_in_other_order(%x: tensor<3x256xi8>, %words: tensor<32x128xi32>, %scales: tensor<4x128xf32>) -> tensor<3x128xf32> {
  %amounts = stablehlo.constant dense<[0, 16, 4, 20, 8, 24, 12, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<32x8x128xi32>
  %all = stablehlo.broadcast_in_dim %words, dims = [0, 2] : (tensor<32x128xi32>) -> tensor<32x8x128xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi32>) -> tensor<32x8x128xi32>
  %shifted = stablehlo.shift_right_logical %all, %by : tensor<32x8x128xi32>
  %c = stablehlo.and %shifted, %15 : tensor<32x8x128xi32>
  %codes = stablehlo.reshape %c : (tensor<32x8x128xi32>) -> tensor<4x64x128xi32>
  %f = stablehlo.convert %codes : (tensor<4x64x128xi32>) -> tensor<4x64x128xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<4x128xf32>) -> tensor<4x64x128xf32>
  %m = stablehlo.multiply %s, %f : tensor<4x64x128xf32>
  %w = stablehlo.reshape %m : (tensor<4x64x128xf32>) -> tensor<256x128xf32>
  %a = stablehlo.convert %x : (tensor<3x256xi8>) -> tensor<3x256xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x256xf32>, tensor<256x128xf32>) -> tensor<3x128xf32>
  return %r : tensor<3x128xf32>
}

// A group for each row of weights, in any order: rows of words are brought together by groups, which begin at rows of a table. Four groups of 512 rows
// need at most 68 rows of words.
// CHECK-LABEL: func.func @groups_in_any_order(
// CHECK-NOT:     dot_general
// CHECK:         "stablehlo.sort"(
// CHECK:         call @coded_product{{.*}} : (tensor<1x68x64xi32>, tensor<2x3x1x272xi8>, tensor<4x64xf32>, tensor<4x64xi8>, tensor<5xi32>) -> tensor<3x64xf32>
// KERNELS:       millrace.coded_product = {across = array<i64>, by_rows = true, narrow = false, packed = true, ragged = true, scaled = true, signed = false, zero = 0 : i64, zeros = true}
func.func @groups_in_any_order(%x: tensor<3x512xi8>, %words: tensor<64x64xi32> {millrace.constant}, %zeros: tensor<4x64xi8>, %scales: tensor<4x64xf32>, %groups: tensor<512x1xi32> {millrace.constant}) -> tensor<3x64xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<64x8x64xi32>
  %all = stablehlo.broadcast_in_dim %words, dims = [0, 2] : (tensor<64x64xi32>) -> tensor<64x8x64xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi32>) -> tensor<64x8x64xi32>
  %shifted = stablehlo.shift_right_logical %all, %by : tensor<64x8x64xi32>
  %c = stablehlo.and %shifted, %15 : tensor<64x8x64xi32>
  %bytes = stablehlo.convert %c : (tensor<64x8x64xi32>) -> tensor<64x8x64xi8>
  %codes = stablehlo.reshape %bytes : (tensor<64x8x64xi8>) -> tensor<512x64xi8>
  %z15 = stablehlo.constant dense<15> : tensor<4x64xi8>
  %zcodes = stablehlo.and %zeros, %z15 : tensor<4x64xi8>
  %z = "stablehlo.gather"(%zcodes, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xi8>, tensor<512x1xi32>) -> tensor<512x64xi8>
  %s = "stablehlo.gather"(%scales, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xf32>, tensor<512x1xi32>) -> tensor<512x64xf32>
  %d = stablehlo.subtract %codes, %z : tensor<512x64xi8>
  %f = stablehlo.convert %d : (tensor<512x64xi8>) -> tensor<512x64xf32>
  %w = stablehlo.multiply %s, %f : tensor<512x64xf32>
  %a = stablehlo.convert %x : (tensor<3x512xi8>) -> tensor<3x512xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x512xf32>, tensor<512x64xf32>) -> tensor<3x64xf32>
  return %r : tensor<3x64xf32>
}

// The same in each call, where many rows read the words.
// CHECK-LABEL: func.func @groups_for_many_rows(
// CHECK-NOT:     dot_general
// CHECK:         call @coded_product{{.*}} : (tensor<1x68x64xi32>, tensor<2x40x1x272xi8>, tensor<4x64xf32>, tensor<4x64xi8>, tensor<5xi32>) -> tensor<40x64xf32>
func.func @groups_for_many_rows(%x: tensor<40x512xi8>, %words: tensor<64x64xi32>, %zeros: tensor<4x64xi8>, %scales: tensor<4x64xf32>, %groups: tensor<512x1xi32>) -> tensor<40x64xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<64x8x64xi32>
  %all = stablehlo.broadcast_in_dim %words, dims = [0, 2] : (tensor<64x64xi32>) -> tensor<64x8x64xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi32>) -> tensor<64x8x64xi32>
  %shifted = stablehlo.shift_right_logical %all, %by : tensor<64x8x64xi32>
  %c = stablehlo.and %shifted, %15 : tensor<64x8x64xi32>
  %bytes = stablehlo.convert %c : (tensor<64x8x64xi32>) -> tensor<64x8x64xi8>
  %codes = stablehlo.reshape %bytes : (tensor<64x8x64xi8>) -> tensor<512x64xi8>
  %z15 = stablehlo.constant dense<15> : tensor<4x64xi8>
  %zcodes = stablehlo.and %zeros, %z15 : tensor<4x64xi8>
  %z = "stablehlo.gather"(%zcodes, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xi8>, tensor<512x1xi32>) -> tensor<512x64xi8>
  %s = "stablehlo.gather"(%scales, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xf32>, tensor<512x1xi32>) -> tensor<512x64xf32>
  %d = stablehlo.subtract %codes, %z : tensor<512x64xi8>
  %f = stablehlo.convert %d : (tensor<512x64xi8>) -> tensor<512x64xf32>
  %w = stablehlo.multiply %s, %f : tensor<512x64xf32>
  %a = stablehlo.convert %x : (tensor<40x512xi8>) -> tensor<40x512xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<40x512xf32>, tensor<512x64xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// For few rows, words that may be others in each call stay as they are.
// CHECK-LABEL: func.func @groups_that_change(
// CHECK-NOT:     call
// CHECK:         return
func.func @groups_that_change(%x: tensor<3x512xi8>, %words: tensor<64x64xi32>, %zeros: tensor<4x64xi8>, %scales: tensor<4x64xf32>, %groups: tensor<512x1xi32>) -> tensor<3x64xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<64x8x64xi32>
  %all = stablehlo.broadcast_in_dim %words, dims = [0, 2] : (tensor<64x64xi32>) -> tensor<64x8x64xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [1] : (tensor<8xi32>) -> tensor<64x8x64xi32>
  %shifted = stablehlo.shift_right_logical %all, %by : tensor<64x8x64xi32>
  %c = stablehlo.and %shifted, %15 : tensor<64x8x64xi32>
  %bytes = stablehlo.convert %c : (tensor<64x8x64xi32>) -> tensor<64x8x64xi8>
  %codes = stablehlo.reshape %bytes : (tensor<64x8x64xi8>) -> tensor<512x64xi8>
  %z15 = stablehlo.constant dense<15> : tensor<4x64xi8>
  %zcodes = stablehlo.and %zeros, %z15 : tensor<4x64xi8>
  %z = "stablehlo.gather"(%zcodes, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xi8>, tensor<512x1xi32>) -> tensor<512x64xi8>
  %s = "stablehlo.gather"(%scales, %groups) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4x64xf32>, tensor<512x1xi32>) -> tensor<512x64xf32>
  %d = stablehlo.subtract %codes, %z : tensor<512x64xi8>
  %f = stablehlo.convert %d : (tensor<512x64xi8>) -> tensor<512x64xf32>
  %w = stablehlo.multiply %s, %f : tensor<512x64xf32>
  %a = stablehlo.convert %x : (tensor<3x512xi8>) -> tensor<3x512xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x512xf32>, tensor<512x64xf32>) -> tensor<3x64xf32>
  return %r : tensor<3x64xf32>
}

// Words of columns of which vectors are no whole number.
// CHECK-LABEL: func.func @too_few_columns_in_words(
// CHECK-NOT:     call
// CHECK:         return
func.func @too_few_columns_in_words(%x: tensor<3x512xi8>, %words: tensor<512x6xi32>) -> tensor<3x48xf32> {
  %amounts = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %15 = stablehlo.constant dense<15> : tensor<512x6x8xi32>
  %all = stablehlo.broadcast_in_dim %words, dims = [0, 1] : (tensor<512x6xi32>) -> tensor<512x6x8xi32>
  %by = stablehlo.broadcast_in_dim %amounts, dims = [2] : (tensor<8xi32>) -> tensor<512x6x8xi32>
  %shifted = stablehlo.shift_right_arithmetic %all, %by : tensor<512x6x8xi32>
  %c = stablehlo.and %shifted, %15 : tensor<512x6x8xi32>
  %f = stablehlo.convert %c : (tensor<512x6x8xi32>) -> tensor<512x6x8xf32>
  %w = stablehlo.reshape %f : (tensor<512x6x8xf32>) -> tensor<512x48xf32>
  %a = stablehlo.convert %x : (tensor<3x512xi8>) -> tensor<3x512xf32>
  %result = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<3x512xf32>, tensor<512x48xf32>) -> tensor<3x48xf32>
  return %result : tensor<3x48xf32>
}
