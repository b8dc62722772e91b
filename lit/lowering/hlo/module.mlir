// What stands at the head of the module, and annotations of values.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
// CHECK: HloModule jit_f, input_output_alias={ {1}: (1, {}, may-alias) }, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[4,2]{0,1}, f32[4,2]{1,0})->(f32[4,2]{1,0}, f32[4,2]{1,0})}, replica_count=2, num_partitions=4, frontend_attributes={fa="x"}
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32, mhlo.frontend_attributes = {fa = "x"},
    mhlo.xla_entry_computation_parameter_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} {
  // CHECK: Arg_0.1 = f32[4,2]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}, frontend_attributes={z="q"}
  func.func public @main(%a: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}", jax.buffer_donor = true, mhlo.frontend_attributes = {z = "q"}, mhlo.layout_mode = "default"},
                         %t: tensor<4x2xf32> {tf.aliasing_output = 1 : i32})
      -> (tensor<4x2xf32> {mhlo.sharding = "{devices=[4,1]0,1,2,3}", jax.result_info = "foo"}, tensor<4x2xf32>) {
    // CHECK: add.1 = f32[4,2]{1,0} add(Arg_0.1, Arg_0.1), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    %0 = stablehlo.add %a, %a {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : tensor<4x2xf32>
    // CHECK: custom-call.1 = f32[4,2]{1,0} custom-call(add.1), custom_call_target="Sharding", sharding={replicated}
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // CHECK: ROOT tuple.1 = (f32[4,2]{1,0}, f32[4,2]{1,0}) tuple(custom-call.1, Arg_1.1), sharding={{[{][{]}}devices=[4,1]0,1,2,3}, {replicated{{[}][}]}}
    return %1, %t : tensor<4x2xf32>, tensor<4x2xf32>
  }
}

// -----
// The root of one sharded result is no parameter, which has a sharding of its own.
// CHECK: tuple.1 = (f32[4]{0}) tuple(Arg_0.1)
// CHECK: ROOT get-tuple-element.1 = f32[4]{0} get-tuple-element(tuple.1), index=0, sharding={replicated}
func.func @"odd name!"(%a: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> (tensor<4xf32> {mhlo.sharding = "{replicated}"}) {
  return %a : tensor<4xf32>
}

// -----
// Locations become metadata: the outermost name, and the line that was written rather than the one that called it.
#f = loc("/a/f.py":12:3 to :20)
#g = loc("/a/g.py":10:2 to 11:7)
func.func @main(%a: tensor<2xf32> loc("args[0]")) -> tensor<2xf32> {
  // CHECK: parameter(0), metadata={op_name="args[0]"}
  // CHECK: sine(Arg_0.1), metadata={op_name="jit(f)/sin" source_file="/a/f.py" source_line=12 source_end_line=12 source_column=3 source_end_column=20}
  %0 = stablehlo.sine %a : tensor<2xf32> loc("jit(f)/sin"(callsite("inner"(#f) at "outer"(#g))))
  // CHECK: cosine(sine.1), metadata={op_name="u;v" source_file="/a/g.py" source_line=10 source_end_line=11 source_column=2 source_end_column=7}
  %1 = stablehlo.cosine %0 : tensor<2xf32> loc(fused["u"(#g), "v"(#f)])
  // CHECK: negate(cosine.1){{$}}
  %2 = stablehlo.negate %1 : tensor<2xf32> loc(unknown)
  return %2 : tensor<2xf32>
}
