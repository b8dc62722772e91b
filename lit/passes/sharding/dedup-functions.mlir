// Two calls of one function that are sharded differently: two functions, or one and a reshard. What happens between passes is written down.
// RUN: xla-opt %s -sdy-propagation-pipeline | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: xla-opt %s -sdy-propagation-pipeline=dedup-functions-fully=true | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: xla-opt %s -sdy-propagation-pipeline=enable-native-non-flat-support=true | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: xla-opt %s -sdy-propagation-pipeline=enable-late-inlining=false | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: rm -rf %t && xla-opt %s -sdy-propagation-pipeline='module-dump-directory=%t/dump enable-insert-explicit-collectives=true' -o %t.mlir
// RUN: FileCheck %s --check-prefix=BEFORE < %t/dump/sdy_module_0_before_propagation.mlir
// RUN: FileCheck %s --check-prefix=AFTER < %t/dump/sdy_module_1_after_propagation.mlir
// RUN: ls %t/dump | FileCheck %s --check-prefix=FILES

// FILES: sdy_module_2_after_explicit_reshards.mlir
// FILES: sdy_module_3_after_reshard_to_collectives.mlir
// BEFORE: sdy.named_computation<"twice">(%arg0) (%arg2
// AFTER: sdy.named_computation<"twice">(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>]

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
// TWO: call @twice(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
// TWO: call @twice_0(%arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>}
// ONE: %[[A:.*]] = call @twice(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
// ONE: %[[IN:.*]] = sdy.reshard %arg1 <@mesh, [{"a"}, {}]>
// ONE: %[[CALL:.*]] = call @twice(%[[IN]]) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
// ONE: %[[B:.*]] = sdy.reshard %[[CALL]] <@mesh, [{}, {"b"}]>
// ONE: return %[[A]], %[[B]]
// ONE-NOT: @twice_0
// NONE-COUNT-2: stablehlo.add
// NONE-NOT: call
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = call @twice(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @twice(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

func.func private @twice(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Computations that only have the name in common stay apart.
// CHECK-LABEL: func.func @others
// ONE: call @same
// ONE: call @same_0
func.func @others(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"same">(%x) (%y: tensor<8xf32>) {
    %2 = stablehlo.sine %y : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.named_computation<"same">(%0) (%y: tensor<8xf32>) {
    %2 = stablehlo.cosine %y : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
