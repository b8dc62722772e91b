// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed of a stack and taken apart again is computed part by part.
// RUN: xla-opt %s -xla-split-stacks -xla-fuse-kernels -split-input-file | FileCheck %s

// Half a step of a differential equation: nobody makes the stack %k, and only its parts are added.
// CHECK-LABEL: func.func @taken_apart
// CHECK-NOT:     concatenate
// CHECK-COUNT-1: call @multiply{{.*}} : (tensor<2x1000xf32>, tensor<1x1000xf32>, tensor<1x1000xf32>) -> tensor<1000xf32>
// CHECK-NOT:     call @
// CHECK:       func.func private
// CHECK-NOT:     concatenate
// CHECK-COUNT-2: stablehlo.add {{.*}} : tensor<1x1000xf32>
// CHECK-NOT:     concatenate
func.func @taken_apart(%x: tensor<2x1000xf32>, %a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = stablehlo.reshape %a : (tensor<1000xf32>) -> tensor<1x1000xf32>
  %1 = stablehlo.reshape %b : (tensor<1000xf32>) -> tensor<1x1000xf32>
  %k = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x1000xf32>, tensor<1x1000xf32>) -> tensor<2x1000xf32>
  %y = stablehlo.add %x, %k : tensor<2x1000xf32>
  %2 = stablehlo.slice %y [0:1, 0:1000] : (tensor<2x1000xf32>) -> tensor<1x1000xf32>
  %3 = stablehlo.reshape %2 : (tensor<1x1000xf32>) -> tensor<1000xf32>
  %4 = stablehlo.slice %y [1:2, 0:1000] : (tensor<2x1000xf32>) -> tensor<1x1000xf32>
  %5 = stablehlo.reshape %4 : (tensor<1x1000xf32>) -> tensor<1000xf32>
  %6 = stablehlo.multiply %3, %5 : tensor<1000xf32>
  return %6 : tensor<1000xf32>
}

// -----

// The sum is returned as a whole, too: it is stacked behind its parts, in a kernel that only joins.
// CHECK-LABEL: func.func @also_whole
// CHECK:         %[[WHOLE:.*]] = call @concatenate
// CHECK:         return %[[WHOLE]], %
func.func @also_whole(%x: tensor<4x300xf32>, %a: tensor<1x300xf32>, %b: tensor<3x300xf32>) -> (tensor<4x300xf32>, tensor<2x300xf32>) {
  %k = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x300xf32>, tensor<3x300xf32>) -> tensor<4x300xf32>
  %y = stablehlo.add %x, %k : tensor<4x300xf32>
  %0 = stablehlo.slice %y [2:4, 0:300] : (tensor<4x300xf32>) -> tensor<2x300xf32>
  %1 = stablehlo.tanh %0 : tensor<2x300xf32>
  return %y, %1 : tensor<4x300xf32>, tensor<2x300xf32>
}

// -----

// Nobody reads the second part: it is not computed.
// CHECK-LABEL: func.func @one_part
// CHECK-COUNT-1: stablehlo.tanh {{.*}} : tensor<1x1000xf32>
// CHECK-NOT:     stablehlo.tanh
func.func @one_part(%x: tensor<2x1000xf32>, %a: tensor<1x1000xf32>, %b: tensor<1x1000xf32>) -> tensor<1x1000xf32> {
  %k = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x1000xf32>, tensor<1x1000xf32>) -> tensor<2x1000xf32>
  %y = stablehlo.add %x, %k : tensor<2x1000xf32>
  %z = stablehlo.tanh %y : tensor<2x1000xf32>
  %0 = stablehlo.slice %z [0:1, 0:1000] : (tensor<2x1000xf32>) -> tensor<1x1000xf32>
  return %0 : tensor<1x1000xf32>
}

// -----

// Too large to be written twice.
// CHECK-LABEL: func.func @also_whole_and_large
// CHECK:         call @concatenate{{.*}} -> tensor<4x30000xf32>
// CHECK:         call @tanh{{.*}}(tensor<4x30000xf32>) -> tensor<2x30000xf32>
func.func @also_whole_and_large(%x: tensor<4x30000xf32>, %a: tensor<1x30000xf32>, %b: tensor<3x30000xf32>) -> (tensor<4x30000xf32>, tensor<2x30000xf32>) {
  %k = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x30000xf32>, tensor<3x30000xf32>) -> tensor<4x30000xf32>
  %y = stablehlo.add %x, %k : tensor<4x30000xf32>
  %0 = stablehlo.slice %y [2:4, 0:30000] : (tensor<4x30000xf32>) -> tensor<2x30000xf32>
  %1 = stablehlo.tanh %0 : tensor<2x30000xf32>
  return %y, %1 : tensor<4x30000xf32>, tensor<2x30000xf32>
}

// -----

// Nobody takes the sum apart: one kernel makes the stack, as before.
// CHECK-LABEL: func.func @read_as_whole
// CHECK-NOT:     stablehlo.slice
// CHECK:         call @{{.*}} -> tensor<2x1000xf32>
// CHECK:         return
func.func @read_as_whole(%x: tensor<2x1000xf32>, %a: tensor<1x1000xf32>, %b: tensor<1x1000xf32>) -> tensor<2x1000xf32> {
  %k = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x1000xf32>, tensor<1x1000xf32>) -> tensor<2x1000xf32>
  %y = stablehlo.add %x, %k : tensor<2x1000xf32>
  return %y : tensor<2x1000xf32>
}

// -----

// A slice across two parts, and parts that do not lie side by side, stay as they are.
// CHECK-LABEL: func.func @across
// CHECK:         call @concatenate
// CHECK:         return
func.func @across(%x: tensor<2x1000xf32>, %a: tensor<2x500xf32>, %b: tensor<2x500xf32>) -> tensor<2x10xf32> {
  %k = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x500xf32>, tensor<2x500xf32>) -> tensor<2x1000xf32>
  %y = stablehlo.add %x, %k : tensor<2x1000xf32>
  %0 = stablehlo.slice %y [0:2, 0:10] : (tensor<2x1000xf32>) -> tensor<2x10xf32>
  return %0 : tensor<2x10xf32>
}

// -----

// What a stack is made of are parts of another one, which others, cut elsewhere, read too: all of them find the parts themselves.
// CHECK-LABEL: func.func @stacked_again
// CHECK-NOT:     stablehlo.slice %{{.*}} : (tensor<4x300xf32>) -> tensor<2x300xf32>
// CHECK:         return
func.func @stacked_again(%x: tensor<4x300xf32>, %a: tensor<2x300xf32>, %b: tensor<2x300xf32>, %c: tensor<1x300xf32>, %d: tensor<3x300xf32>) -> (tensor<2x300xf32>, tensor<1x300xf32>, tensor<2x300xf32>, tensor<2x300xf32>, tensor<4x300xf32>) {
  %k = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x300xf32>, tensor<2x300xf32>) -> tensor<4x300xf32>
  %y = stablehlo.add %x, %k : tensor<4x300xf32>
  %s0 = stablehlo.slice %y [0:2, 0:300] : (tensor<4x300xf32>) -> tensor<2x300xf32>
  %s1 = stablehlo.slice %y [2:4, 0:300] : (tensor<4x300xf32>) -> tensor<2x300xf32>
  %k2 = stablehlo.concatenate %s1, %s0, dim = 0 : (tensor<2x300xf32>, tensor<2x300xf32>) -> tensor<4x300xf32>
  %z = stablehlo.multiply %y, %k2 : tensor<4x300xf32>
  %r0 = stablehlo.slice %z [0:2, 0:300] : (tensor<4x300xf32>) -> tensor<2x300xf32>
  %k3 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<2x300xf32>, tensor<2x300xf32>) -> tensor<4x300xf32>
  %w = stablehlo.subtract %k3, %k : tensor<4x300xf32>
  %w0 = stablehlo.slice %w [0:2, 0:300] : (tensor<4x300xf32>) -> tensor<2x300xf32>
  %w1 = stablehlo.slice %w [2:4, 0:300] : (tensor<4x300xf32>) -> tensor<2x300xf32>
  %k4 = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1x300xf32>, tensor<3x300xf32>) -> tensor<4x300xf32>
  %v = stablehlo.add %k4, %k2 : tensor<4x300xf32>
  %v0 = stablehlo.slice %v [0:1, 0:300] : (tensor<4x300xf32>) -> tensor<1x300xf32>
  return %r0, %v0, %w0, %w1, %k2 : tensor<2x300xf32>, tensor<1x300xf32>, tensor<2x300xf32>, tensor<2x300xf32>, tensor<4x300xf32>
}
