// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates that are split are scattered where they are, and what comes out is combined; one device of a group begins with the value.
// RUN: split-file %s %t
// RUN: xla-compile %t/largest.mlir --emit=partitioned | FileCheck %s --check-prefix=LARGEST
// RUN: xla-compile %t/parts.mlir --emit=partitioned | FileCheck %s --check-prefix=PARTS
// RUN: xla-compile %t/gathered.mlir --emit=partitioned | FileCheck %s --check-prefix=GATHERED
// RUN: xla-run %t/largest.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/parts.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/added.mlir --verify --quiet --cache-dir=off

// Thirty updates of four devices: the last tile ends with indices of nothing.
// LARGEST-NOT: all_gather
// LARGEST: stablehlo.constant dense<-1> : tensor<i32>
// LARGEST: stablehlo.select %{{.*}}, %arg0, %{{.*}} : tensor<i1>, tensor<5x2xf32>
// LARGEST: (tensor<5x2xf32>, tensor<8x1xi32>, tensor<8x2xf32>) -> tensor<5x2xf32>
// LARGEST: "stablehlo.all_reduce"
// LARGEST: stablehlo.maximum
// LARGEST-NOT: all_gather
// LARGEST: return

//--- largest.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func @main(%x: tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %at: tensor<30x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                  %updates: tensor<30x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<5x2xf32> {
    %0 = "stablehlo.scatter"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x2xf32>, tensor<30x1xi32>, tensor<30x2xf32>) -> tensor<5x2xf32>
    return %0 : tensor<5x2xf32>
  }
}

// Who wants parts of the sum gets parts.
// PARTS-NOT: all_gather
// PARTS: "stablehlo.reduce_scatter"
// PARTS-NOT: all_reduce
// PARTS: return %{{.*}} : tensor<2x2xi32>

//--- parts.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func @main(%at: tensor<32x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %updates: tensor<32x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
      -> (tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    %x = stablehlo.constant dense<0> : tensor<8x2xi32>
    %0 = "stablehlo.scatter"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<8x2xi32>, tensor<32x1xi32>, tensor<32x2xi32>) -> tensor<8x2xi32>
    return %0 : tensor<8x2xi32>
  }
}

// Few updates of a large value are gathered: less than the value.
// GATHERED: all_gather
// GATHERED-NOT: all_reduce
// GATHERED: return

//--- gathered.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func @main(%x: tensor<500x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %at: tensor<32x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                  %updates: tensor<32x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<500x2xf32> {
    %0 = "stablehlo.scatter"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<500x2xf32>, tensor<32x1xi32>, tensor<32x2xf32>) -> tensor<500x2xf32>
    return %0 : tensor<500x2xf32>
  }
}

// Rows and columns split along an axis each, the value too; what is not the sum's stays in tiles.
//--- added.mlir
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
  func.func @main(%x: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {"b"}]>}, %at: tensor<13x1xui8> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                  %updates: tensor<13x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<6x4xf32> {
    %0 = "stablehlo.scatter"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<6x4xf32>, tensor<13x1xui8>, tensor<13x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
}
