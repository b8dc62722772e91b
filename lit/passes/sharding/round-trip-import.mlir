// What XLA may have done to the form in between.
// RUN: xla-opt %s -split-input-file -xla-sdy-round-trip-import-pipeline | FileCheck %s

// Quotes escaped once more, as in exports of 2024. The result of a function that was inlined is a constraint, which may grow.
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22a\\\22=2, \\\22b\\\22=2]>}"}} {
  // CHECK: sdy.mesh @mesh = <["a"=2, "b"=2]>
  // CHECK-LABEL: func.func @inlined
  // CHECK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"a", ?}p1]>
  // CHECK: stablehlo.sine %[[C]]
  func.func @inlined(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%x) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\\22a\\\22}p1]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.sine %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
  }

  // 64-bit integers in halves, in a tuple.
  // CHECK-LABEL: func.func @halves
  // CHECK-SAME: -> (tensor<8xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
  // CHECK: stablehlo.custom_call @X64Combine(%arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>}
  func.func @halves(%low: tensor<8xui32>, %high: tensor<8xui32>) -> tensor<8xi64> {
    %0 = stablehlo.tuple %low, %high : tuple<tensor<8xui32>, tensor<8xui32>>
    %1 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22b\22}]>]>"}} : (tuple<tensor<8xui32>, tensor<8xui32>>) -> tuple<tensor<8xui32>, tensor<8xui32>>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<8xui32>, tensor<8xui32>>) -> tensor<8xui32>
    %3 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<8xui32>, tensor<8xui32>>) -> tensor<8xui32>
    %4 = stablehlo.custom_call @X64Combine(%2, %3) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi64>
    return %4 : tensor<8xi64>
  }

  // One function for two manual computations, and an operand without elements that became a constant.
  // CHECK-LABEL: func.func @merged
  // CHECK-COUNT-2: sdy.manual_computation(%arg0, %
  // CHECK-NOT: manual_computation_body
  func.func @merged(%x: tensor<0x8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %none = stablehlo.constant dense<0.0> : tensor<0x4xf32>
    %0:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x, %y) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{}, {\22a\22}]>, <@mesh, [{\22a\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>"}} : (tensor<0x8xf32>, tensor<8xf32>) -> (tensor<0x4xf32>, tensor<4xf32>)
    %1 = call @xla.sdy.manual_computation_body(%none, %0#1) : (tensor<0x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}]>]>"}} : (tensor<4xf32>) -> tensor<8xf32>
    %3:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x, %2) : (tensor<0x8xf32>, tensor<8xf32>) -> (tensor<0x4xf32>, tensor<4xf32>)
    %4 = call @xla.sdy.manual_computation_body(%none, %3#1) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{}, {\22a\22}]>, <@mesh, [{\22a\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}]>]>"}} : (tensor<0x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%4) : (tensor<4xf32>) -> tensor<8xf32>
    return %5 : tensor<8xf32>
  }
  func.func private @xla.sdy.manual_computation_body(%x: tensor<0x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    return %y : tensor<4xf32>
  }

  // A loop may use a value from outside in another sharding.
  // CHECK-LABEL: func.func @loop
  // CHECK: %[[OPEN:.*]] = sdy.sharding_constraint %arg1 <@mesh, [{?}]>
  // CHECK: stablehlo.add %{{.*}}, %[[OPEN]]
  func.func @loop(%x: tensor<8xf32>, %y: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22a\22}]>"}}) -> tensor<8xf32> {
    %0 = stablehlo.while(%c = %x) : tensor<8xf32> cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      %1 = stablehlo.add %c, %y : tensor<8xf32>
      stablehlo.return %1 : tensor<8xf32>
    }
    return %0 : tensor<8xf32>
  }
}

// -----

// Shardings of a program whose arguments and results are tuples stand at the module.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{}]>})
module attributes {mhlo.frontend_attributes = {xla.sdy.tuple_args_shardings = "#sdy.sharding_per_value<[<mesh<[\22a\22=2]>, [{\22a\22}]>]>", xla.sdy.tuple_results_shardings = "#sdy.sharding_per_value<[<mesh<[\22a\22=2]>, [{}]>]>"}} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
