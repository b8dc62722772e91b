// RUN: xla-opt %s -chlo-recompose-ops | FileCheck %s

// CHECK-LABEL: func.func @erf
// CHECK-NEXT: %[[R:.*]] = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[R]]
func.func @erf(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Another name, a version of the future, and complex numbers stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: stablehlo.composite
func.func @others(%x: tensor<4xf32>, %z: tensor<4xcomplex<f32>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>) {
  %0 = stablehlo.composite "my.erf" %x {decomposition = @impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "chlo.erf" %x {decomposition = @impl, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "chlo.tan" %z {decomposition = @complex, version = 1 : i32} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>
}
func.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %x : tensor<4xcomplex<f32>>
}
