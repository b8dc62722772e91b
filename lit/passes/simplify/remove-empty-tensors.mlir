// RUN: xla-opt %s -xla-remove-empty-tensors | FileCheck %s

// The chain that makes a tensor without elements disappears.
// CHECK-LABEL: @empty
// CHECK: stablehlo.constant dense<> : tensor<0xf32>
// CHECK-NOT: stablehlo.slice
// CHECK: return
func.func @empty(%a: tensor<2xf32>) -> tensor<0xf32> {
  %0 = stablehlo.slice %a [2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %1 = stablehlo.negate %0 : tensor<0xf32>
  return %1 : tensor<0xf32>
}

// A tensor with elements stays.
// CHECK-LABEL: @full
// CHECK-NEXT: stablehlo.negate
func.func @full(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// What stands in the branches of something without elements goes with it.
// CHECK-LABEL: @branches
// CHECK-NEXT: %[[EMPTY:.*]] = stablehlo.constant dense<> : tensor<0xf32>
// CHECK-NEXT: return %[[EMPTY]]
func.func @branches(%a: tensor<0xf32>, %p: tensor<i1>) -> tensor<0xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %a : tensor<0xf32>
    stablehlo.return %1 : tensor<0xf32>
  }, {
    %1 = stablehlo.exponential %a : tensor<0xf32>
    stablehlo.return %1 : tensor<0xf32>
  }) : (tensor<i1>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
