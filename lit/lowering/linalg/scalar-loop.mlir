// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-fuse-kernels -xla-mark-in-place -split-input-file | FileCheck %s --check-prefix=FUSED

// A recurrence over a sequence: the sum is a scalar, the results are written to the memory of %ys.
// CHECK-LABEL: func.func @scan
// CHECK: scf.while ({{.*}}) : (i32, f32, tensor<100xf32>) -> (i32, f32, tensor<100xf32>)
// CHECK: tensor.extract %arg0[%{{.*}}] : tensor<100xf32>
// CHECK: arith.addf
// CHECK: tensor.insert
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : i32, f32, tensor<100xf32>
// FUSED-LABEL: func.func @scan
// FUSED-NEXT: %[[R:.*]]:2 = call @while_
// FUSED-NEXT: return %[[R]]#0, %[[R]]#1
// FUSED: millrace.in_place
func.func @scan(%xs: tensor<100xf32>, %sum: tensor<f32>, %ys: tensor<100xf32>) -> (tensor<f32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %s = %sum, %y = %ys) : tensor<i32>, tensor<f32>, tensor<100xf32>
    cond {
      %n = stablehlo.constant dense<100> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.dynamic_slice %xs, %i, sizes = [1] : (tensor<100xf32>, tensor<i32>) -> tensor<1xf32>
      %x0 = stablehlo.reshape %x : (tensor<1xf32>) -> tensor<f32>
      %t = stablehlo.add %s, %x0 : tensor<f32>
      %t1 = stablehlo.reshape %t : (tensor<f32>) -> tensor<1xf32>
      %next = stablehlo.dynamic_update_slice %y, %t1, %i : (tensor<100xf32>, tensor<1xf32>, tensor<i32>) -> tensor<100xf32>
      stablehlo.return %j, %t, %next : tensor<i32>, tensor<f32>, tensor<100xf32>
    }
  return %0#1, %0#2 : tensor<f32>, tensor<100xf32>
}

// -----

// The arrays change places, so that neither can be updated where it is: a step of the runtime.
// FUSED-LABEL: func.func @exchanged
// FUSED: stablehlo.while
// CHECK-LABEL: func.func @exchanged
func.func @exchanged(%a: tensor<100xf32>, %b: tensor<100xf32>) -> tensor<100xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<100xf32>, tensor<100xf32>
    cond {
      %n = stablehlo.constant dense<99> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %y, %x : tensor<i32>, tensor<100xf32>, tensor<100xf32>
    }
  return %0#1 : tensor<100xf32>
}

// -----

// The old value is read after the new one was made.
// FUSED-LABEL: func.func @late_read
// FUSED: stablehlo.while
// CHECK-LABEL: func.func @late_read
func.func @late_read(%a: tensor<100xf32>) -> tensor<100xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %x = %a, %last = %zero) : tensor<i32>, tensor<100xf32>, tensor<i32>
    cond {
      %n = stablehlo.constant dense<99> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2.0> : tensor<1xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %next = stablehlo.dynamic_update_slice %x, %two, %i : (tensor<100xf32>, tensor<1xf32>, tensor<i32>) -> tensor<100xf32>
      %old = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<100xf32>, tensor<i32>) -> tensor<1xf32>
      %number = stablehlo.convert %old : (tensor<1xf32>) -> tensor<1xi32>
      %k = stablehlo.reshape %number : (tensor<1xi32>) -> tensor<i32>
      stablehlo.return %j, %next, %k : tensor<i32>, tensor<100xf32>, tensor<i32>
    }
  return %0#1 : tensor<100xf32>
}

// -----

// %u gets another type in storage and with it the whole function a new block; %limit, an argument of the old one, is read all the same.
// CHECK-LABEL: func.func @converted_signature
// CHECK-SAME: %[[U:.*]]: tensor<i32>, %[[X:.*]]: tensor<f32>, %[[LIMIT:.*]]: tensor<f32>
// CHECK-DAG: tensor.extract %[[LIMIT]][]
// CHECK-DAG: tensor.extract %[[X]][]
// CHECK: scf.while
func.func @converted_signature(%u: tensor<ui32>, %x: tensor<f32>, %limit: tensor<f32>) -> (tensor<ui32>, tensor<f32>) {
  %0:2 = stablehlo.while(%n = %u, %y = %x) : tensor<ui32>, tensor<f32>
    cond {
      %p = stablehlo.compare LT, %y, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %m = stablehlo.add %n, %n : tensor<ui32>
      %z = stablehlo.add %y, %limit : tensor<f32>
      stablehlo.return %m, %z : tensor<ui32>, tensor<f32>
    }
  return %0#0, %0#1 : tensor<ui32>, tensor<f32>
}
