// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum of many elements to one number is two reductions: threads share the parts, whose bounds depend on the shape alone.
// RUN: xla-opt %s -xla-split-reductions -xla-fuse-kernels -split-input-file | FileCheck %s

// What lies in memory is cut evenly.
// CHECK-LABEL: func.func @in_memory
// CHECK: %[[CUT:.*]] = stablehlo.reshape %arg0 : (tensor<1000x1000xf32>) -> tensor<125x8000xf32>
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%[[CUT]]) : (tensor<125x8000xf32>) -> tensor<125xf32>
// CHECK: call @{{.*}}(%[[PARTS]]) : (tensor<125xf32>) -> tensor<f32>
// The parts begin with the neutral number, their sum with the program's.
// CHECK: dense<-0.000000e+00>
// CHECK: across dimensions = [1] : (tensor<125x8000xf32>, tensor<f32>) -> tensor<125xf32>
// CHECK: dense<3.000000e+00>
// CHECK: across dimensions = [0] : (tensor<125xf32>, tensor<f32>) -> tensor<f32>
func.func @in_memory(%x: tensor<1000x1000xf32>) -> tensor<f32> {
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %three) applies stablehlo.add across dimensions = [0, 1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What is computed on the way keeps its shape if that has dimensions to cut at.
// CHECK-LABEL: func.func @computed
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%arg0) : (tensor<4x8x64x128xf32>) -> tensor<4x8xf32>
// CHECK: %[[WHOLE:.*]] = call @{{.*}}(%[[PARTS]]) : (tensor<4x8xf32>) -> tensor<f32>
// CHECK: return %[[WHOLE]]
func.func @computed(%x: tensor<4x8x64x128xf32>) -> tensor<f32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<4x8x64x128xf32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [3, 0, 1, 2] : (tensor<4x8x64x128xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A few columns over rows of two dimensions: parts along the first of these, without a reshape even where the operand lies in memory.
// CHECK-LABEL: func.func @narrow_columns
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%arg0) : (tensor<1x32x64x320xf32>) -> tensor<1x32x320xf32>
// CHECK: call @{{.*}}(%[[PARTS]]) : (tensor<1x32x320xf32>) -> tensor<1x320xf32>
// Wide columns, few rows and a single dimension of them are left alone.
// CHECK: call @{{.*}} : (tensor<32x64x1024xf32>) -> tensor<1024xf32>
// CHECK: call @{{.*}} : (tensor<2x64x320xf32>) -> tensor<320xf32>
// CHECK: call @{{.*}} : (tensor<65536x320xf32>) -> tensor<320xf32>
func.func @narrow_columns(%x: tensor<1x32x64x320xf32>, %wide: tensor<32x64x1024xf32>, %few: tensor<2x64x320xf32>, %flat: tensor<65536x320xf32>)
    -> (tensor<1x320xf32>, tensor<1024xf32>, tensor<320xf32>, tensor<320xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x32x64x320xf32>, tensor<f32>) -> tensor<1x320xf32>
  %1 = stablehlo.reduce(%wide init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x64x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %2 = stablehlo.reduce(%few init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x64x320xf32>, tensor<f32>) -> tensor<320xf32>
  %3 = stablehlo.reduce(%flat init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<65536x320xf32>, tensor<f32>) -> tensor<320xf32>
  return %0, %1, %2, %3 : tensor<1x320xf32>, tensor<1024xf32>, tensor<320xf32>, tensor<320xf32>
}

// -----

// A dimension of size one that stays.
// CHECK-LABEL: func.func @keeps_one
// CHECK: call @{{.*}} : (tensor<128x1024xi32>) -> tensor<128xi32>
// CHECK: %[[SUM:.*]] = call @{{.*}} : (tensor<128xi32>) -> tensor<i32>
// CHECK: stablehlo.reshape %[[SUM]] : (tensor<i32>) -> tensor<1xi32>
func.func @keeps_one(%x: tensor<131072x1xi32>) -> tensor<1xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<131072x1xi32>, tensor<i32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}

// -----

// Sums of bf16 would round every part; few elements are one thread's; several results are shared anyway.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-3: call @
// CHECK-NOT: call @
// CHECK: return
func.func @left_alone(%a: tensor<1024x1024xbf16>, %b: tensor<100x100xf32>, %d: tensor<2x1024x1024xf32>)
    -> (tensor<bf16>, tensor<f32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %narrow = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%a init: %narrow) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xbf16>, tensor<bf16>) -> tensor<bf16>
  %1 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x1024x1024xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<bf16>, tensor<f32>, tensor<2xf32>
}

// -----

// A prime number of elements: what is left over is where the sum of the parts begins.
// CHECK-LABEL: func.func @prime
// CHECK: %[[SLICE:.*]] = call @{{.*}}(%arg0) : (tensor<1000003xf32>) -> tensor<1000000xf32>
// CHECK: %[[CUT:.*]] = stablehlo.reshape %[[SLICE]] : (tensor<1000000xf32>) -> tensor<64x15625xf32>
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%[[CUT]]) : (tensor<64x15625xf32>) -> tensor<64xf32>
// CHECK: call @[[LAST:.*]](%arg0, %[[PARTS]])
// CHECK-NOT: call @
// CHECK: func.func private @[[LAST]]
// CHECK: %[[THREE:.*]] = stablehlo.constant dense<3.000000e+00>
// CHECK: %[[REST:.*]] = stablehlo.slice %arg0 [1000000:1000003]
// CHECK: %[[START:.*]] = stablehlo.reduce(%[[REST]] init: %[[THREE]])
// CHECK: stablehlo.reduce(%arg1 init: %[[START]])
func.func @prime(%x: tensor<1000003xf32>) -> tensor<f32> {
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %three) applies stablehlo.add across dimensions = [0] : (tensor<1000003xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The inner product of two vectors is a sum, too; one with rows or with bf16 is not.
// CHECK-LABEL: func.func @inner_product
// CHECK-DAG: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<1000000xf32>) -> tensor<125x8000xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.reshape %arg1 : (tensor<1000000xf32>) -> tensor<125x8000xf32>
// CHECK: call @{{.*}}(%[[X]], %[[Y]]) : (tensor<125x8000xf32>, tensor<125x8000xf32>) -> tensor<125xf32>
// CHECK: call @{{.*}}(%arg2) : (tensor<1000000xbf16>) -> tensor<bf16>
// CHECK: call @{{.*}} : (tensor<125xf32>) -> tensor<f32>
func.func @inner_product(%x: tensor<1000000xf32>, %y: tensor<1000000xf32>, %z: tensor<1000000xbf16>) -> (tensor<f32>, tensor<bf16>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<f32>
  %1 = stablehlo.dot_general %z, %z, contracting_dims = [0] x [0] : (tensor<1000000xbf16>, tensor<1000000xbf16>) -> tensor<bf16>
  return %0, %1 : tensor<f32>, tensor<bf16>
}

// -----

// Else it is computed in another shape: that of one dimension has nowhere to be cut.
// CHECK-LABEL: func.func @computed_in_one_dimension
// CHECK-DAG: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<1000000xf32>) -> tensor<125x8000xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.reshape %arg1 : (tensor<1000000xf32>) -> tensor<125x8000xf32>
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%[[X]], %[[Y]]) : (tensor<125x8000xf32>, tensor<125x8000xf32>) -> tensor<125xf32>
// CHECK: call @{{.*}}(%[[PARTS]]) : (tensor<125xf32>) -> tensor<f32>
// CHECK-NOT: call @
// CHECK: return
func.func @computed_in_one_dimension(%x: tensor<1000000xf32>, %y: tensor<1000000xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %y : tensor<1000000xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Short rows side by side are one.
// CHECK-LABEL: func.func @few_columns
// CHECK: %[[CUT:.*]] = stablehlo.reshape %arg0 : (tensor<100000x3xf32>) -> tensor<25x125x96xf32>
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%[[CUT]]) : (tensor<25x125x96xf32>) -> tensor<25x96xf32>
// CHECK: %[[ROWS:.*]] = stablehlo.reshape %[[PARTS]] : (tensor<25x96xf32>) -> tensor<800x3xf32>
// CHECK: call @{{.*}}(%[[ROWS]]) : (tensor<800x3xf32>) -> tensor<3xf32>
func.func @few_columns(%x: tensor<100000x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100000x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Two of the same elements are one kernel, which reads them once.
// CHECK-LABEL: func.func @twins
// CHECK: %[[CUT:.*]] = stablehlo.reshape %arg0
// CHECK: %[[PARTS:.*]]:2 = call @{{.*}}(%[[CUT]]) : (tensor<125x8000xf32>) -> (tensor<125xf32>, tensor<125xf32>)
// CHECK-DAG: call @{{.*}}(%[[PARTS]]#0) : (tensor<125xf32>) -> tensor<f32>
// CHECK-DAG: call @{{.*}}(%[[PARTS]]#1) : (tensor<125xf32>) -> tensor<f32>
// CHECK-NOT: call @
// CHECK: return
func.func @twins(%x: tensor<1000000xf32>) -> (tensor<f32>, tensor<f32>) {
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

// A constant that several operations of the old chain read goes once.
// CHECK-LABEL: func.func @shared_constant
// CHECK: call @{{.*}} -> tensor<{{[0-9]+}}xf32>
// CHECK: call @{{.*}} -> tensor<f32>
func.func @shared_constant(%x: tensor<131072xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<131072xf32>
  %0 = stablehlo.multiply %x, %two : tensor<131072xf32>
  %1 = stablehlo.add %0, %two : tensor<131072xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<131072xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Nobody knows yet how many products there are.
// CHECK-LABEL: func.func @inner_product_of_run_time_size
// CHECK: %[[SUM:.*]] = call @{{.*}} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[SUM]]
// CHECK: stablehlo.dot_general
func.func @inner_product_of_run_time_size(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [0, 1] : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The gradient of narrow weights: sixteen parts of the sum, of which each has all results.
// CHECK-LABEL: func.func @weight_gradient
// CHECK-DAG: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<8192x128xf32>) -> tensor<16x512x128xf32>
// CHECK-DAG: %[[G:.*]] = stablehlo.reshape %arg1 : (tensor<8192x10xf32>) -> tensor<16x512x10xf32>
// CHECK: %[[PARTS:.*]] = call @{{.*}}(%[[X]], %[[G]]) : (tensor<16x512x128xf32>, tensor<16x512x10xf32>) -> tensor<16x128x10xf32>
// CHECK: call @{{.*}}(%[[PARTS]]) : (tensor<16x128x10xf32>) -> tensor<128x10xf32>
func.func @weight_gradient(%x: tensor<8192x128xf32>, %g: tensor<8192x10xf32>) -> tensor<128x10xf32> {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<8192x128xf32>, tensor<8192x10xf32>) -> tensor<128x10xf32>
  return %0 : tensor<128x10xf32>
}

// -----

// What no number divides: the rest of the sum is a product of its own.
// CHECK-LABEL: func.func @odd_length
// CHECK-DAG: (tensor<16x3126x17xf32>, tensor<16x3126x5xf32>) -> tensor<16x17x5xf32>
// CHECK-DAG: tensor<5x17xf32>
func.func @odd_length(%x: tensor<50021x17xf32>, %g: tensor<50021x5xf32>) -> tensor<17x5xf32> {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<50021x17xf32>, tensor<50021x5xf32>) -> tensor<17x5xf32>
  return %0 : tensor<17x5xf32>
}

// -----

// Wide enough for threads to share the results.
// CHECK-LABEL: func.func @wide
// CHECK: %[[R:.*]] = call @{{.*}}(%arg0, %arg1) : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<512x512xf32>
// CHECK-NEXT: return %[[R]]
func.func @wide(%x: tensor<1024x512xf32>, %g: tensor<1024x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Few rows times a large matrix, which threads share by its columns.
// CHECK-LABEL: func.func @few_rows
// CHECK: %[[R:.*]] = call @{{.*}}(%arg0, %arg1) : (tensor<4x8192xf32>, tensor<8192x2048xf32>) -> tensor<4x2048xf32>
// CHECK-NEXT: return %[[R]]
func.func @few_rows(%x: tensor<4x8192xf32>, %w: tensor<8192x2048xf32>) -> tensor<4x2048xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8192xf32>, tensor<8192x2048xf32>) -> tensor<4x2048xf32>
  return %0 : tensor<4x2048xf32>
}
