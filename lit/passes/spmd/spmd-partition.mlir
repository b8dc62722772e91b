// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a value is sharded like, it stays while operations allow; manual code runs as written.
// RUN: xla-opt %s -xla-spmd-partition -split-input-file | FileCheck %s

// A manual computation on arguments that come as it wants them adds nothing to its body.
module @manual attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %arg0: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}
  // CHECK-SAME: -> (tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"})
  // CHECK-NEXT: %[[GATHERED:.*]] = "stablehlo.all_gather"(%arg0)
  // CHECK-SAME: channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
  // CHECK-NEXT: return %[[GATHERED]]
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a", "b"} (%y: tensor<4x2xf32>) {
      %1 = "stablehlo.all_gather"(%y) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x2xf32>) -> tensor<4x4xf32>
      sdy.return %1 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

// Along axes that are not manual the body is partitioned like other code; partners in a permute hold the same tile.
module @partly_manual attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %arg0: tensor<4x2xf32>
  // CHECK-NEXT: %[[SIN:.*]] = stablehlo.sine %arg0 : tensor<4x2xf32>
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[SIN]])
  // CHECK-SAME: (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: return
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x4xf32>) {
      %1 = stablehlo.sine %y : tensor<4x4xf32>
      %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<4x4xf32>
      %3 = "stablehlo.collective_permute"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %3 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

// The same computation in GSPMD's form.
module @gspmd attributes {mhlo.num_partitions = 4 : i32} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %arg0: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}
  // CHECK-NEXT: %[[SIN:.*]] = stablehlo.sine %arg0 : tensor<4x2xf32>
  // CHECK-NEXT: return %[[SIN]]
  func.func @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,3}"}) -> tensor<8x4xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.sine %1 : tensor<4x4xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}

// -----

// The same in the form of exports of 2024 and 2025: sdy text inside strings.
module @old_export attributes {mhlo.num_partitions = 4 : i32, mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22a\22=2, \22b\22=2]>}"}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %arg0: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> (tensor<8x2xf32>
  // CHECK-NEXT: %[[SIN:.*]] = stablehlo.sine %arg0 : tensor<4x2xf32>
  // CHECK-NEXT: %[[ALL:.*]] = "stablehlo.all_gather"(%[[SIN]]) <{all_gather_dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
  // CHECK-NEXT: return %[[ALL]]
  func.func @main(%x: tensor<8x4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22a\22}, {\22b\22}]>"}}) -> tensor<8x4xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {\22b\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>"}} : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {\22b\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>"}} : (tensor<4x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}, {\22b\22}]>]>"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  func.func private @xla.sdy.manual_computation_body(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.sine %x : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// Free dimensions of a product stay split, a contracted one ends in an all_reduce; a replicated operand is sliced.
module @product attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: %[[W:.*]] = stablehlo.dynamic_slice %arg1, {{.*}} sizes = [2, 6]
  // CHECK: %[[DOT:.*]] = stablehlo.dot_general %arg0, %[[W]], {{.*}} : (tensor<4x2xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.all_reduce"(%[[DOT]]) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}

// -----

// Both operands want the same devices for different dimensions: the larger one is granted its wish, the other gathered.
module @conflict attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: %[[W:.*]] = "stablehlo.all_gather"(%arg1) {{.*}} : (tensor<4x3xf32>) -> tensor<4x6xf32>
  // CHECK: stablehlo.dot_general %arg0, %[[W]], {{.*}} -> tensor<4x6xf32>
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<8x6xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}

// -----

// A cut that moves from one dimension to another is an exchange; the same tiles on other devices are a permutation.
module @moves attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK-NOT: "stablehlo.all_gather"
  // CHECK: %[[MOVED:.*]] = "stablehlo.all_to_all"(%arg0) <{{.*}}concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 2], [1, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x4xf32>) -> tensor<8x2xf32>
  // CHECK: %[[SWAPPED:.*]] = "stablehlo.collective_permute"(%arg0) <{{.*}}source_target_pairs = dense<{{\[\[}}0, 0], [2, 1], [1, 2], [3, 3]]>
  // CHECK: return %[[MOVED]], %[[SWAPPED]]
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) {
    return %x, %x : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// A sum of which every device keeps a part is scattered; with another user it is not.
module @scattered attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: %[[DOT:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[PART:.*]] = "stablehlo.reduce_scatter"(%[[DOT]]) <{{.*}}scatter_dimension = 0 : i64
  // CHECK: return %[[PART]]
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %w: tensor<4x6xf32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  // CHECK-LABEL: func.func @both
  // CHECK: %[[SUM:.*]] = "stablehlo.all_reduce"
  // CHECK: %[[PART:.*]] = stablehlo.dynamic_slice %[[SUM]]
  // CHECK: return %[[PART]], %[[SUM]]
  func.func @both(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %w: tensor<4x6xf32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<8x6xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0, %0 : tensor<8x6xf32>, tensor<8x6xf32>
  }
}

// -----

// Two users want the same whole value: it is gathered once.
module @once attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: "stablehlo.all_gather"
  // CHECK-NOT: "stablehlo.all_gather"
  // CHECK: return
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %at: tensor<i32>) -> (tensor<5xf32>, tensor<3xf32>) {
    %0 = stablehlo.dynamic_slice %x, %at, sizes = [5] : (tensor<8xf32>, tensor<i32>) -> tensor<5xf32>
    %1 = stablehlo.dynamic_slice %x, %at, sizes = [3] : (tensor<8xf32>, tensor<i32>) -> tensor<3xf32>
    return %0, %1 : tensor<5xf32>, tensor<3xf32>
  }
}

// -----

// The initial value of a reduction joins once, not once per device.
module @reduction attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[MAX:.*]] = stablehlo.reduce(%arg0 init: %[[ZERO]])
  // CHECK: %[[ALL:.*]] = "stablehlo.all_reduce"(%[[MAX]])
  // CHECK: %[[INIT:.*]] = stablehlo.broadcast_in_dim %arg1
  // CHECK: stablehlo.maximum %[[ALL]], %[[INIT]] : tensor<4xf32>
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %init: tensor<f32>) -> tensor<4xf32> {
    %0 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Zeros that a loop replaces by something in tiles are made in tiles; the condition sees a whole scalar.
module @loop attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK: %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %[[ZEROS]]) : tensor<i32>, tensor<4xf32>
  // CHECK-NOT: "stablehlo.all_gather"
  // CHECK: stablehlo.add {{.*}} : tensor<4xf32>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
    %zeros = stablehlo.constant dense<0.0> : tensor<8xf32>
    %i = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<4> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%j = %i, %sum = %zeros) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %j, %one : tensor<i32>
      %more = stablehlo.add %sum, %x : tensor<8xf32>
      stablehlo.return %next, %more : tensor<i32>, tensor<8xf32>
    }
    return %0#1 : tensor<8xf32>
  }
}

// -----

// A donated argument's memory serves a result only if devices hold parts of the same shape.
module @donated attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %arg0: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}", tf.aliasing_output = 0 : i32}
  // CHECK-SAME: %arg1: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, tf.aliasing_output = 0 : i32}, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, tf.aliasing_output = 1 : i32}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.sine %x : tensor<8xf32>
    return %0, %y : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A callback of one device runs there only; what it gives goes to all.
module @callback attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  sdy.mesh @single = <[], device_ids=[1]>
  // CHECK-LABEL: func.func @main
  // CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%arg0)
  // CHECK: %[[MINE:.*]] = stablehlo.partition_id
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<ui32>
  // CHECK: %[[HERE:.*]] = stablehlo.compare EQ, %[[MINE]], %[[ONE]]
  // CHECK: %[[RESULT:.*]] = "stablehlo.if"(%[[HERE]]) ({
  // CHECK: stablehlo.custom_call @f(%[[ALL]]) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: dense<0.000000e+00> : tensor<8xf32>
  // CHECK: "stablehlo.collective_broadcast"(%[[RESULT]]) {{.*}}replica_groups = dense<{{\[\[}}1, 0]]>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @f(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// There is nothing to share out in a dimension of one element.
module @pointless_wish attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %arg0: tensor<1xf32>
  // CHECK-NEXT: return %arg0
  func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}

// -----

// Without a word about shardings every device runs the program as it is.
module @untouched attributes {mhlo.num_partitions = 2 : i32} {
  // CHECK-LABEL: func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: "stablehlo.all_reduce"(%arg0)
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
