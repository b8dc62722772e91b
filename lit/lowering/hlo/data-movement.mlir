// Shapes and data movement.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> (tensor<6xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<5x7xf32>, tensor<3x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<5x2x3xf32>, tensor<f32>) {
  // CHECK: reshape.1 = f32[6]{0} reshape(Arg_0.1)
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: transpose.1 = f32[3,2]{1,0} transpose(Arg_0.1), dimensions={1,0}
  %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: slice.1 = f32[1,2]{1,0} slice(Arg_0.1), slice={[0:2:2], [1:3:1]}
  %2 = stablehlo.slice %x [0:2:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  // CHECK: slice.2 = f32[2,2]{1,0} slice(Arg_0.1), slice={[0:2], [1:3]}
  %3 = stablehlo.slice %x [0:2, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: pad.1 = f32[5,7]{1,0} pad(Arg_0.1, Arg_1.1), padding=1_1_1x0_0_2
  %4 = stablehlo.pad %x, %s, low = [1, 0], high = [1, 0], interior = [1, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x7xf32>
  // CHECK: pad.2 = f32[3,3]{1,0} pad(Arg_0.1, Arg_1.1), padding=1_0x-1_1
  %5 = stablehlo.pad %x, %s, low = [1, -1], high = [0, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  // CHECK: concatenate.1 = f32[4,3]{1,0} concatenate(Arg_0.1, Arg_0.1), dimensions={0}
  %6 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: reverse.1 = f32[2,3]{1,0} reverse(Arg_0.1), dimensions={0,1}
  %7 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
  // CHECK: iota.1 = s32[2,3]{1,0} iota(), iota_dimension=1
  %8 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  // CHECK: broadcast.1 = f32[5,2,3]{2,1,0} broadcast(Arg_0.1), dimensions={1,2}
  %9 = stablehlo.broadcast %x, sizes = [5] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  // CHECK: copy.1 = f32[] copy(Arg_1.1)
  %10 = stablehlo.pad %s, %s, low = [], high = [], interior = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<5x7xf32>, tensor<3x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<5x2x3xf32>, tensor<f32>
}

// -----
// HLO broadcasts without growing a dimension and in the order of the operand.
// CHECK: broadcast.1 = f32[2,4,1]{2,1,0} broadcast(Arg_0.1), dimensions={0,2}
// CHECK: reshape.1 = f32[2]{0} reshape(Arg_0.1)
// CHECK: broadcast.2 = f32[2,3]{1,0} broadcast(reshape.1), dimensions={0}
// CHECK: transpose.1 = f32[2,3]{1,0} transpose(Arg_1.1), dimensions={1,0}
// CHECK: broadcast.3 = f32[4,2,3]{2,1,0} broadcast(transpose.1), dimensions={1,2}
// CHECK: ROOT tuple.1 = {{.*}} tuple(broadcast.1, broadcast.2, broadcast.3, Arg_1.1)
func.func @main(%x: tensor<2x1xf32>, %y: tensor<3x2xf32>) -> (tensor<2x4x1xf32>, tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x4x1xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.broadcast_in_dim %y, dims = [2, 1] : (tensor<3x2xf32>) -> tensor<4x2x3xf32>
  %3 = stablehlo.broadcast_in_dim %y, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0, %1, %2, %3 : tensor<2x4x1xf32>, tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2xf32>
}
