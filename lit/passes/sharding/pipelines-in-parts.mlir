// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import, propagation and export one after the other are the pipeline of all three.
// RUN: xla-opt %s -sdy-import-pipeline | FileCheck %s --check-prefix=IMPORT
// RUN: xla-opt %s -sdy-import-pipeline -sdy-user-priority-propagate -sdy-export-pipeline -o %t.parts
// RUN: xla-opt %s -sdy-propagation-pipeline -o %t.whole
// RUN: diff %t.parts %t.whole
// RUN: FileCheck %s --check-prefix=EXPORT < %t.whole

// One mesh by name for the inlined ones, constants that can be split one by one, edges at the loop.
// IMPORT: sdy.mesh @mesh = <["a"=2, "b"=2]>
// IMPORT: sdy.sharding_constraint %{{.*}} <@mesh, [{"a"}, {?}]>
// IMPORT: sdy.constant
// IMPORT: sdy.data_flow_edge
// Nothing of that is left, and every dimension is closed.
// EXPORT-NOT: sdy.data_flow_edge
// EXPORT: stablehlo.while{{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"a"}, {"b"}]>]>
// EXPORT-NOT: ?}
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{}, {"b"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <mesh<["a"=2, "b"=2]>, [{"a"}, {?}]> : tensor<8x8xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %2:2 = stablehlo.while(%at = %i, %y = %1) : tensor<i32>, tensor<8x8xf32>
    cond {
      %3 = stablehlo.compare LT, %at, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %4 = stablehlo.add %at, %one : tensor<i32>
      %5 = stablehlo.sine %y : tensor<8x8xf32>
      stablehlo.return %4, %5 : tensor<i32>, tensor<8x8xf32>
    }
  return %2#1 : tensor<8x8xf32>
}
