// Loops and branches carry what their regions use from outside.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
// CHECK: region.1 {
// CHECK-NEXT: Arg_0.2 = (s32[], f32[], f32[]) parameter(0)
// CHECK: constant.2 = s32[] constant(9)
// CHECK: ROOT compare.1 = pred[] compare(get-tuple-element.1, constant.2), direction=LT
// CHECK: region.2 {
// CHECK: [[STEP:get-tuple-element.6]] = f32[] get-tuple-element(Arg_0.3), index=2
// CHECK: ROOT tuple.1 = (s32[], f32[], f32[]) tuple(get-tuple-element.4, add.1, [[STEP]])
// CHECK: ENTRY main.1 {
// CHECK: tuple.2 = (s32[], f32[], f32[]) tuple(Arg_0.1, Arg_1.1, Arg_1.1)
// CHECK: while.1 = (s32[], f32[], f32[]) while(tuple.2), condition=region.1, body=region.2
// CHECK: ROOT get-tuple-element.8 = f32[] get-tuple-element(while.1), index=1
func.func @main(%i: tensor<i32>, %step: tensor<f32>) -> tensor<f32> {
  %limit = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%n = %i, %sum = %step) : tensor<i32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %n, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %sum, %step : tensor<f32>
    stablehlo.return %n, %1 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}

// -----
// One value needs no tuple.
// CHECK: ROOT while.1 = s32[] while(Arg_0.1), condition=region.1, body=region.2
func.func @main(%i: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%n = %i) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %n : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----
// CHECK: region.1 {
// CHECK: region.2 {
// CHECK-NEXT: Arg_0.3 = f32[4]{0} parameter(0)
// CHECK: ROOT tuple.3 = (f32[4]{0}, f32[4]{0}) tuple(negate.1, Arg_0.3)
// CHECK: conditional.1 = (f32[4]{0}, f32[4]{0}) conditional(Arg_0.1, tuple.2, Arg_2.1), true_computation=region.1, false_computation=region.2
// CHECK: ROOT conditional.2 = f32[4]{0} conditional(Arg_1.1, {{.*}}, {{.*}}, tuple.{{.*}}), branch_computations={region.3, region.4, region.5}
func.func @main(%p: tensor<i1>, %i: tensor<i32>, %f: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = "stablehlo.if"(%p) ({
    stablehlo.return %f, %g : tensor<4xf32>, tensor<4xf32>
  }, {
    %1 = stablehlo.negate %f : tensor<4xf32>
    stablehlo.return %1, %f : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = "stablehlo.case"(%i) ({
    stablehlo.return %0#0 : tensor<4xf32>
  }, {
    %1 = stablehlo.abs %0#1 : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.constant dense<0.0> : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----
// A function is translated once; a composite is a call that says what it stands for.
// CHECK-COUNT-1: g.1 {
// CHECK: opt-barrier.1 = f32[4]{0} opt-barrier(Arg_0.1)
// CHECK: tuple.1 = (f32[4]{0}, f32[4]{0}) tuple(opt-barrier.1, Arg_0.1)
// CHECK: opt-barrier.2 = (f32[4]{0}, f32[4]{0}) opt-barrier(tuple.1)
// CHECK: call.1 = f32[4]{0} call({{.*}}), to_apply=g.1, metadata
// CHECK: call.2 = f32[4]{0} call(call.1), to_apply=g.1, is_composite=true, frontend_attributes={composite.attributes={a = 1 : i32, b = "c"},composite.name="a.b",composite.version="3"}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.optimization_barrier ()
  %0 = stablehlo.optimization_barrier %x : tensor<4xf32>
  %1:2 = stablehlo.optimization_barrier %0, %x : tensor<4xf32>, tensor<4xf32>
  %2 = call @g(%1#0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.composite "a.b" %2 {composite_attributes = {a = 1 : i32, b = "c"}, decomposition = @g, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----
// CHECK: Arg_0.1 = (f32[], (s32[4]{0}, token[])) parameter(0)
// CHECK: get-tuple-element.1 = (s32[4]{0}, token[]) get-tuple-element(Arg_0.1), index=1
// CHECK: ROOT tuple.1 = ((s32[4]{0}, token[]), (s32[4]{0}, token[])) tuple(get-tuple-element.1, get-tuple-element.1)
func.func @main(%t: tuple<tensor<f32>, tuple<tensor<4xi32>, !stablehlo.token>>) -> tuple<tuple<tensor<4xi32>, !stablehlo.token>, tuple<tensor<4xi32>, !stablehlo.token>> {
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tuple<tensor<4xi32>, !stablehlo.token>>) -> tuple<tensor<4xi32>, !stablehlo.token>
  %1 = stablehlo.tuple %0, %0 : tuple<tuple<tensor<4xi32>, !stablehlo.token>, tuple<tensor<4xi32>, !stablehlo.token>>
  return %1 : tuple<tuple<tensor<4xi32>, !stablehlo.token>, tuple<tensor<4xi32>, !stablehlo.token>>
}
