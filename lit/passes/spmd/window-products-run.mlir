// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of parts that go round are the products of what was gathered, on every device, and those are rows and columns of the whole.
// RUN: rm -rf %t && split-file %s %t
// RUN: xla-opt %t/parts.mlir -pass-pipeline="builtin.module(func.func(xla-window-products{overlap=1e9 gigaflops=1e-6}))" -o %t/ring.mlir
// RUN: grep -q collective_permute %t/ring.mlir && not grep all_gather %t/ring.mlir
// RUN: sed '1d; /^}/,$d' %t/ring.mlir > %t/all.mlir
// RUN: sed 's/@ring_/@plain_/' %t/parts.mlir >> %t/all.mlir
// RUN: cat %t/main.mlir >> %t/all.mlir && xla-translate --interpret %t/all.mlir

//--- parts.mlir
// Rows; the groups' devices do not come in order.
func.func @ring_rows(%x: tensor<2x4xi32>, %w: tensor<4x3xi32>) -> tensor<4x3xi32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2x4xi32>) -> tensor<4x4xi32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x4xi32>, tensor<4x3xi32>) -> tensor<4x3xi32>
  return %1 : tensor<4x3xi32>
}
// Columns of the right side in a batch, of four devices.
func.func @ring_columns(%x: tensor<2x3x4xi32>, %w: tensor<2x4x1xi32>) -> tensor<2x3x4xi32> {
  %0 = "stablehlo.all_gather"(%w) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<2x4x1xi32>) -> tensor<2x4x4xi32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xi32>, tensor<2x4x4xi32>) -> tensor<2x3x4xi32>
  return %1 : tensor<2x3x4xi32>
}

//--- main.mlir
func.func @main() {
  %a = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  %b = stablehlo.constant dense<[[-1, 3, 9, 2], [4, -6, 1, 0]]> : tensor<2x4xi32>
  %c = stablehlo.constant dense<[[7, 0, -3, 5], [2, 2, -8, 1]]> : tensor<2x4xi32>
  %d = stablehlo.constant dense<[[6, 1, 1, -9], [0, 3, 4, -2]]> : tensor<2x4xi32>
  %w = stablehlo.constant dense<[[1, -2, 3], [0, 4, 5], [-6, 7, 1], [2, 2, -3]]> : tensor<4x3xi32>
  %ring:4 = "interpreter.run_parallel"(%a, %w, %b, %w, %c, %w, %d, %w) {programs = [[@ring_rows, @ring_rows, @ring_rows, @ring_rows]]} : (tensor<2x4xi32>, tensor<4x3xi32>, tensor<2x4xi32>, tensor<4x3xi32>, tensor<2x4xi32>, tensor<4x3xi32>, tensor<2x4xi32>, tensor<4x3xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>)
  %plain:4 = "interpreter.run_parallel"(%a, %w, %b, %w, %c, %w, %d, %w) {programs = [[@plain_rows, @plain_rows, @plain_rows, @plain_rows]]} : (tensor<2x4xi32>, tensor<4x3xi32>, tensor<2x4xi32>, tensor<4x3xi32>, tensor<2x4xi32>, tensor<4x3xi32>, tensor<2x4xi32>, tensor<4x3xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>)
  "check.expect_eq"(%ring#0, %plain#0) : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
  "check.expect_eq"(%ring#1, %plain#1) : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
  "check.expect_eq"(%ring#2, %plain#2) : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
  "check.expect_eq"(%ring#3, %plain#3) : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
  // Devices 2 and 0 have the rows of %c, then those of %a; 1 and 3 those of %b, then those of %d.
  %even = stablehlo.concatenate %c, %a, dim = 0 : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<4x4xi32>
  %odd = stablehlo.concatenate %b, %d, dim = 0 : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<4x4xi32>
  %0 = stablehlo.dot_general %even, %w, contracting_dims = [1] x [0] : (tensor<4x4xi32>, tensor<4x3xi32>) -> tensor<4x3xi32>
  %1 = stablehlo.dot_general %odd, %w, contracting_dims = [1] x [0] : (tensor<4x4xi32>, tensor<4x3xi32>) -> tensor<4x3xi32>
  "check.expect_eq"(%ring#0, %0) : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()
  "check.expect_eq"(%ring#3, %1) : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()

  %n = stablehlo.iota dim = 0 : tensor<24xi32>
  %x = stablehlo.reshape %n : (tensor<24xi32>) -> tensor<2x3x4xi32>
  %k = stablehlo.reshape %even : (tensor<4x4xi32>) -> tensor<2x4x2xi32>
  %l = stablehlo.reshape %odd : (tensor<4x4xi32>) -> tensor<2x4x2xi32>
  %all = stablehlo.concatenate %k, %l, dim = 2 : (tensor<2x4x2xi32>, tensor<2x4x2xi32>) -> tensor<2x4x4xi32>
  %w0 = stablehlo.slice %all [0:2, 0:4, 0:1] : (tensor<2x4x4xi32>) -> tensor<2x4x1xi32>
  %w1 = stablehlo.slice %all [0:2, 0:4, 1:2] : (tensor<2x4x4xi32>) -> tensor<2x4x1xi32>
  %w2 = stablehlo.slice %all [0:2, 0:4, 2:3] : (tensor<2x4x4xi32>) -> tensor<2x4x1xi32>
  %w3 = stablehlo.slice %all [0:2, 0:4, 3:4] : (tensor<2x4x4xi32>) -> tensor<2x4x1xi32>
  %c4:4 = "interpreter.run_parallel"(%x, %w0, %x, %w1, %x, %w2, %x, %w3) {programs = [[@ring_columns, @ring_columns, @ring_columns, @ring_columns]]} : (tensor<2x3x4xi32>, tensor<2x4x1xi32>, tensor<2x3x4xi32>, tensor<2x4x1xi32>, tensor<2x3x4xi32>, tensor<2x4x1xi32>, tensor<2x3x4xi32>, tensor<2x4x1xi32>) -> (tensor<2x3x4xi32>, tensor<2x3x4xi32>, tensor<2x3x4xi32>, tensor<2x3x4xi32>)
  %2 = stablehlo.dot_general %x, %all, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xi32>, tensor<2x4x4xi32>) -> tensor<2x3x4xi32>
  "check.expect_eq"(%c4#0, %2) : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> ()
  "check.expect_eq"(%c4#1, %2) : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> ()
  "check.expect_eq"(%c4#2, %2) : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> ()
  "check.expect_eq"(%c4#3, %2) : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> ()
  return
}
