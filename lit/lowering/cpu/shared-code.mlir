// Convolutions over other distances, products of other lengths and pads of other sizes share machine code: each finds its own numbers, also where
// it was compiled with others before, and where two objects of a program define it.
// RUN: xla-run %s --entry=three --verify --cache-dir=off
// RUN: xla-run %s --entry=three --verify --cache-dir=off --compile-threads=1
// RUN: xla-run %s --entry=lengths --verify --cache-dir=off
// RUN: xla-run %s --entry=pads --verify --cache-dir=off
// RUN: xla-run %s --entry=three --verify --cache-dir=off --quick
// RUN: rm -rf %t.one %t.two
// RUN: xla-run %s --entry=near --verify --cache-dir=%t.one
// RUN: xla-run %s --entry=far --verify --cache-dir=%t.two
// RUN: cp -r %t.two/. %t.one
// RUN: xla-run %s --entry=three --verify --stats --cache-dir=%t.one | FileCheck %s
// CHECK: 6 of 6 kernels were compiled before
func.func @near(%x: tensor<1x40x12xf32>, %w: tensor<3x12x24xf32>) -> (tensor<1x40x24xf32>, tensor<1x40x24xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[4, 0]], rhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[8, 0]], rhs_dilate = [4]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  return %0, %1 : tensor<1x40x24xf32>, tensor<1x40x24xf32>
}

func.func @far(%x: tensor<1x40x12xf32>, %w: tensor<3x12x24xf32>) -> (tensor<1x40x24xf32>, tensor<1x40x24xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[8, 0]], rhs_dilate = [4]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[16, 0]], rhs_dilate = [8]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  return %0, %1 : tensor<1x40x24xf32>, tensor<1x40x24xf32>
}

func.func @three(%x: tensor<1x40x12xf32>, %w: tensor<3x12x24xf32>) -> (tensor<1x40x24xf32>, tensor<1x40x24xf32>, tensor<1x40x24xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[4, 0]], rhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[8, 0]], rhs_dilate = [4]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[16, 0]], rhs_dilate = [8]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x40x12xf32>, tensor<3x12x24xf32>) -> tensor<1x40x24xf32>
  return %0, %1, %2 : tensor<1x40x24xf32>, tensor<1x40x24xf32>, tensor<1x40x24xf32>
}

func.func @lengths(%x0: tensor<49x96xf32>, %w0: tensor<96x72xf32>, %x1: tensor<49x128xf32>, %w1: tensor<128x72xf32>, %x2: tensor<49x160xf32>, %w2: tensor<160x72xf32>) -> (tensor<49x72xf32>, tensor<49x72xf32>, tensor<49x72xf32>) {
  %0 = stablehlo.dot_general %x0, %w0, contracting_dims = [1] x [0] : (tensor<49x96xf32>, tensor<96x72xf32>) -> tensor<49x72xf32>
  %1 = stablehlo.dot_general %x1, %w1, contracting_dims = [1] x [0] : (tensor<49x128xf32>, tensor<128x72xf32>) -> tensor<49x72xf32>
  %2 = stablehlo.dot_general %x2, %w2, contracting_dims = [1] x [0] : (tensor<49x160xf32>, tensor<160x72xf32>) -> tensor<49x72xf32>
  return %0, %1, %2 : tensor<49x72xf32>, tensor<49x72xf32>, tensor<49x72xf32>
}

func.func @pads(%x: tensor<40x64xf32>) -> (tensor<42x64xf32>, tensor<44x64xf32>, tensor<48x64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<42x64xf32>
  %1 = stablehlo.pad %x, %zero, low = [4, 0], high = [0, 0], interior = [0, 0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<44x64xf32>
  %2 = stablehlo.pad %x, %zero, low = [8, 0], high = [0, 0], interior = [0, 0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<48x64xf32>
  return %0, %1, %2 : tensor<42x64xf32>, tensor<44x64xf32>, tensor<48x64xf32>
}
