// Results that replace donated arguments: written in place where nobody reads the argument any more, else as late as needed.
// RUN: split-file %s %t
// RUN: xla-compile %t/swap.mlir --emit=program | FileCheck %s --check-prefix=SWAP
// RUN: xla-compile %t/update.mlir --emit=program | FileCheck %s --check-prefix=UPDATE
// RUN: xla-compile %t/add.mlir --emit=program | FileCheck %s --check-prefix=ADD
// RUN: xla-compile %t/later.mlir --emit=program | FileCheck %s --check-prefix=LATER
// RUN: xla-compile %t/pointwise.mlir --emit=program | FileCheck %s --check-prefix=POINTWISE
// RUN: xla-compile %t/row.mlir --emit=program | FileCheck %s --check-prefix=ROW
// RUN: xla-compile %t/cross.mlir --emit=program | FileCheck %s --check-prefix=CROSS
// RUN: xla-compile %t/gather.mlir --emit=program | FileCheck %s --check-prefix=GATHER
// RUN: xla-run %t/pointwise.mlir --verify
// RUN: xla-run %t/row.mlir --verify
// RUN: xla-run %t/cross.mlir --verify

// Each result overwrites what the other one returns.
// SWAP: %[[ASIDE:.*]] = arena
// SWAP-NEXT: copy %1 -> %[[ASIDE]]
// SWAP-NEXT: copy %0 -> %3
// SWAP-NEXT: copy %[[ASIDE]] -> %2
// SWAP-NOT: copy
//--- swap.mlir
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// A cache is updated where it is.
// UPDATE: arena 0
// UPDATE: %[[CACHE:.*]] = result 0
// UPDATE-NOT: copy
// UPDATE: kernel dynamic_update_slice{{.*}}(%[[CACHE]], %1, %2) -> (%[[CACHE]])
// UPDATE-NOT: copy
//--- update.mlir
func.func @main(%cache: tensor<64x128xf32> {tf.aliasing_output = 0 : i32}, %row: tensor<1x128xf32>, %i: tensor<i32>) -> (tensor<64x128xf32>, tensor<128xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %cache, %row, %i, %zero : (tensor<64x128xf32>, tensor<1x128xf32>, tensor<i32>, tensor<i32>) -> tensor<64x128xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.add across dimensions = [0] : (tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<128xf32>
}

// A kernel may read what it has overwritten, so it writes elsewhere; but every result moves at once, and one place is enough.
// ADD: arena 2048
// ADD: kernel reverse{{.*}}(%0) -> (%[[A:.*]]) range
// ADD-NEXT: copy %[[A]] -> %2
// ADD-NEXT: kernel reverse{{.*}}(%1) -> (%[[B:.*]]) range
// ADD-NEXT: copy %[[B]] -> %3
//--- add.mlir
func.func @main(%x: tensor<512xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<512xi32> {tf.aliasing_output = 1 : i32}) -> (tensor<512xf32>, tensor<512xi32>) {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<512xf32>
  %1 = stablehlo.reverse %y, dims = [0] : tensor<512xi32>
  return %0, %1 : tensor<512xf32>, tensor<512xi32>
}

// An element is read only for the element that replaces it: no other memory, also where one kernel has several results.
// POINTWISE: arena 0
// POINTWISE: kernel {{[a-z_0-9]+\([%0-9, ]+\) -> \(%[34], %[34]\) range}}
// POINTWISE-NOT: copy
//--- pointwise.mlir
func.func @main(%p: tensor<512xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<512xf32> {tf.aliasing_output = 1 : i32}, %g: tensor<512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = stablehlo.add %m, %g : tensor<512xf32>
  %1 = stablehlo.subtract %p, %0 : tensor<512xf32>
  return %1, %0 : tensor<512xf32>, tensor<512xf32>
}

// The rest of the row is read too: a sum, the argument as another operand, a result that does not need what it would overwrite.
// ROW: kernel {{.*}}(%0) -> (%[[A:.*]]) range
// ROW-NEXT: copy %[[A]] -> %1
//--- row.mlir
func.func @main(%x: tensor<8x64xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>
  %2 = stablehlo.divide %x, %1 : tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
// CROSS: copy
//--- cross.mlir
func.func @main(%x: tensor<512xf32> {tf.aliasing_output = 1 : i32}, %y: tensor<512xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = stablehlo.add %x, %x : tensor<512xf32>
  %1 = stablehlo.multiply %y, %y : tensor<512xf32>
  return %0, %1 : tensor<512xf32>, tensor<512xf32>
}

// The argument is returned as it came: first that, then the result that replaces it.
// LATER: kernel sine{{.*}}(%0) -> (%[[A:.*]]) range
// LATER-NEXT: copy %0 -> %2
// LATER-NEXT: copy %[[A]] -> %1
//--- later.mlir
func.func @main(%x: tensor<512xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = stablehlo.sine %x : tensor<512xf32>
  return %0, %x : tensor<512xf32>, tensor<512xf32>
}

// Parameters are gathered where the old ones are: these were read before.
// GATHER: kernel dot_general
// GATHER: all_gather({{.*}}) -> (%[[P:[0-9]+]])
// GATHER-NOT: copy
//--- gather.mlir
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%p: tensor<8x64xf32> {tf.aliasing_output = 0 : i32}, %part: tensor<4x64xf32>, %x: tensor<16x8xf32>) -> (tensor<8x64xf32>, tensor<16x64xf32>) {
    %0 = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
    %1 = stablehlo.multiply %part, %part : tensor<4x64xf32>
    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x64xf32>) -> tensor<8x64xf32>
    return %2, %0 : tensor<8x64xf32>, tensor<16x64xf32>
  }
}
