// --memory: the arena beside the largest sum of live temporaries, which no arena undercuts. Three products: two temporaries of
// 64 x 64 x 4 bytes live together while the second one is made, the last one is the result.
// RUN: xla-compile %s --cache-dir=off --memory -o %t.mr | FileCheck %s
// CHECK: 32768 temporaries
// CHECK: 32768 largest sum of live temporaries
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
