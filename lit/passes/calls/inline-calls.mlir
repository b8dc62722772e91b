// RUN: xla-opt %s -xla-inline-calls=keep-from=3 -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not xla-opt %s -xla-inline-calls=keep-from=3 -split-input-file --remarks-filter-missed=xla-inline-calls -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// A callee with one caller disappears.
// CHECK-LABEL: func.func @once
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: stablehlo.abs
// CHECK-NEXT: return
// CHECK-NOT: func.func
func.func @once(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A large callee with two callers stays a function.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: call @f
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"func.call stays: the callee is large and has several callers"
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"func.call stays: the callee is large and has several callers"
  %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls the undefined function @g}}
  %0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @g(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{calls itself: recursion cannot be compiled}}
func.func @recursive(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @recursive(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
