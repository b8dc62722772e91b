// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s --emit-bytecode -o - | xla-opt | FileCheck %s
sdy.mesh @mesh = <["a"=2, "b"=4]>

// CHECK-LABEL: @steps
func.func @steps(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.add %arg0, %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a" = operand-0 -> [operand-1, result-0]}]}, {step-12 = [{"b":(1)2 = result-0 -> [operand-0]}, {"b":(2)2 = operand-1 -> [result-0]}]}]>}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a" = operand-0 -> [operand-1, result-0]}]}, {step-12 = [{"b":(1)2 = result-0 -> [operand-0]}, {"b":(2)2 = operand-1 -> [result-0]}]}]>} : tensor<8x8xf32>
  // Nothing came through an operation; lists for results and arguments of regions.
  // CHECK: stablehlo.negate {{.*}} {sdy.block_arg_propagation_edges = [], sdy.propagation_edges = #sdy.propagation_edges<[]>, sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-0 = []}]>]}
  %1 = stablehlo.negate %0 {sdy.block_arg_propagation_edges = [], sdy.propagation_edges = #sdy.propagation_edges<[]>, sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-0 = []}]>]} : tensor<8x8xf32>
  // An edge at a function stands for its calls, whose operands it does not have.
  // CHECK: sdy.func_data_flow_edge {{.*}}operand-3 -> [result-0]
  %2 = call @callee(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.func_data_flow_edge %2 {sdy.propagation_edges = #sdy.propagation_edges<[{step-4 = [{"a" = operand-3 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
func.func private @callee(tensor<8x8xf32>) -> tensor<8x8xf32>
