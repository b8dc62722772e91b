// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constraint of shapes becomes an assertion, after which it holds.
// RUN: xla-opt %s -shape-legalize-to-stablehlo=legalize-constraints=true | FileCheck %s

// CHECK-LABEL: @constraint
// CHECK: stablehlo.concatenate
// CHECK-COUNT-3: stablehlo.compare EQ
// CHECK: stablehlo.custom_call @shape_assertion(%{{.*}}) {error_message = "Shape assertion failed", has_side_effect = true} : (tensor<i1>) -> ()
// CHECK: %[[W:.*]] = shape.const_witness true
// CHECK-NEXT: return %[[W]]
func.func @constraint(%x: tensor<2xindex>, %y: tensor<1xindex>) -> !shape.witness {
  %w = shape.cstr_broadcastable %x, %y : tensor<2xindex>, tensor<1xindex>
  return %w : !shape.witness
}
