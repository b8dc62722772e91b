// RUN: split-file %s %t
// RUN: xla-opt %t/kernels.mlir -xla-prepare-constants -split-input-file | FileCheck %t/kernels.mlir
// RUN: xla-compile %t/panels.mlir --constant=1,2 --emit=fused --target=sapphirerapids --target-threads=1 --cache-dir=off -o - | FileCheck %t/panels.mlir
// RUN: xla-compile %t/panels.mlir --emit=fused --target=sapphirerapids --cache-dir=off -o - | FileCheck %t/panels.mlir --check-prefix=NONE
// RUN: xla-compile %t/normalized.mlir --constant=0,1 --emit=fused --target=avx512 --target-threads=1 --cache-dir=off -o - | FileCheck %t/normalized.mlir
// RUN: not xla-compile %t/panels.mlir --constant=2-9 2>&1 | FileCheck %t/panels.mlir --check-prefix=RANGE
// RUN: not xla-compile %t/panels.mlir --constant=w 2>&1 | FileCheck %t/panels.mlir --check-prefix=TEXT

//--- kernels.mlir
// A kernel of constants moves with what it needs; its result is the last argument.
// CHECK-LABEL: func.func @moves
// CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: tensor<8xf32> {millrace.constant}, %[[P:.*]]: tensor<8xf32>)
// CHECK-SAME: millrace.prepare = @prepare
// CHECK-NOT: call @scale
// CHECK: call @add(%arg0, %[[P]])
// CHECK: func.func private @prepare(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {millrace.prepared_from = array<i64: 1>}
// CHECK: %[[S:.*]] = call @scale(%arg0)
// CHECK: return %[[S]]
func.func @moves(%x: tensor<8xf32>, %w: tensor<8xf32> {millrace.constant}) -> tensor<8xf32> {
  %0 = call @scale(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @add(%x, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @scale(%w: tensor<8xf32>) -> tensor<8xf32> attributes {millrace.kernel} {
  %0 = stablehlo.sqrt %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {millrace.kernel} {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What only the preparation reads, also behind a reshape, is none of its results.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%arg0: tensor<2x4xf32>, %arg1: tensor<8xf32> {millrace.constant}, %[[P:.*]]: tensor<2x4xf32>)
// CHECK-NOT: call @scale
// CHECK: call @add(%arg0, %[[P]])
// CHECK: func.func private @prepare(%arg0: tensor<8xf32>) -> tensor<2x4xf32>
func.func @chain(%x: tensor<2x4xf32>, %w: tensor<8xf32> {millrace.constant}) -> tensor<2x4xf32> {
  %0 = call @scale(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<2x4xf32>
  %2 = call @scales(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = call @add(%x, %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
func.func private @scale(%w: tensor<8xf32>) -> tensor<8xf32> attributes {millrace.kernel} {
  %0 = stablehlo.sqrt %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @scales(%w: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {millrace.kernel} {
  %0 = stablehlo.negate %w : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func private @add(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {millrace.kernel} {
  %0 = stablehlo.add %x, %y : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// A result that is much larger than its operands is computed again: it would take memory, and time to read.
// CHECK-LABEL: func.func @spreads
// CHECK-NOT: millrace.prepare
// CHECK: call @spread
func.func @spreads(%x: tensor<64x8xf32>, %w: tensor<8xf32> {millrace.constant}) -> (tensor<64x8xf32>, tensor<64x8xf32>) {
  %0 = call @spread(%w) : (tensor<8xf32>) -> tensor<64x8xf32>
  return %0, %x : tensor<64x8xf32>, tensor<64x8xf32>
}
func.func private @spread(%w: tensor<8xf32>) -> tensor<64x8xf32> attributes {millrace.kernel} {
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

// The memory of a donated argument is a result's, whatever somebody says of the argument.
// CHECK-LABEL: func.func @donates
// CHECK-NOT: millrace.prepare
func.func @donates(%w: tensor<8xf32> {millrace.constant, tf.aliasing_output = 0 : i32}) -> tensor<8xf32> {
  %0 = call @scale(%w) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @scale(%w: tensor<8xf32>) -> tensor<8xf32> attributes {millrace.kernel} {
  %0 = stablehlo.sqrt %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- panels.mlir
// The panels of a matrix product and of a convolution; both kernels keep the weights, which only the evaluator and code without emitters read.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg1: tensor<100x70xf32> {millrace.constant}, %arg2: tensor<64x32x3x3xf32> {millrace.constant}
// CHECK-SAME: %[[P:arg[0-9]]]: tensor<9600xf32>, %[[Q:arg[0-9]]]: tensor<19008xf32>)
// CHECK-SAME: millrace.prepare = @prepare
// CHECK-DAG: call @dot_general_{{[0-9]+}}(%arg0, %arg1, %[[P]])
// CHECK-DAG: call @convolution_{{[0-9]+}}(%{{.*}}, %arg2, %[[Q]])
// CHECK: func.func private @{{dot_general|convolution}}_{{.*}}millrace.panels = {layout = "reshape {{.*}}", operand = 1 : i64, panels = 2 : i64}
// CHECK: func.func private @prepare(
// NONE-NOT: prepare
// RANGE: --constant names argument 9, but @main has 4 arguments
// TEXT: --constant expects all, or numbers and ranges of arguments, 1,3-5, but got 'w'
func.func @main(%x: tensor<256x100xf32>, %w: tensor<100x70xf32>, %v: tensor<64x32x3x3xf32>, %y: tensor<1x32x16x16xf32>)
    -> (tensor<256x70xf32>, tensor<1x64x16x16xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x100xf32>, tensor<100x70xf32>) -> tensor<256x70xf32>
  %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x16x16xf32>
  return %0, %1 : tensor<256x70xf32>, tensor<1x64x16x16xf32>
}

//--- normalized.mlir
// The weights of groups, which weight_norm computes from constants, are a value of the preparation, and so are their panels: one matrix after the other.
// CHECK-LABEL: func.func @main
// CHECK-SAME: millrace.prepare = @prepare
// CHECK-NOT: {{multiply|divide|reduce|panels}}
// CHECK: call @convolution_{{[0-9]+}}(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT: call
// CHECK: return
// CHECK: func.func private @convolution_{{.*}}millrace.panels = {layout = "reshape 4 48 32 9; transpose 0 3 2 1; {{.*}}", operand = 1 : i64, panels = 2 : i64}
// CHECK: func.func private @prepare(
// CHECK-DAG: call @{{.*}} -> tensor<192x32x9xf32>
// CHECK-DAG: call @panels
func.func @main(%g: tensor<192x1x1xf32>, %v: tensor<192x32x9xf32>, %x: tensor<1x100x128xf32>) -> tensor<1x92x192xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %v, %v : tensor<192x32x9xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<192x32x9xf32>, tensor<f32>) -> tensor<192xf32>
  %2 = stablehlo.sqrt %1 : tensor<192xf32>
  %3 = stablehlo.reshape %2 : (tensor<192xf32>) -> tensor<192x1x1xf32>
  %4 = stablehlo.divide %g, %3 : tensor<192x1x1xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<192x1x1xf32>) -> tensor<192x32x9xf32>
  %w = stablehlo.multiply %v, %5 : tensor<192x32x9xf32>
  %6 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[o, i, 0]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x100x128xf32>, tensor<192x32x9xf32>) -> tensor<1x92x192xf32>
  return %6 : tensor<1x92x192xf32>
}
