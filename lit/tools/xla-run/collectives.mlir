// Programs with collectives run on as many devices of one process as they ask for.
// RUN: split-file %s %t
// RUN: xla-run %t/all-reduce.mlir --cache-dir=off | FileCheck %s --check-prefix=REDUCE
// RUN: xla-run %t/permute.mlir --cache-dir=off | FileCheck %s --check-prefix=PERMUTE
// REDUCE: device 0: dense<6> : tensor<2xi32>
// REDUCE: device 3: dense<6> : tensor<2xi32>
// PERMUTE: device 0: dense<1>
// PERMUTE: device 1: dense<0>
//--- all-reduce.mlir
module attributes {mhlo.num_replicas = 4 : i32} {
  func.func @main() -> tensor<2xi32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %v = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %sum = "stablehlo.all_reduce"(%v) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
    }) : (tensor<2xi32>) -> tensor<2xi32>
    return %sum : tensor<2xi32>
  }
}
//--- permute.mlir
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main() -> tensor<i32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %0 = "stablehlo.collective_permute"(%i) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
}
