// Temporaries that the largest cache does not hold lie in the memory of results until these are made.
// RUN: split-file %s %t
// RUN: xla-compile %t/early.mlir --target-caches=4K/8,16K/8 --emit=program | FileCheck %s --check-prefix=EARLY
// RUN: xla-compile %t/early.mlir --target-caches=4K/8,1M/8 --emit=program | FileCheck %s --check-prefix=NEAR
// RUN: xla-compile %t/pointwise.mlir --target-caches=4K/8,1M/8 --emit=program | FileCheck %s --check-prefix=POINTWISE
// RUN: xla-compile %t/loop.mlir --target-caches=4K/8,16K/8 --emit=program | FileCheck %s --check-prefix=LOOP
// RUN: xla-run %t/early.mlir --target-caches=4K/8,16K/8 --verify
// RUN: xla-run %t/pointwise.mlir --verify
// RUN: xla-run %t/loop.mlir --target-caches=4K/8,16K/8 --verify

// The first product is read before the second result is made, the repeated rows by the kernel that makes it.
// EARLY: function main arena 65536
// EARLY: %2 = result 1
// EARLY: %3 = view 2 +0
// EARLY: %4 = arena +0
// EARLY: kernel dot_general{{.*}} -> (%3)
// EARLY-NEXT: kernel {{.*}}(%3) -> (%1, %4)
// EARLY-NEXT: kernel dot_general{{.*}}(%0, %4) -> (%2)
// NEAR: function main arena 131072
//--- early.mlir
func.func @main(%a: tensor<128x128xf32>) -> (tensor<128xf32>, tensor<128x128xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
  %4 = stablehlo.dot_general %a, %3, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %2, %4 : tensor<128xf32>, tensor<128x128xf32>
}

// What a product is added to, element by element, is made where the sum goes; so is a donated argument replaced by what follows a product.
// POINTWISE: function main arena 0
// POINTWISE: kernel dot_general{{.*}} -> (%[[SUM:[0-9]+]])
// POINTWISE-NEXT: kernel {{[a-z_0-9]+}}(%0, %1, %[[SUM]], %2) -> (%[[SUM]], %4)
// POINTWISE-NOT: copy
//--- pointwise.mlir
func.func @main(%a: tensor<128x96xf32>, %b: tensor<96x128xf32>, %state: tensor<128x128xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %0 = stablehlo.dot_general %b, %a, contracting_dims = [0] x [1] : (tensor<96x128xf32>, tensor<128x96xf32>) -> tensor<128x128xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<128x96xf32>, tensor<96x128xf32>) -> tensor<128x128xf32>
  %2 = stablehlo.add %1, %0 : tensor<128x128xf32>
  %3 = stablehlo.subtract %state, %2 : tensor<128x128xf32>
  return %2, %3 : tensor<128x128xf32>, tensor<128x128xf32>
}

// The loop needs the memory of its result from its first turn to its last: the products of a turn are not there. The one before the loop stays in the
// arena, too, which would be no smaller without it.
// LOOP: %3 = result 0
// LOOP-NOT: view
// LOOP: kernel dynamic_update_slice{{.*}} -> (%3)
//--- loop.mlir
func.func @main(%a: tensor<128x128xf32>, %start: tensor<128x128xf32>, %n: tensor<i32>) -> tensor<128x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %square = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %sums = stablehlo.reduce(%square init: %none) applies stablehlo.add across dimensions = [0] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
  %0:3 = stablehlo.while(%i = %zero, %x = %start, %s = %sums) : tensor<i32>, tensor<128x128xf32>, tensor<128xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<128xf32>) -> tensor<128x128xf32>
    %2 = stablehlo.dot_general %a, %1, contracting_dims = [0] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %3 = stablehlo.reduce(%2 init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %4 = stablehlo.tanh %3 : tensor<128xf32>
    %5 = stablehlo.reshape %4 : (tensor<128xf32>) -> tensor<1x128xf32>
    %6 = stablehlo.dynamic_update_slice %x, %5, %i, %zero : (tensor<128x128xf32>, tensor<1x128xf32>, tensor<i32>, tensor<i32>) -> tensor<128x128xf32>
    %7 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %7, %6, %4 : tensor<i32>, tensor<128x128xf32>, tensor<128xf32>
  }
  return %0#1 : tensor<128x128xf32>
}
