// RUN: xla-opt %s -xla-lower-to-linalg=all-functions=true -split-input-file | FileCheck %s

// Unsigned integers are signless in storage; a run-time size is that of an operand.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: %[[A:.*]]: tensor<4x?xi8>, %{{.*}}: tensor<4x?xi8>) -> tensor<4x?xi8>
// CHECK: %[[N:.*]] = tensor.dim %[[A]]
// CHECK: tensor.empty(%[[N]]) : tensor<4x?xi8>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.maxui
func.func @unsigned(%a: tensor<4x?xui8>, %b: tensor<4x?xui8>) -> tensor<4x?xui8> {
  %0 = stablehlo.maximum %a, %b : tensor<4x?xui8>
  return %0 : tensor<4x?xui8>
}

// -----

// Four bits lie in a byte, sign-extended, and are computed with in four bits.
// CHECK-LABEL: func.func @nibbles(
// CHECK-SAME: tensor<4xi8>
// CHECK: arith.trunci %{{.*}} : i8 to i4
// CHECK: arith.addi %{{.*}} : i4
// CHECK: arith.extsi %{{.*}} : i4 to i8
func.func @nibbles(%a: tensor<4xi4>) -> tensor<4xi4> {
  %0 = stablehlo.add %a, %a : tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

// An f8 is a bit pattern in a byte and computed with in f32.
// CHECK-LABEL: func.func @f8(
// CHECK-SAME: tensor<4xi8>
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.trunci %{{.*}} : i32 to i8
func.func @f8(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.multiply %a, %a : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

// A scalar predicate is read by the map () for every element.
// CHECK-DAG: #[[SCALAR:.*]] = affine_map<(d0) -> ()>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @scalar_predicate(
// CHECK: indexing_maps = [#[[SCALAR]], #[[ALL]], #[[ALL]], #[[ALL]]]
func.func @scalar_predicate(%p: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Total order compares integers: negative floats have their magnitude bits flipped.
// CHECK-LABEL: func.func @total_order(
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.cmpi slt
// CHECK-NOT: arith.cmpf
func.func @total_order(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// In weak order a NaN is after every number.
// CHECK-LABEL: func.func @weak_order(
// CHECK: arith.cmpf olt, %[[A:.*]], %[[B:.*]] : f32
// CHECK: arith.cmpf ord, %[[A]], %[[A]]
// CHECK: arith.cmpf uno, %[[B]], %[[B]]
// CHECK: arith.ori
func.func @weak_order(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b, WEAKORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// No dialect has a complex logistic function: the runtime does.
// CHECK: func.func private @millrace_rt_clogisticf(f64, f64) -> (f64, f64)
// CHECK-LABEL: func.func @complex_logistic(
// CHECK: call @millrace_rt_clogisticf
func.func @complex_logistic(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.logistic %a : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// MLIR would fold complex.log of complex.exp, whose imaginary part need not be that of the operand.
// CHECK-LABEL: func.func @complex_log_of_exponential(
// CHECK: complex.exp
// CHECK-NOT: complex.log
// CHECK: math.log %{{.*}} : f64
// CHECK-NOT: complex.log
// CHECK: math.atan2 %{{.*}}, %{{.*}} : f32
func.func @complex_log_of_exponential(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.exponential %a : tensor<4xcomplex<f32>>
  %1 = stablehlo.log %0 : tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}

// -----

// Two halves of a word: the dimension of two disappears into two reads by constant index.
// CHECK-DAG: #[[LOW:.*]] = affine_map<(d0) -> (d0, 0)>
// CHECK-DAG: #[[HIGH:.*]] = affine_map<(d0) -> (d0, 1)>
// CHECK-LABEL: func.func @bitcast_wider(
// CHECK: indexing_maps = [#[[LOW]], #[[HIGH]], #{{.*}}]
func.func @bitcast_wider(%a: tensor<4x2xi16>) -> tensor<4xf32> {
  %0 = stablehlo.bitcast_convert %a : (tensor<4x2xi16>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
