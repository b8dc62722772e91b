// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sharding rule of every operation that the tests of the portable format list, and of all others but those of
// populate-op-sharding-rules.mlir. None: control flow and what is data flow, tokens, tuples, values without operands, and what is written
// otherwise before propagation (shapes as operands, einsum).
// RUN: xla-opt %s -mlir-print-op-generic -sdy-populate-op-sharding-rules | awk -f %S/Inputs/rules.awk | FileCheck %s --strict-whitespace --match-full-lines
// RUN: xla-opt %S/../vhlo/every-op.mlir -mlir-print-op-generic -sdy-populate-op-sharding-rules 2>/dev/null | awk -f %S/Inputs/rules.awk | FileCheck %s --check-prefix=ALL --strict-whitespace --match-full-lines

//      CHECK:stablehlo.after_all none
// CHECK-NEXT:stablehlo.create_token none
// CHECK-NEXT:stablehlo.case none
// CHECK-NEXT:stablehlo.if none
// CHECK-NEXT:stablehlo.composite none
// CHECK-NEXT:stablehlo.dynamic_broadcast_in_dim none
// CHECK-NEXT:stablehlo.dynamic_iota none
// CHECK-NEXT:stablehlo.dynamic_pad none
// CHECK-NEXT:stablehlo.dynamic_reshape none
// CHECK-NEXT:stablehlo.get_dimension_size none
// CHECK-NEXT:stablehlo.tuple none
// CHECK-NEXT:stablehlo.get_tuple_element none
// CHECK-NEXT:stablehlo.infeed none
// CHECK-NEXT:stablehlo.outfeed none
// CHECK-NEXT:stablehlo.iota none
// CHECK-NEXT:stablehlo.map ([i, j], [i, j])->([i, j]) {i=4, j=6}
// CHECK-NEXT:stablehlo.optimization_barrier none
// CHECK-NEXT:stablehlo.partition_id none
// CHECK-NEXT:stablehlo.replica_id none
// CHECK-NEXT:stablehlo.real_dynamic_slice none
// CHECK-NEXT:stablehlo.recv none
// CHECK-NEXT:stablehlo.send none
// CHECK-NEXT:stablehlo.reduce_window ([i, j], [])->([i, j]) {i=4, j=6} permutation={j}
// CHECK-NEXT:stablehlo.rng none
// CHECK-NEXT:stablehlo.compare ([], [])->([])
// CHECK-NEXT:stablehlo.select_and_scatter ([i, j], [i, j], [])->([i, j]) {i=4, j=6}
// CHECK-NEXT:stablehlo.set_dimension_size none
// CHECK-NEXT:stablehlo.while none

//      ALL:stablehlo.abs ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.cbrt ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.ceil ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.cosine ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.exponential ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.exponential_minus_one ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.floor ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.log ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.log_plus_one ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.logistic ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.negate ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.round_nearest_afz ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.round_nearest_even ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.rsqrt ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.sign ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.sine ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.sqrt ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.tan ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.tanh ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.count_leading_zeros ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.popcnt ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.not ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.is_finite ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.real ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.imag ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.convert ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.bitcast_convert ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.reduce_precision ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.add ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.atan2 ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.divide ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.maximum ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.minimum ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.multiply ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.power ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.remainder ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.subtract ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.and ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.or ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.xor ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.shift_left ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.shift_right_arithmetic ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.shift_right_logical ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.complex ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.compare ([i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.select ([i], [i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.clamp ([i], [i], [i])->([i]) {i=2}
// ALL-NEXT:stablehlo.uniform_quantize ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.uniform_dequantize ([i])->([i]) {i=2}
// ALL-NEXT:stablehlo.dot ([i, k], [k, j])->([i, j]) {i=4, j=4, k=4} reduction={k}
// ALL-NEXT:stablehlo.cholesky ([i, j])->([i, j]) {i=4, j=4} need_replication={i, j}
// ALL-NEXT:stablehlo.triangular_solve ([k, i], [i, j])->([k, j]) {i=4, j=4, k=4} need_replication={i, j, k}
// ALL-NEXT:stablehlo.einsum none
// ALL-NEXT:stablehlo.unary_einsum none
// ALL-NEXT:stablehlo.dynamic_conv none
// ALL-NEXT:stablehlo.broadcast ([j, k])->([i, j, k]) {i=2, j=4, k=4}
// ALL-NEXT:stablehlo.dynamic_gather none
// ALL-NEXT:stablehlo.torch_index_select none
// ALL-NEXT:stablehlo.batch_norm_inference ([i, j], [j], [j], [j], [j])->([i, j]) {i=2, j=3}
// ALL-NEXT:stablehlo.batch_norm_training ([i, j], [j], [j])->([i, j], [j], [j]) {i=2, j=3} need_replication={i}
// ALL-NEXT:stablehlo.batch_norm_grad ([i, j], [j], [j], [j], [i, j])->([i, j], [j], [j]) {i=2, j=3} need_replication={i}
// ALL-NEXT:stablehlo.all_gather ([j, i])->([k, i]) {i=4, j=4, k=8} need_replication={j, k}
// ALL-NEXT:stablehlo.add ([], [])->([])
// ALL-NEXT:stablehlo.all_reduce ([i, j])->([i, j]) {i=4, j=4}
// ALL-NEXT:stablehlo.all_to_all ([i, k])->([j, l]) {i=4, j=2, k=4, l=8} need_replication={i, j, k, l}
// ALL-NEXT:stablehlo.add ([], [])->([])
// ALL-NEXT:stablehlo.reduce_scatter ([i, j])->([i, k]) {i=4, j=4, k=2} need_replication={j, k}
// ALL-NEXT:stablehlo.collective_broadcast ([i, j])->([i, j]) {i=4, j=4}
// ALL-NEXT:stablehlo.collective_permute ([i, j])->([i, j]) {i=4, j=4}
// ALL-NEXT:stablehlo.all_gather ([i])->([j]) {i=4, j=8} need_replication={i, j}
// ALL-NEXT:stablehlo.async_start none
// ALL-NEXT:stablehlo.async_done none
// ALL-NEXT:stablehlo.add ([], [])->([])
// ALL-NEXT:stablehlo.collective_reduce ([i])->([i]) {i=4}

func.func @rest(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<2xi32>, %p: tensor<i1>, %t: !stablehlo.token, %n: tensor<i32>) {
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  %1 = stablehlo.create_token : !stablehlo.token
  %2 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<4x6xf32>
  }, {
    stablehlo.return %x : tensor<4x6xf32>
  }) : (tensor<i32>) -> tensor<4x6xf32>
  %3 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4x6xf32>
  }, {
    stablehlo.return %x : tensor<4x6xf32>
  }) : (tensor<i1>) -> tensor<4x6xf32>
  %4 = stablehlo.composite "my.op" %x {decomposition = @my_op} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = stablehlo.dynamic_broadcast_in_dim %s, %i, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<4x6xf32>
  %6 = stablehlo.dynamic_iota %i, dim = 0 : (tensor<2xi32>) -> tensor<4x6xf32>
  %7 = stablehlo.dynamic_pad %x, %s, %i, %i, %i : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x8xf32>
  %8 = stablehlo.dynamic_reshape %x, %i : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  %9 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x6xf32>) -> tensor<i32>
  %10 = stablehlo.tuple %x : tuple<tensor<4x6xf32>>
  %11 = stablehlo.get_tuple_element %10[0] : (tuple<tensor<4x6xf32>>) -> tensor<4x6xf32>
  %12:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  %13 = "stablehlo.outfeed"(%x, %t) : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  %14 = stablehlo.iota dim = 1 : tensor<4x6xf32>
  %15 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %16 = stablehlo.optimization_barrier %x : tensor<4x6xf32>
  %17 = stablehlo.partition_id : tensor<ui32>
  %18 = stablehlo.replica_id : tensor<ui32>
  %19 = stablehlo.real_dynamic_slice %x, %i, %i, %i : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x6xf32>
  %20:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  %21 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 2>, is_host_transfer = true}> : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  %22 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %23 = stablehlo.rng %s, %s, %i, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<4x6xf32>
  %24 = "stablehlo.select_and_scatter"(%x, %x, %s) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %25 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
  %26 = stablehlo.while(%w = %x) : tensor<4x6xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %w : tensor<4x6xf32>
  }
  return
}
func.func private @my_op(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  return %x : tensor<4x6xf32>
}
