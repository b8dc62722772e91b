// RUN: xla-opt %s -xla-lower-to-linalg=all-functions=true -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @while(
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.yield
// CHECK-NOT: stablehlo
func.func @while(%n: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %one) : tensor<i32>
    cond { %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %c : tensor<i1> }
    do { %j = stablehlo.add %i, %one : tensor<i32>
         stablehlo.return %j : tensor<i32> }
  return %r : tensor<i32>
}

// -----

// A tree of ifs; the last branch serves every index out of range.
// CHECK-LABEL: func.func @case(
// CHECK: %[[LOWER:.*]] = arith.cmpi ult, %[[I:.*]], %c1
// CHECK: scf.if %[[LOWER]]
// CHECK: } else {
// CHECK: %[[NEXT:.*]] = arith.cmpi ult, %[[I]], %c2
// CHECK: scf.if %[[NEXT]]
func.func @case(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %0 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %0 = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Tuples fall apart, at calls too.
// CHECK-LABEL: func.func @tuple(
// CHECK: call @second(%{{.*}}, %{{.*}}) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
func.func @tuple(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.tuple %n, %x : tuple<tensor<i32>, tensor<4xf32>>
  %u = func.call @second(%t) : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32>
  return %u : tensor<4xf32>
}
// CHECK-LABEL: func.func private @second(
// CHECK-SAME: %{{.*}}: tensor<i32>, %[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[X]]
func.func private @second(%t: tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32> {
  %x = stablehlo.get_tuple_element %t[1] : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
