// RUN: xla-opt %s -xla-repeat-cheap-operations -xla-fuse-kernels -split-input-file | FileCheck %s

// A chain of elementwise operations is one kernel; constants move into it.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[R:.*]] = call @[[K:tanh_[0-9_]+]](%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @[[K]]
// CHECK-SAME: attributes {millrace.kernel}
// CHECK: stablehlo.constant
// CHECK: stablehlo.add
// CHECK: stablehlo.multiply
// CHECK: stablehlo.tanh
func.func @chain(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<64x64xf32>
  %0 = stablehlo.add %a, %b : tensor<64x64xf32>
  %1 = stablehlo.multiply %0, %c : tensor<64x64xf32>
  %2 = stablehlo.tanh %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// Softmax: two row reductions and their consumers share one kernel.
// CHECK-LABEL: func.func @softmax
// CHECK-COUNT-1: call @
// CHECK-NEXT: return
func.func @softmax(%a: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%a init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %shifted = stablehlo.subtract %a, %maxes : tensor<64x128xf32>
  %e = stablehlo.exponential %shifted : tensor<64x128xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %r = stablehlo.divide %e, %sums : tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// -----

// What a row's sum becomes before it is broadcast (the mean, the deviation) does not part the reductions from their users.
// CHECK-LABEL: func.func @normalization
// CHECK-COUNT-1: call @
// CHECK-NEXT: return
func.func @normalization(%a: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<128.0> : tensor<64xf32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %mean = stablehlo.divide %sum, %count : tensor<64xf32>
  %means = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %d = stablehlo.subtract %a, %means : tensor<64x128xf32>
  %q = stablehlo.multiply %d, %d : tensor<64x128xf32>
  %squares = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %variance = stablehlo.divide %squares, %count : tensor<64xf32>
  %r = stablehlo.rsqrt %variance : tensor<64xf32>
  %rs = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %n = stablehlo.multiply %d, %rs : tensor<64x128xf32>
  return %n : tensor<64x128xf32>
}

// -----

// Columns' numbers are no rows' numbers, and one number of everything would leave one row.
// CHECK-LABEL: func.func @columns
// CHECK-COUNT-3: call @
// CHECK: return
func.func @columns(%a: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>
  %e = stablehlo.exponential %sum : tensor<128xf32>
  %es = stablehlo.broadcast_in_dim %e, dims = [1] : (tensor<128xf32>) -> tensor<64x128xf32>
  %r = stablehlo.multiply %a, %es : tensor<64x128xf32>
  %all = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<f32>
  %f = stablehlo.exponential %all : tensor<f32>
  %fs = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
  %s = stablehlo.multiply %a, %fs : tensor<64x128xf32>
  return %r, %s : tensor<64x128xf32>, tensor<64x128xf32>
}

// -----

// Gates of an LSTM: slices are read where they lie, each kernel by its own; what is sliced is computed before.
// CHECK-LABEL: func.func @slices
// CHECK-NEXT: %[[E:.*]] = call @exponential{{.*}}(%arg0)
// CHECK-NEXT: %[[R:.*]] = call @add{{.*}}(%[[E]])
// CHECK-NEXT: %[[S:.*]] = call @reduce{{.*}}(%[[E]])
// CHECK-NEXT: return %[[R]], %[[S]]
func.func @slices(%a: tensor<64x128xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %a : tensor<64x128xf32>
  %0 = stablehlo.slice %e [0:64, 0:32] : (tensor<64x128xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.slice %e [0:64, 32:128:3] : (tensor<64x128xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x32xf32>
  %3 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  return %2, %3 : tensor<64x32xf32>, tensor<64xf32>
}

// -----

// A contraction takes its elementwise consumers as epilogue, but what makes its operands is computed before.
// CHECK-LABEL: func.func @epilogue
// CHECK-NEXT: %[[X:.*]] = call @exponential
// CHECK-NEXT: %[[R:.*]] = call @add{{.*}}(%[[X]], %arg1, %arg2)
// CHECK-NEXT: return %[[R]]
func.func @epilogue(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %bias: tensor<64xf32>) -> tensor<64x64xf32> {
  %x = stablehlo.exponential %a : tensor<64x32xf32>
  %0 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// A value with a later consumer is a further output of the kernel of its earliest consumer.
// CHECK-LABEL: func.func @two_outputs
// CHECK-NEXT: %[[R:.*]]:2 = call @
// CHECK-NEXT: return %[[R]]#{{[01]}}, %[[R]]#{{[01]}}
func.func @two_outputs(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.exponential %a : tensor<64x64xf32>
  %1 = stablehlo.negate %0 : tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Kernels are made inside of loops too, and the loop itself stays a step of the runtime.
// CHECK-LABEL: func.func @loop
// CHECK: stablehlo.while
// CHECK: func.call @compare
// CHECK: func.call @
func.func @loop(%a: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<64x64xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.exponential %x : tensor<64x64xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<64x64xf32>
    }
  return %0#1 : tensor<64x64xf32>
}

// -----

// Nothing to do: steps of the runtime stay as they are.
// CHECK-LABEL: func.func @steps
// CHECK-NEXT: stablehlo.custom_call
// CHECK-NEXT: return
func.func @steps(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What a gather's consumer computes and the indices that have the result's shape are in its kernel; the table is read from memory.
// CHECK-LABEL: func.func @gathered
// CHECK-NEXT: %[[TABLE:.*]] = call @tanh_{{[0-9_]+}}(%arg0)
// CHECK-NEXT: %[[R:.*]] = call @[[K:multiply_[0-9_]+]]({{.*}}%[[TABLE]]
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @[[K]]
// CHECK: stablehlo.add
// CHECK: "stablehlo.gather"
// CHECK: stablehlo.multiply
func.func @gathered(%t: tensor<64x128xf32>, %i: tensor<64x128xi32>, %s: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %c = stablehlo.constant dense<3> : tensor<64x128xi32>
  %table = stablehlo.tanh %t : tensor<64x128xf32>
  %index = stablehlo.add %i, %c : tensor<64x128xi32>
  %0 = "stablehlo.gather"(%table, %index) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<64x128xf32>, tensor<64x128xi32>) -> tensor<64x128xf32>
  %1 = stablehlo.multiply %0, %s : tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}

// -----

// Borders are written by the transpose that copies anyway; with another reader of theirs they have a kernel of their own.
// CHECK-LABEL: func.func @pad_and_transpose
// CHECK: %[[T:.*]] = call @transpose_
// CHECK: %[[P:.*]] = call @pad_
// CHECK: call @transpose_{{.*}}(%[[P]])
func.func @pad_and_transpose(%x: tensor<20x30x8xf32>, %y: tensor<20x30x8xf32>) -> (tensor<32x20x8xf32>, tensor<20x32x8xf32>, tensor<32x20x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<20x30x8xf32>, tensor<f32>) -> tensor<20x32x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<20x32x8xf32>) -> tensor<32x20x8xf32>
  %2 = stablehlo.pad %y, %zero, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<20x30x8xf32>, tensor<f32>) -> tensor<20x32x8xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<20x32x8xf32>) -> tensor<32x20x8xf32>
  return %1, %2, %3 : tensor<32x20x8xf32>, tensor<20x32x8xf32>, tensor<32x20x8xf32>
}

// -----

// Weights of few bits are widened where the product reads them.
// CHECK-LABEL: func.func @widened_weights
// CHECK: %[[R:.*]] = call @{{.*}}(%arg1, %arg0) : (tensor<2048x2048xi8>, tensor<4x2048xf32>) -> tensor<4x2048xf32>
// CHECK-NEXT: return %[[R]]
func.func @widened_weights(%x: tensor<4x2048xf32>, %w: tensor<2048x2048xi8>) -> tensor<4x2048xf32> {
  %0 = stablehlo.convert %w : (tensor<2048x2048xi8>) -> tensor<2048x2048xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<4x2048xf32>, tensor<2048x2048xf32>) -> tensor<4x2048xf32>
  return %1 : tensor<4x2048xf32>
}

// -----

// Not for two products, which would widen them twice.
// CHECK-LABEL: func.func @widened_for_two
// CHECK: %[[W:.*]] = call @{{.*}}(%arg1) : (tensor<512x512xbf16>) -> tensor<512x512xf32>
// CHECK: call @{{.*}}(%{{.*}}, %[[W]])
func.func @widened_for_two(%x: tensor<4x512xf32>, %w: tensor<512x512xbf16>) -> tensor<4x512xf32> {
  %0 = stablehlo.convert %w : (tensor<512x512xbf16>) -> tensor<512x512xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [1] : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  return %2 : tensor<4x512xf32>
}
