// Steps run in the order in which the fewest bytes are alive at a time.
// RUN: xla-opt %s -xla-order-steps -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-order-steps -split-input-file --remarks-filter-passed=xla-order-steps -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A training step as autodiff writes it: weights come last, and keep all activations and gradients alive. Now each weight is replaced as soon as
// nobody reads it any more.
// CHECK-LABEL: @training
// CHECK: %[[G4:.*]] = call @loss
// CHECK-NEXT: %[[G3:.*]] = call @forward(%[[G4]],
// CHECK-NEXT: call @update({{.*}}, %[[G4]])
// CHECK-NEXT: %[[G2:.*]] = call @forward(%[[G3]],
// CHECK-NEXT: call @update({{.*}}, %[[G3]])
// CHECK-NEXT: call @forward(%[[G2]],
// CHECK-NEXT: call @update({{.*}}, %[[G2]])
// REMARK: temporaries take 16384 bytes at a time, as written 20480, in no order fewer than 16384
func.func @training(%x: tensor<1024xf32>, %p1: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %p2: tensor<64xf32> {tf.aliasing_output = 1 : i32},
                    %p3: tensor<64xf32> {tf.aliasing_output = 2 : i32}) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<1024xf32>) {
  %a1 = call @forward(%x, %p1) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  %a2 = call @forward(%a1, %p2) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  %a3 = call @forward(%a2, %p3) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  %g4 = call @loss(%a3) : (tensor<1024xf32>) -> tensor<1024xf32>
  %g3 = call @forward(%g4, %p3) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  %g2 = call @forward(%g3, %p2) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  %g1 = call @forward(%g2, %p1) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  %n1 = call @update(%p1, %x, %g2) : (tensor<64xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<64xf32>
  %n2 = call @update(%p2, %a1, %g3) : (tensor<64xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<64xf32>
  %n3 = call @update(%p3, %a2, %g4) : (tensor<64xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<64xf32>
  return %n1, %n2, %n3, %g1 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<1024xf32>
}
func.func private @forward(%a: tensor<1024xf32>, %p: tensor<64xf32>) -> tensor<1024xf32> attributes {millrace.kernel} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
func.func private @loss(%a: tensor<1024xf32>) -> tensor<1024xf32> attributes {millrace.kernel} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
func.func private @update(%p: tensor<64xf32>, %a: tensor<1024xf32>, %g: tensor<1024xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.tanh %p : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----
// Others see when collectives run: they stay in their order although the second could free its operand before the first one takes memory.
// What the second one needs is still made before anybody waits for the first.
// CHECK-LABEL: @collectives
// CHECK: call @make
// CHECK: "stablehlo.all_reduce"({{.*}}) {{.*}}dense<{{\[\[}}0, 1]]>
// CHECK: call @make
// CHECK: call @part
// CHECK: "stablehlo.all_reduce"({{.*}}) {{.*}}dense<{{\[\[}}1, 0]]>
// CHECK: call @part
func.func @collectives(%x: tensor<1024xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %a = call @make(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = call @make(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1024xf32>) -> tensor<1024xf32>
  %1 = "stablehlo.all_reduce"(%b) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1024xf32>) -> tensor<1024xf32>
  %c = call @part(%0) : (tensor<1024xf32>) -> tensor<1xf32>
  %d = call @part(%1) : (tensor<1024xf32>) -> tensor<1xf32>
  return %c, %d : tensor<1xf32>, tensor<1xf32>
}
func.func private @make(%a: tensor<1024xf32>) -> tensor<1024xf32> attributes {millrace.kernel} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
func.func private @part(%a: tensor<1024xf32>) -> tensor<1xf32> attributes {millrace.kernel} {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// -----
// What reads a value still does so before a kernel overwrites it, though its result needs memory then.
// CHECK-LABEL: @in_place
// CHECK: %[[OLD:.*]] = call @large(%[[A:.*]]) :
// CHECK: call @overwrite(%[[A]]
func.func @in_place(%x: tensor<64xf32>, %i: tensor<i32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = call @same(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %old = call @large(%a) : (tensor<64xf32>) -> tensor<4096xf32>
  %new = call @overwrite(%a, %i) : (tensor<64xf32>, tensor<i32>) -> tensor<64xf32>
  %more = call @large(%new) : (tensor<64xf32>) -> tensor<4096xf32>
  %r = call @small(%more) : (tensor<4096xf32>) -> tensor<64xf32>
  %s = call @small(%old) : (tensor<4096xf32>) -> tensor<64xf32>
  return %r, %s : tensor<64xf32>, tensor<64xf32>
}
func.func private @same(%a: tensor<64xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @large(%a: tensor<64xf32>) -> tensor<4096xf32> attributes {millrace.kernel} {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<64x64xf32>) -> tensor<4096xf32>
  return %1 : tensor<4096xf32>
}
func.func private @small(%a: tensor<4096xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.slice %a [0:4096:64] : (tensor<4096xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @overwrite(%a: tensor<64xf32>, %i: tensor<i32>) -> tensor<64xf32> attributes {millrace.kernel, millrace.in_place = [array<i64: 0, 0>]} {
  %u = stablehlo.constant dense<1.0> : tensor<1xf32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----
// Nothing is gained: the order stays.
// CHECK-LABEL: @chain
// CHECK: call @first
// CHECK-NEXT: call @second
// CHECK-NEXT: call @first
// CHECK-NEXT: return
// REMARK-NOT: func.func @chain
func.func @chain(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = call @first(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = call @second(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %c = call @first(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %b, %c : tensor<64xf32>, tensor<64xf32>
}
func.func private @first(%a: tensor<64xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @second(%a: tensor<64xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.tanh %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----
// Bodies of loops are ordered, too.
// CHECK-LABEL: @loop
// CHECK: } do {
// CHECK: %[[A:.*]] = func.call @wide
// CHECK-NEXT: func.call @narrow(%[[A]])
// CHECK-NEXT: %[[B:.*]] = func.call @wide
// CHECK-NEXT: func.call @narrow(%[[B]])
func.func @loop(%x: tensor<64xf32>, %n: tensor<i32>) -> tensor<64xf32> {
  %r:2 = stablehlo.while(%s = %x, %i = %n) : tensor<64xf32>, tensor<i32>
  cond {
    %go = func.call @more(%i) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %a = func.call @wide(%s) : (tensor<64xf32>) -> tensor<4096xf32>
    %b = func.call @wide(%s) : (tensor<64xf32>) -> tensor<4096xf32>
    %c = func.call @narrow(%a) : (tensor<4096xf32>) -> tensor<64xf32>
    %d = func.call @narrow(%b) : (tensor<4096xf32>) -> tensor<64xf32>
    %e = func.call @both(%c, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %next = func.call @less(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %e, %next : tensor<64xf32>, tensor<i32>
  }
  return %r#0 : tensor<64xf32>
}
func.func private @more(%i: tensor<i32>) -> tensor<i1> attributes {millrace.kernel} {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @less(%i: tensor<i32>) -> tensor<i32> attributes {millrace.kernel} {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.subtract %i, %one : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @wide(%a: tensor<64xf32>) -> tensor<4096xf32> attributes {millrace.kernel} {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<64x64xf32>) -> tensor<4096xf32>
  return %1 : tensor<4096xf32>
}
func.func private @narrow(%a: tensor<4096xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.slice %a [0:4096:64] : (tensor<4096xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @both(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> attributes {millrace.kernel} {
  %0 = stablehlo.add %a, %b : tensor<64xf32>
  return %0 : tensor<64xf32>
}
