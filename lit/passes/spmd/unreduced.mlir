// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that annotations leave unreduced: sums are made where somebody asks for them, and become reduce_scatters where parts are kept.
// RUN: xla-opt %s -split-input-file -xla-spmd-partition | FileCheck %s

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: dot_general
  // CHECK-NEXT: stablehlo.transpose
  // CHECK-NEXT: stablehlo.add
  // CHECK-NEXT: "stablehlo.reduce_scatter"
  // CHECK-SAME: replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
  // CHECK-NOT: all_reduce
  func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                  %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}], unreduced={"y"}>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.add %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}], unreduced={"y"}>]>} : tensor<8x8xf32>
    %3 = sdy.reshard %2 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // An argument that comes in summands, and a result that leaves in them: no operation but the one in between, which is not linear.
  // CHECK-LABEL: func.func @signature
  // CHECK-SAME: %[[A:.*]]: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"}
  // CHECK-SAME: -> (tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"}
  // CHECK-SAME: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"})
  // CHECK: "stablehlo.all_reduce"(%[[A]])
  // CHECK: stablehlo.exponential
  // CHECK: return %[[A]], %
  func.func @signature(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>})
      -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>},
          tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.exponential %a : tensor<8x4xf32>
    return %a, %0 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // Of a value that all have, the first keeps it for the sum; of a maximum, everybody does.
  // CHECK-LABEL: func.func @taken_apart
  // CHECK: stablehlo.compare EQ
  // CHECK: %[[ONE:.*]] = stablehlo.select
  // CHECK-NOT: stablehlo.select
  // CHECK: return %[[ONE]], %arg0
  func.func @taken_apart(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>},
          tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=max{"y"}>}) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
    %1 = sdy.sharding_constraint %a <@mesh, [{"x"}], unreduced=max{"y"}> : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // Inside of a manual computation a summand is the device's own value.
  // CHECK-LABEL: func.func @manual
  // CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
  // CHECK: "stablehlo.all_reduce"(%[[SUM]])
  func.func @manual(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}], unreduced={"y"}>] out_shardings=[<@mesh, [{"x"}], unreduced={"y"}>]
        manual_axes={"x", "y"} (%b: tensor<4xf32>) {
      %1 = stablehlo.add %b, %b : tensor<4xf32>
      sdy.return %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // Tiles are summands already, between zeros: nothing is gathered. Those of another axis are.
  // CHECK-LABEL: func.func @tiles
  // CHECK-NOT: all_gather
  // CHECK: %[[ZEROS:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<8x6xf32>
  // CHECK: stablehlo.dynamic_update_slice %[[ZEROS]], %arg0, {{.*}}: (tensor<8x6xf32>, tensor<4x6xf32>
  // CHECK: "stablehlo.all_gather"(%arg0)
  func.func @tiles(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>},
          tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
    %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x6xf32>
    %1 = sdy.reshard %a <@mesh, [{}, {}], unreduced={"y"}> : tensor<8x6xf32>
    return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
  }
}

// -----

// Sums that are to be left as candidates for a maximum are added up first: no device's summand is a candidate.
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @sums_as_candidates
  // CHECK: dot_general
  // CHECK: "stablehlo.all_reduce"
  // CHECK: stablehlo.add
  // CHECK-NOT: stablehlo.maximum
  // CHECK: return
  func.func @sums_as_candidates(%x: tensor<2x32xf32>, %w: tensor<32x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<2x2xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=max{"a"}>]>} : (tensor<2x32xf32>, tensor<32x2xf32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}
