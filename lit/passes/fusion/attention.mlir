// RUN: xla-opt %s -xla-fuse-attention -xla-fuse-kernels -split-input-file | FileCheck %s

// Two layers share a mask: each attention is one kernel with a copy of what spreads it and with the transpose behind it.
// CHECK-LABEL: func.func @layers
// CHECK-NEXT: %[[X:.*]] = call @[[K:transpose_[0-9_]+]]({{.*}}%arg3
// CHECK-NEXT: %[[Y:.*]] = call @[[L:transpose_[0-9_]+]]({{.*}}%arg3
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @[[K]]
// CHECK: dot_general
// CHECK: broadcast_in_dim
// CHECK: exponential
// CHECK: dot_general
// CHECK: transpose
// CHECK: func.func private @[[L]]
func.func @layers(%q: tensor<32x4x8xf32>, %k: tensor<40x4x8xf32>, %v: tensor<40x4x8xf32>, %bias: tensor<40xf32>) -> tensor<32x4x8xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mask = stablehlo.broadcast_in_dim %bias, dims = [2] : (tensor<40xf32>) -> tensor<4x32x40xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<32x4x8xf32>, tensor<40x4x8xf32>) -> tensor<4x32x40xf32>
  %1 = stablehlo.add %0, %mask : tensor<4x32x40xf32>
  %2 = stablehlo.reduce(%1 init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x40xf32>, tensor<f32>) -> tensor<4x32xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x40xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<4x32x40xf32>
  %5 = stablehlo.exponential %4 : tensor<4x32x40xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x32x40xf32>, tensor<f32>) -> tensor<4x32xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x40xf32>
  %8 = stablehlo.divide %5, %7 : tensor<4x32x40xf32>
  %9 = stablehlo.dot_general %8, %v, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<4x32x40xf32>, tensor<40x4x8xf32>) -> tensor<4x32x8xf32>
  %10 = stablehlo.transpose %9, dims = [1, 0, 2] : (tensor<4x32x8xf32>) -> tensor<32x4x8xf32>
  %11 = stablehlo.dot_general %10, %k, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<32x4x8xf32>, tensor<40x4x8xf32>) -> tensor<4x32x40xf32>
  %12 = stablehlo.add %11, %mask : tensor<4x32x40xf32>
  %13 = stablehlo.exponential %12 : tensor<4x32x40xf32>
  %14 = stablehlo.dot_general %13, %v, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<4x32x40xf32>, tensor<40x4x8xf32>) -> tensor<4x32x8xf32>
  %15 = stablehlo.transpose %14, dims = [1, 0, 2] : (tensor<4x32x8xf32>) -> tensor<32x4x8xf32>
  return %15 : tensor<32x4x8xf32>
}

// -----

// Somebody else needs the weights.
// CHECK-LABEL: func.func @weights_returned
// CHECK-COUNT-2: call @
func.func @weights_returned(%q: tensor<32x8xf32>, %k: tensor<40x8xf32>, %v: tensor<40x16xf32>) -> (tensor<32x16xf32>, tensor<32x40xf32>) {
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<40x8xf32>) -> tensor<32x40xf32>
  %1 = stablehlo.exponential %0 : tensor<32x40xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<32x40xf32>, tensor<40x16xf32>) -> tensor<32x16xf32>
  return %2, %1 : tensor<32x16xf32>, tensor<32x40xf32>
}

// -----

// A few rows: the keys are read once, whoever does it.
// CHECK-LABEL: func.func @decode
// CHECK-COUNT-2: call @
func.func @decode(%q: tensor<4x2x8xf32>, %k: tensor<4x400x8xf32>, %v: tensor<4x400x16xf32>) -> tensor<4x2x16xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x2x8xf32>, tensor<4x400x8xf32>) -> tensor<4x2x400xf32>
  %1 = stablehlo.exponential %0 : tensor<4x2x400xf32>
  %2 = stablehlo.dot_general %1, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x2x400xf32>, tensor<4x400x16xf32>) -> tensor<4x2x16xf32>
  return %2 : tensor<4x2x16xf32>
}

// -----

// No exponential: two layers of a perceptron have large weights instead of keys and values.
// CHECK-LABEL: func.func @perceptron
// CHECK-COUNT-2: call @
func.func @perceptron(%x: tensor<32x8xf32>, %w: tensor<8x40xf32>, %u: tensor<40x16xf32>) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x8xf32>, tensor<8x40xf32>) -> tensor<32x40xf32>
  %1 = stablehlo.tanh %0 : tensor<32x40xf32>
  %2 = stablehlo.dot_general %1, %u, contracting_dims = [1] x [0] : (tensor<32x40xf32>, tensor<40x16xf32>) -> tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}

// -----

// As PyTorch writes it: factors scaled by a run-time number, one batch dimension for products and two for all else, heads that share
// keys repeated. All of that is part of packing.
// CHECK-LABEL: func.func @torch
// CHECK-NEXT: %[[Q:.*]] = stablehlo.reshape %arg0
// CHECK-NEXT: call @{{.*}}(%arg3, %[[Q]], %arg1, %arg2)
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: return
func.func @torch(%q: tensor<2x6x32x8xf32>, %k: tensor<2x3x40x8xf32>, %v: tensor<12x40x16xf32>, %scale: tensor<f32>) -> tensor<2x6x32x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<12x32x8xf32>
  %0 = stablehlo.reshape %q : (tensor<2x6x32x8xf32>) -> tensor<12x32x8xf32>
  %1 = stablehlo.multiply %0, %scales : tensor<12x32x8xf32>
  %2 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3, 4] : (tensor<2x3x40x8xf32>) -> tensor<2x3x2x40x8xf32>
  %3 = stablehlo.transpose %2, dims = [0, 1, 2, 4, 3] : (tensor<2x3x2x40x8xf32>) -> tensor<2x3x2x8x40xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x3x2x8x40xf32>) -> tensor<12x8x40xf32>
  %5 = stablehlo.dot_general %1, %4, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<12x32x8xf32>, tensor<12x8x40xf32>) -> tensor<12x32x40xf32>
  %6 = stablehlo.reshape %5 : (tensor<12x32x40xf32>) -> tensor<2x6x32x40xf32>
  %7 = stablehlo.exponential %6 : tensor<2x6x32x40xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x6x32x40xf32>, tensor<f32>) -> tensor<2x6x32xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x6x32xf32>) -> tensor<2x6x32x40xf32>
  %10 = stablehlo.divide %7, %9 : tensor<2x6x32x40xf32>
  %11 = stablehlo.reshape %10 : (tensor<2x6x32x40xf32>) -> tensor<12x32x40xf32>
  %12 = stablehlo.dot_general %11, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<12x32x40xf32>, tensor<12x40x16xf32>) -> tensor<12x32x16xf32>
  %13 = stablehlo.reshape %12 : (tensor<12x32x16xf32>) -> tensor<2x6x32x16xf32>
  return %13 : tensor<2x6x32x16xf32>
}

// -----

// A mask made of indices and a run-time number joins: its kernel sees which keys no row reaches.
// CHECK-LABEL: func.func @added_mask
// CHECK-NEXT: call @{{.*}}(%arg3, %arg0, %arg1, %arg2)
// CHECK-NEXT: return
func.func @added_mask(%q: tensor<1x32x8xf32>, %k: tensor<1x32x8xf32>, %v: tensor<1x32x16xf32>, %low: tensor<f32>) -> tensor<1x32x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<32x32xf32>
  %row = stablehlo.iota dim = 0 : tensor<32x32xi32>
  %column = stablehlo.iota dim = 1 : tensor<32x32xi32>
  %allowed = stablehlo.compare GE, %row, %column : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
  %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
  %choice = stablehlo.select %allowed, %zero, %lows : tensor<32x32xi1>, tensor<32x32xf32>
  %mask = stablehlo.reshape %choice : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x32x8xf32>, tensor<1x32x8xf32>) -> tensor<1x32x32xf32>
  %1 = stablehlo.add %0, %mask : tensor<1x32x32xf32>
  %2 = stablehlo.exponential %1 : tensor<1x32x32xf32>
  %3 = stablehlo.dot_general %2, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x32x32xf32>, tensor<1x32x16xf32>) -> tensor<1x32x16xf32>
  return %3 : tensor<1x32x16xf32>
}

// -----

// The sums of the rows are a second result, for what comes later.
// CHECK-LABEL: func.func @row_sums
// CHECK-NEXT: %[[R:.*]]:2 = call @[[K:dot_general_[0-9_]+]](
// CHECK-NEXT: %[[L:.*]] = call @{{.*}}(%[[R]]#{{[01]}})
// CHECK-NEXT: return %[[R]]#{{[01]}}, %[[L]]
func.func @row_sums(%q: tensor<4x32x8xf32>, %k: tensor<4x40x8xf32>, %v: tensor<4x40x16xf32>) -> (tensor<4x32x16xf32>, tensor<4x32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x8xf32>, tensor<4x40x8xf32>) -> tensor<4x32x40xf32>
  %1 = stablehlo.exponential %0 : tensor<4x32x40xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x32x40xf32>, tensor<f32>) -> tensor<4x32xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x40xf32>
  %4 = stablehlo.divide %1, %3 : tensor<4x32x40xf32>
  %5 = stablehlo.dot_general %4, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x40xf32>, tensor<4x40x16xf32>) -> tensor<4x32x16xf32>
  %6 = stablehlo.log %2 : tensor<4x32xf32>
  return %5, %6 : tensor<4x32x16xf32>, tensor<4x32xf32>
}
