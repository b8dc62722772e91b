// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of narrow numbers get as many terms as rows of the matrix unit's tiles hold.
// RUN: xla-opt %s -xla-pad-contractions=matrix-bf16=true -xla-fuse-kernels -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-pad-contractions=matrix-int8=true -xla-fuse-kernels -split-input-file | FileCheck %s --check-prefix=BYTES
// RUN: xla-opt %s -xla-pad-contractions -xla-fuse-kernels -split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: low = [0, 0], high = [0, 29]

// The product's kernel adds the zeros where it packs both factors.
// CHECK-LABEL: func.func @product
// CHECK-DAG: stablehlo.pad %arg{{.*}}, {{.*}} low = [0, 0], high = [0, 29], interior = [0, 0] : (tensor<129x515xbf16>, tensor<bf16>) -> tensor<129x544xbf16>
// CHECK-DAG: stablehlo.pad %arg{{.*}}, {{.*}} low = [0, 0], high = [29, 0], interior = [0, 0] : (tensor<515x131xbf16>, tensor<bf16>) -> tensor<544x131xbf16>
// CHECK-NEXT: stablehlo.dot_general {{.*}} : (tensor<129x544xbf16>, tensor<544x131xbf16>) -> tensor<129x131xf32>
func.func @product(%a: tensor<129x515xbf16>, %b: tensor<515x131xbf16>) -> tensor<129x131xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<129x515xbf16>, tensor<515x131xbf16>) -> tensor<129x131xf32>
  return %0 : tensor<129x131xf32>
}

// -----

// What computes a factor stays outside, and so do the zeros of rows that are packed along themselves.
// CHECK-LABEL: func.func @computed
// CHECK-LABEL: func.func private @tanh
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @pad
// CHECK: return {{.*}} : tensor<320x300xbf16>
// CHECK-LABEL: func.func private @dot_general
// CHECK: stablehlo.pad
// CHECK-NEXT: stablehlo.dot_general
func.func @computed(%a: tensor<300x300xbf16>, %b: tensor<300x300xbf16>) -> tensor<300x300xf32> {
  %0 = stablehlo.tanh %b : tensor<300x300xbf16>
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [0] x [0] : (tensor<300x300xbf16>, tensor<300x300xbf16>) -> tensor<300x300xf32>
  return %1 : tensor<300x300xf32>
}

// -----

// The copy with borders has the zeros, too.
// CHECK-LABEL: func.func @convolution
// CHECK-DAG: stablehlo.pad {{.*}} low = [0, 1, 1, 0], high = [0, 1, 1, 31], {{.*}} -> tensor<2x30x30x64xbf16>
// CHECK-DAG: stablehlo.pad {{.*}} high = [0, 0, 31, 0], {{.*}} -> tensor<3x3x64x65xbf16>
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.convolution({{.*}} : (tensor<2x30x30x64xbf16>, tensor<3x3x64x65xbf16>) -> tensor<2x28x28x65xbf16>
func.func @convolution(%x: tensor<2x28x28x33xbf16>, %k: tensor<3x3x33x65xbf16>) -> tensor<2x28x28x65xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.pad %x, %zero, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<2x28x28x33xbf16>, tensor<bf16>) -> tensor<2x30x30x33xbf16>
  %1 = stablehlo.convolution(%0, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x30x30x33xbf16>, tensor<3x3x33x65xbf16>) -> tensor<2x28x28x65xbf16>
  return %1 : tensor<2x28x28x65xbf16>
}

// -----

// What the unit takes, few rows, short sums, small products, and what it does not know.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: stablehlo.pad
func.func @left_alone(%a: tensor<128x512xbf16>, %b: tensor<512x128xbf16>, %c: tensor<4x515xbf16>, %d: tensor<515x1310xbf16>, %e: tensor<1000x15xbf16>,
                      %f: tensor<15x1000xbf16>, %g: tensor<20x33xbf16>, %h: tensor<33x20xbf16>, %i: tensor<129x515xf32>, %j: tensor<515x131xf32>,
                      %k: tensor<129x515xi8>, %l: tensor<515x131xi8>)
    -> (tensor<128x128xbf16>, tensor<4x1310xbf16>, tensor<1000x1000xbf16>, tensor<20x20xbf16>, tensor<129x131xf32>, tensor<129x131xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<128x512xbf16>, tensor<512x128xbf16>) -> tensor<128x128xbf16>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<4x515xbf16>, tensor<515x1310xbf16>) -> tensor<4x1310xbf16>
  %2 = stablehlo.dot_general %e, %f, contracting_dims = [1] x [0] : (tensor<1000x15xbf16>, tensor<15x1000xbf16>) -> tensor<1000x1000xbf16>
  %3 = stablehlo.dot_general %g, %h, contracting_dims = [1] x [0] : (tensor<20x33xbf16>, tensor<33x20xbf16>) -> tensor<20x20xbf16>
  %4 = stablehlo.dot_general %i, %j, contracting_dims = [1] x [0] : (tensor<129x515xf32>, tensor<515x131xf32>) -> tensor<129x131xf32>
  %5 = stablehlo.dot_general %k, %l, contracting_dims = [1] x [0] : (tensor<129x515xi8>, tensor<515x131xi8>) -> tensor<129x131xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<128x128xbf16>, tensor<4x1310xbf16>, tensor<1000x1000xbf16>, tensor<20x20xbf16>, tensor<129x131xf32>, tensor<129x131xi32>
}

// -----

// Bytes of any sign: the unit multiplies unsigned by signed ones, too.
// BYTES-LABEL: func.func @bytes
// BYTES-DAG: stablehlo.pad {{.*}} -> tensor<129x576xui8>
// BYTES-DAG: stablehlo.pad {{.*}} -> tensor<576x131xi8>
// BYTES: stablehlo.dot_general {{.*}} : (tensor<129x576xui8>, tensor<576x131xi8>) -> tensor<129x131xi32>
func.func @bytes(%a: tensor<129x515xui8>, %b: tensor<515x131xi8>) -> tensor<129x131xi32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<129x515xui8>, tensor<515x131xi8>) -> tensor<129x131xi32>
  return %0 : tensor<129x131xi32>
}
