// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch merges batch and sequence on its way to every linear layer. The sequence is split: nothing is gathered for it, neither for the
// product, nor for what is computed in the merged form, nor for the gradients, which sum over it.
// RUN: split-file %s %t
// RUN: xla-compile %t/linear.mlir --emit=partitioned | FileCheck %s --check-prefix=LINEAR
// RUN: xla-compile %t/gradients.mlir --emit=partitioned | FileCheck %s --check-prefix=GRAD
// RUN: xla-compile %t/rows.mlir --emit=partitioned | FileCheck %s --check-prefix=ROWS
// RUN: xla-compile %t/barrier.mlir --emit=partitioned | FileCheck %s --check-prefix=BARRIER
// RUN: xla-compile %t/stays.mlir --emit=partitioned | FileCheck %s --check-prefix=STAYS
// RUN: xla-run %t/gradients.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/rows.mlir --verify --quiet --cache-dir=off

// LINEAR-NOT: all_gather
// LINEAR-NOT: all_to_all
// LINEAR: stablehlo.dot_general {{.*}}, contracting_dims = [2] x [0] : (tensor<1x4x8xf32>, tensor<8x6xf32>) -> tensor<1x4x6xf32>
// LINEAR-NOT: reshape
// LINEAR: return %{{.*}} : tensor<1x4x6xf32>

//--- linear.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "seq"=4]>
  func.func @main(%x: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"seq"}, {}]>},
                  %w: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                  %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<2x16x6xf32> {
    %0 = stablehlo.reshape %x : (tensor<2x16x8xf32>) -> tensor<32x8xf32>
    %1 = stablehlo.transpose %w, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<32x8xf32>, tensor<8x6xf32>) -> tensor<32x6xf32>
    %3 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> tensor<32x6xf32>
    %4 = stablehlo.add %2, %3 : tensor<32x6xf32>
    %5 = stablehlo.constant dense<0.0> : tensor<32x6xf32>
    %6 = stablehlo.maximum %4, %5 : tensor<32x6xf32>
    %7 = stablehlo.reshape %6 : (tensor<32x6xf32>) -> tensor<2x16x6xf32>
    return %7 : tensor<2x16x6xf32>
  }
}

// Weights' gradients contract over batch and sequence, those of biases sum over both: one sum of all devices each, in one message.
// GRAD-NOT: all_gather
// GRAD-NOT: all_to_all
// GRAD-DAG: stablehlo.dot_general {{.*}}, contracting_dims = [1, 2] x [0, 1] : (tensor<6x1x4xf32>, tensor<1x4x8xf32>) -> tensor<6x8xf32>
// GRAD-DAG: stablehlo.reduce{{.*}} across dimensions = [0, 1] : (tensor<1x4x6xf32>, tensor<f32>) -> tensor<6xf32>
// GRAD: "stablehlo.all_reduce"
// GRAD-NOT: all_reduce
// GRAD-NOT: all_gather
// GRAD: return

//--- gradients.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "seq"=4]>
  func.func @main(%x: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"seq"}, {}]>},
                  %w: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                  %g: tensor<2x16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"seq"}, {}]>})
      -> (tensor<2x16x8xf32>, tensor<6x8xf32>, tensor<6xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reshape %x : (tensor<2x16x8xf32>) -> tensor<32x8xf32>
    %1 = stablehlo.reshape %g : (tensor<2x16x6xf32>) -> tensor<32x6xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<32x6xf32>, tensor<6x8xf32>) -> tensor<32x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<32x8xf32>) -> tensor<2x16x8xf32>
    %4 = stablehlo.transpose %1, dims = [1, 0] : (tensor<32x6xf32>) -> tensor<6x32xf32>
    %5 = stablehlo.dot_general %4, %0, contracting_dims = [1] x [0] : (tensor<6x32xf32>, tensor<32x8xf32>) -> tensor<6x8xf32>
    %6 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x6xf32>, tensor<f32>) -> tensor<6xf32>
    return %3, %5, %6 : tensor<2x16x8xf32>, tensor<6x8xf32>, tensor<6xf32>
  }
}

// Rows that are looked up and added to, joined, sorted, padded and cut along other dimensions.
// ROWS-NOT: all_gather
// ROWS-NOT: all_to_all
// ROWS: "stablehlo.gather"{{.*}}offset_dims = [2]{{.*}}index_vector_dim = 2{{.*}} : (tensor<10x8xf32>, tensor<1x4x1xi32>) -> tensor<1x4x8xf32>
// ROWS: stablehlo.pad {{.*}} -> tensor<1x4x10xf32>
// ROWS: stablehlo.slice {{.*}} -> tensor<1x4x6xf32>
// ROWS: "stablehlo.sort"(%{{.*}}) <{dimension = 2
// ROWS: stablehlo.concatenate {{.*}} dim = 2 : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x4x12xf32>
// ROWS-NOT: all_gather
// ROWS: "stablehlo.scatter"
// ROWS: (tensor<10x8xf32>, tensor<1x4x1xi32>, tensor<1x4x8xf32>) -> tensor<10x8xf32>
// ROWS: "stablehlo.all_reduce"
// ROWS-NOT: all_gather
// ROWS: return

//--- rows.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "seq"=4]>
  func.func @main(%table: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                  %tokens: tensor<2x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"seq"}]>},
                  %g: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"seq"}, {}]>})
      -> (tensor<2x16x12xf32>, tensor<10x8xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reshape %tokens : (tensor<2x16xi32>) -> tensor<32x1xi32>
    %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<32x1xi32>) -> tensor<32x8xf32>
    %2 = stablehlo.pad %1, %zero, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<32x8xf32>, tensor<f32>) -> tensor<32x10xf32>
    %3 = stablehlo.slice %2 [0:32, 2:8] : (tensor<32x10xf32>) -> tensor<32x6xf32>
    %4 = "stablehlo.sort"(%3) <{dimension = -1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %8 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    }) : (tensor<32x6xf32>) -> tensor<32x6xf32>
    %5 = stablehlo.concatenate %4, %3, dim = 1 : (tensor<32x6xf32>, tensor<32x6xf32>) -> tensor<32x12xf32>
    %6 = stablehlo.reshape %5 : (tensor<32x12xf32>) -> tensor<2x16x12xf32>
    %7 = stablehlo.reshape %g : (tensor<2x16x8xf32>) -> tensor<32x8xf32>
    %sums = stablehlo.constant dense<0.0> : tensor<10x8xf32>
    %9 = "stablehlo.scatter"(%sums, %0, %7) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %10 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<10x8xf32>, tensor<32x1xi32>, tensor<32x8xf32>) -> tensor<10x8xf32>
    return %6, %9 : tensor<2x16x12xf32>, tensor<10x8xf32>
  }
}

// What a barrier keeps in order.
// BARRIER-NOT: all_gather
// BARRIER: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<2x6x4xf32>, tensor<f32>
// BARRIER: stablehlo.multiply {{.*}} : tensor<2x6x4xf32>
// BARRIER: stablehlo.reduce{{.*}} across dimensions = [0, 1]
// BARRIER-NOT: all_gather
// BARRIER: return

//--- barrier.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["seq"=2]>
  func.func @main(%x: tensor<2x12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"seq"}, {}]>},
                  %y: tensor<2x12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"seq"}, {}]>}, %s: tensor<f32>)
      -> (tensor<4xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reshape %x : (tensor<2x12x4xf32>) -> tensor<24x4xf32>
    %1:2 = stablehlo.optimization_barrier %0, %s : tensor<24x4xf32>, tensor<f32>
    %2 = stablehlo.reshape %y : (tensor<2x12x4xf32>) -> tensor<24x4xf32>
    %3 = stablehlo.multiply %1#0, %2 : tensor<24x4xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %4, %1#1 : tensor<4xf32>, tensor<f32>
  }
}

// Only the first of the merged dimensions is cut: the merged one is cut there. Cut at different places, the products have to be merged.
// STAYS: stablehlo.dot_general {{.*}}, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
// STAYS: stablehlo.add {{.*}} : tensor<12xf32>
// STAYS: return

//--- stays.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["data"=2]>
  func.func @main(%x: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>},
                  %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                  %a: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
                  %b: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> (tensor<2x16x6xf32>, tensor<12xf32>) {
    %0 = stablehlo.reshape %x : (tensor<2x16x8xf32>) -> tensor<32x8xf32>
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<32x8xf32>, tensor<8x6xf32>) -> tensor<32x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<32x6xf32>) -> tensor<2x16x6xf32>
    %3 = stablehlo.reshape %a : (tensor<3x4xf32>) -> tensor<12xf32>
    %4 = stablehlo.reshape %b : (tensor<2x6xf32>) -> tensor<12xf32>
    %5 = stablehlo.add %3, %4 : tensor<12xf32>
    return %2, %5 : tensor<2x16x6xf32>, tensor<12xf32>
  }
}
