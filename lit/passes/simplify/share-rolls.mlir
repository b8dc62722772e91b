// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rolls of one value are slices of one copy with borders.
// RUN: xla-opt %s -xla-share-rolls -cse | FileCheck %s

// CHECK-LABEL: @ring
// CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [62:64, 0:32]
// CHECK: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:1, 0:32]
// CHECK: %[[W:.*]] = stablehlo.concatenate %[[LAST]], %arg0, %[[FIRST]], dim = 0 : {{.*}} -> tensor<67x32xf32>
// CHECK: %[[A:.*]] = stablehlo.slice %[[W]] [3:67, 0:32]
// CHECK: %[[B:.*]] = stablehlo.slice %[[W]] [0:64, 0:32]
// CHECK: stablehlo.add %[[A]], %[[B]]
func.func @ring(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = stablehlo.slice %x [1:64, 0:32] : (tensor<64x32xf32>) -> tensor<63x32xf32>
  %1 = stablehlo.slice %x [0:1, 0:32] : (tensor<64x32xf32>) -> tensor<1x32xf32>
  %a = stablehlo.concatenate %0, %1, dim = 0 : (tensor<63x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.slice %x [62:64, 0:32] : (tensor<64x32xf32>) -> tensor<2x32xf32>
  %3 = stablehlo.slice %x [0:62, 0:32] : (tensor<64x32xf32>) -> tensor<62x32xf32>
  %b = stablehlo.concatenate %2, %3, dim = 0 : (tensor<2x32xf32>, tensor<62x32xf32>) -> tensor<64x32xf32>
  %s = stablehlo.add %a, %b : tensor<64x32xf32>
  return %s : tensor<64x32xf32>
}

// The roll of a roll and the roll of the value itself: parts of what has borders along both dimensions.
// CHECK-LABEL: @torus
// CHECK: %[[ROWS:.*]] = stablehlo.concatenate {{.*}}, %arg0, {{.*}}, dim = 0 : {{.*}} -> tensor<34x32xi32>
// CHECK: %[[ALL:.*]] = stablehlo.concatenate %{{.*}}, %[[ROWS]], dim = 1 : {{.*}} -> tensor<34x33xi32>
// CHECK-DAG: stablehlo.slice %[[ALL]] [2:34, 1:33]
// CHECK-DAG: stablehlo.slice %[[ALL]] [0:32, 1:33]
// CHECK-DAG: stablehlo.slice %[[ALL]] [2:34, 0:32]
// CHECK-DAG: stablehlo.slice %[[ALL]] [1:33, 0:32]
func.func @torus(%x: tensor<32x32xi32>) -> (tensor<32x32xi32>, tensor<32x32xi32>, tensor<32x32xi32>, tensor<32x32xi32>) {
  %0 = stablehlo.slice %x [1:32, 0:32] : (tensor<32x32xi32>) -> tensor<31x32xi32>
  %1 = stablehlo.slice %x [0:1, 0:32] : (tensor<32x32xi32>) -> tensor<1x32xi32>
  %up = stablehlo.concatenate %0, %1, dim = 0 : (tensor<31x32xi32>, tensor<1x32xi32>) -> tensor<32x32xi32>
  %2 = stablehlo.slice %x [31:32, 0:32] : (tensor<32x32xi32>) -> tensor<1x32xi32>
  %3 = stablehlo.slice %x [0:31, 0:32] : (tensor<32x32xi32>) -> tensor<31x32xi32>
  %down = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1x32xi32>, tensor<31x32xi32>) -> tensor<32x32xi32>
  %4 = stablehlo.slice %up [0:32, 31:32] : (tensor<32x32xi32>) -> tensor<32x1xi32>
  %5 = stablehlo.slice %up [0:32, 0:31] : (tensor<32x32xi32>) -> tensor<32x31xi32>
  %left = stablehlo.concatenate %4, %5, dim = 1 : (tensor<32x1xi32>, tensor<32x31xi32>) -> tensor<32x32xi32>
  %6 = stablehlo.slice %x [0:32, 31:32] : (tensor<32x32xi32>) -> tensor<32x1xi32>
  %7 = stablehlo.slice %x [0:32, 0:31] : (tensor<32x32xi32>) -> tensor<32x31xi32>
  %only = stablehlo.concatenate %6, %7, dim = 1 : (tensor<32x1xi32>, tensor<32x31xi32>) -> tensor<32x32xi32>
  return %up, %down, %left, %only : tensor<32x32xi32>, tensor<32x32xi32>, tensor<32x32xi32>, tensor<32x32xi32>
}

// One roll alone, and rolls whose borders would be more than half of the value.
// CHECK-LABEL: @stay
// CHECK-COUNT-3: stablehlo.concatenate {{.*}} -> tensor<64x32xf32>
// CHECK-NOT: stablehlo.concatenate
func.func @stay(%x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = stablehlo.slice %x [0:64, 1:32] : (tensor<64x32xf32>) -> tensor<64x31xf32>
  %1 = stablehlo.slice %x [0:64, 0:1] : (tensor<64x32xf32>) -> tensor<64x1xf32>
  %a = stablehlo.concatenate %0, %1, dim = 1 : (tensor<64x31xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.slice %x [30:64, 0:32] : (tensor<64x32xf32>) -> tensor<34x32xf32>
  %3 = stablehlo.slice %x [0:30, 0:32] : (tensor<64x32xf32>) -> tensor<30x32xf32>
  %b = stablehlo.concatenate %2, %3, dim = 0 : (tensor<34x32xf32>, tensor<30x32xf32>) -> tensor<64x32xf32>
  %4 = stablehlo.slice %x [34:64, 0:32] : (tensor<64x32xf32>) -> tensor<30x32xf32>
  %5 = stablehlo.slice %x [0:34, 0:32] : (tensor<64x32xf32>) -> tensor<34x32xf32>
  %c = stablehlo.concatenate %4, %5, dim = 0 : (tensor<30x32xf32>, tensor<34x32xf32>) -> tensor<64x32xf32>
  return %a, %b, %c : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
