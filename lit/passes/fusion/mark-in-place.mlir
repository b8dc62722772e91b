// RUN: xla-opt %s -xla-mark-in-place -split-input-file | FileCheck %s

// The update of an argument may happen in the argument's buffer.
// CHECK-LABEL: @update
// CHECK-SAME: millrace.in_place = [array<i64: 0, 0>]
func.func private @update(%a: tensor<64xf32>, %u: tensor<4xf32>, %i: tensor<i32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// The updated value has no buffer outside of the kernel.
// CHECK-LABEL: @temporary
// CHECK-NOT: in_place
// CHECK: return
func.func private @temporary(%a: tensor<64xf32>, %u: tensor<4xf32>, %i: tensor<i32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.negate %a : tensor<64xf32>
  %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
