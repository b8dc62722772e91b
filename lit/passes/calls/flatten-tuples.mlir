// RUN: xla-opt %s -xla-flatten-tuples -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-flatten-tuples -split-input-file --remarks-filter-missed=xla-flatten-tuples -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// Nested tuples in signatures become their leaves in order.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: (%[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<1xf32>)
// CHECK-NEXT: return %[[C]], %[[A]]
func.func @nested(%t: tuple<tensor<1xf32>, tuple<tensor<2xf32>, tensor<3xf32>>>) -> tuple<tensor<3xf32>, tensor<1xf32>> {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<1xf32>, tuple<tensor<2xf32>, tensor<3xf32>>>) -> tensor<1xf32>
  %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<1xf32>, tuple<tensor<2xf32>, tensor<3xf32>>>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %2 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<3xf32>
  %3 = stablehlo.tuple %2, %0 : tuple<tensor<3xf32>, tensor<1xf32>>
  return %3 : tuple<tensor<3xf32>, tensor<1xf32>>
}

// -----

// No tuple: nothing changes.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: return
func.func @plain(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The second argument is the third one afterwards: its attribute goes, which is said.
// CHECK-LABEL: func.func @marked
// CHECK-SAME: (%{{.*}}: tensor<1xf32>, %{{.*}}: tensor<2xf32>, %[[C:.*]]: tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[C]]
// REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"attributes of arguments and results are removed: tuples in the signature change their positions"
func.func @marked(%t: tuple<tensor<1xf32>, tensor<2xf32>>, %c: tensor<3xf32> {tf.aliasing_output = 0 : i32}) -> tensor<3xf32> {
  return %c : tensor<3xf32>
}
