// RUN: xla-opt %s -xla-fuse-attention -xla-fuse-kernels -split-input-file | FileCheck %s

// The backward pass is one kernel, which computes scores and weights again; so the forward pass is one, too, although the gradients
// need its weights. The gradient of the values moves behind what the gradient of the weights needs.
// CHECK-LABEL: func.func @layer
// CHECK-NEXT: %[[O:.*]] = call @[[F:dot_general_[0-9_]+]](%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[G:.*]] = call @{{.*}}(%[[O]]
// CHECK-NEXT: %[[R:.*]]:3 = call @[[B:dot_general_[0-9_]+]](%arg0, %arg1, %[[G]], %arg2)
// CHECK-NEXT: return
// CHECK: func.func private @[[F]]({{.*}}{millrace.attention
// CHECK: func.func private @[[B]]({{.*}}{millrace.attention
// CHECK-COUNT-5: dot_general
// CHECK-NOT: dot_general
func.func @layer(%q: tensor<4x32x8xf32>, %k: tensor<4x40x8xf32>, %v: tensor<4x40x16xf32>) -> (tensor<4x32x8xf32>, tensor<4x40x8xf32>, tensor<4x40x16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x8xf32>, tensor<4x40x8xf32>) -> tensor<4x32x40xf32>
  %e = stablehlo.exponential %s : tensor<4x32x40xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x32x40xf32>, tensor<f32>) -> tensor<4x32xf32>
  %m = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x40xf32>
  %p = stablehlo.divide %e, %m : tensor<4x32x40xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x40xf32>, tensor<4x40x16xf32>) -> tensor<4x32x16xf32>
  %g = stablehlo.tanh %o : tensor<4x32x16xf32>
  %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x32x40xf32>, tensor<4x32x16xf32>) -> tensor<4x40x16xf32>
  %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x16xf32>, tensor<4x40x16xf32>) -> tensor<4x32x40xf32>
  %0 = stablehlo.multiply %p, %dp : tensor<4x32x40xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x32x40xf32>, tensor<f32>) -> tensor<4x32xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x40xf32>
  %3 = stablehlo.subtract %dp, %2 : tensor<4x32x40xf32>
  %ds = stablehlo.multiply %p, %3 : tensor<4x32x40xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x40xf32>, tensor<4x40x8xf32>) -> tensor<4x32x8xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x32x40xf32>, tensor<4x32x8xf32>) -> tensor<4x40x8xf32>
  return %dq, %dk, %dv : tensor<4x32x8xf32>, tensor<4x40x8xf32>, tensor<4x40x16xf32>
}

// -----

// Somebody else needs the gradients of the scores: the bias that was added to them.
// CHECK-LABEL: func.func @bias_gradient
// CHECK-NOT: millrace.attention
func.func @bias_gradient(%q: tensor<4x32x8xf32>, %k: tensor<4x40x8xf32>, %v: tensor<4x40x16xf32>, %g: tensor<4x32x16xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x40xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x8xf32>, tensor<4x40x8xf32>) -> tensor<4x32x40xf32>
  %p = stablehlo.exponential %s : tensor<4x32x40xf32>
  %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x16xf32>, tensor<4x40x16xf32>) -> tensor<4x32x40xf32>
  %ds = stablehlo.multiply %p, %dp : tensor<4x32x40xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x40xf32>, tensor<4x40x8xf32>) -> tensor<4x32x8xf32>
  return %dq, %ds : tensor<4x32x8xf32>, tensor<4x32x40xf32>
}

// -----

// Two heads: their rows are summed up by one thread each.
// CHECK-LABEL: func.func @two_heads
// CHECK-NOT: millrace.attention
func.func @two_heads(%q: tensor<2x32x8xf32>, %k: tensor<2x40x8xf32>, %v: tensor<2x40x16xf32>, %g: tensor<2x32x16xf32>) -> tensor<2x40x8xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x32x8xf32>, tensor<2x40x8xf32>) -> tensor<2x32x40xf32>
  %p = stablehlo.exponential %s : tensor<2x32x40xf32>
  %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x32x16xf32>, tensor<2x40x16xf32>) -> tensor<2x32x40xf32>
  %ds = stablehlo.multiply %p, %dp : tensor<2x32x40xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x32x40xf32>, tensor<2x32x8xf32>) -> tensor<2x40x8xf32>
  return %dk : tensor<2x40x8xf32>
}

// -----

// No exponential: the gradients of a perceptron's weights.
// CHECK-LABEL: func.func @perceptron
// CHECK-NOT: millrace.attention
func.func @perceptron(%q: tensor<4x32x8xf32>, %k: tensor<4x40x8xf32>, %v: tensor<4x40x16xf32>, %g: tensor<4x32x16xf32>) -> tensor<4x40x8xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x8xf32>, tensor<4x40x8xf32>) -> tensor<4x32x40xf32>
  %p = stablehlo.tanh %s : tensor<4x32x40xf32>
  %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x16xf32>, tensor<4x40x16xf32>) -> tensor<4x32x40xf32>
  %ds = stablehlo.multiply %p, %dp : tensor<4x32x40xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x32x40xf32>, tensor<4x32x8xf32>) -> tensor<4x40x8xf32>
  return %dk : tensor<4x40x8xf32>
}
