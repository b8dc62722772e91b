// RUN: xla-opt %s -xla-lower-to-linalg | FileCheck %s

// Without all-functions only kernels are converted; a caller sees the storage types through casts.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<4xui8>
// CHECK: stablehlo.add
// CHECK: unrealized_conversion_cast {{.*}} : tensor<4xui8> to tensor<4xi8>
// CHECK: call @kernel{{.*}} : (tensor<4xi8>) -> tensor<4xi8>
func.func @main(%a: tensor<4xui8>) -> tensor<4xui8> {
  %0 = stablehlo.add %a, %a : tensor<4xui8>
  %1 = call @kernel(%0) : (tensor<4xui8>) -> tensor<4xui8>
  return %1 : tensor<4xui8>
}

// CHECK-LABEL: func.func private @kernel(
// CHECK-NOT: stablehlo
// CHECK: linalg.generic
func.func private @kernel(%a: tensor<4xui8>) -> tensor<4xui8> attributes {millrace.kernel} {
  %0 = stablehlo.add %a, %a : tensor<4xui8>
  return %0 : tensor<4xui8>
}
