// RUN: xla-compile %s --emit=simplified | FileCheck %s
// RUN: not xla-compile %S/Inputs/manual-of-two.mlir --emit=simplified 2>&1 | FileCheck %s --check-prefix=TWO

sdy.mesh @empty_mesh = <[]>
sdy.mesh @one = <["x"=1]>

// In a program of one partition values are where they are: constraints, meshes and attributes go, bodies are inlined.
// CHECK-NOT: sdy
// CHECK-LABEL: @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhlo.memory_kind = "device"})
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[X]], %[[X]]
// CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[SUM]], %[[X]]
// CHECK-NEXT: return %[[PRODUCT]]
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@one, [{"x"}]>, mhlo.memory_kind = "device"}) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %x <@empty_mesh, [{}]> : tensor<4xf32>
  %1 = sdy.manual_computation(%0, %x) in_shardings=[<@one, [{"x"}]>, <@one, [{"x"}]>] out_shardings=[<@one, [{"x"}]>] manual_axes={"x"} (%a: tensor<4xf32>, %b: tensor<4xf32>) {
    %2 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@one, [{}]>]>} : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sdy.reshard %1 <@one, [{}]> : tensor<4xf32>
  %4 = stablehlo.multiply %3, %x : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// A body for two devices cannot run on one.
// TWO: expects local shapes to be global ones in a program of one partition
