// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations without a portable form stay between casts; without the option they are an error.
// RUN: xla-opt %s -stablehlo-legalize-to-vhlo=allow-other-dialects > %t.vhlo
// RUN: xla-opt %t.vhlo -mlir-print-local-scope | FileCheck %s
// RUN: xla-opt %s > %t.0
// RUN: xla-opt %t.vhlo -stablehlo-deserialize | diff %t.0 -
// RUN: not xla-opt %s -stablehlo-legalize-to-vhlo 2>&1 | FileCheck %s -check-prefix=ERROR

// CHECK-LABEL: vhlo.func_v1 @other
func.func @other(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> attributes {a.map = affine_map<(d0) -> (d0)>, a.list = [affine_map<(d0) -> (d0)>, "s"]} {
  // CHECK-NEXT: %[[Y:.*]] = builtin.unrealized_conversion_cast %arg1 : !vhlo.tensor_v1<2x!vhlo.f32_v1> to tensor<2xf32>
  // CHECK-NEXT: %[[ABS:.*]] = "vhlo.abs_v1"(%arg0)
  // CHECK-NEXT: %[[CAST:.*]] = builtin.unrealized_conversion_cast %[[ABS]] :
  // CHECK-NEXT: %[[ADD:.*]] = arith.addf %[[CAST]], %[[Y]] : tensor<2xf32>
  // CHECK-NEXT: %[[BACK:.*]] = builtin.unrealized_conversion_cast %[[ADD]] : tensor<2xf32> to !vhlo.tensor_v1<2x!vhlo.f32_v1>
  // CHECK-NEXT: "vhlo.multiply_v1"(%[[BACK]], %[[BACK]])
  // ERROR: error: 'arith.addf' op has no portable form; the option allow-other-dialects keeps it as it is
  %0 = stablehlo.abs %x : tensor<2xf32>
  %1 = arith.addf %0, %y : tensor<2xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
  // CHECK: } {a.list = #vhlo.array_v1<[affine_map<(d0) -> (d0)>, #vhlo.string_v1<"s">]>, a.map = affine_map<(d0) -> (d0)>
}

// Its regions are its own, and what is in them is portable again.
// CHECK-LABEL: vhlo.func_v1 @region
func.func @region(%x: tensor<f32>, %n: index) -> tensor<f32> {
  // CHECK: scf.for {{.*}} iter_args(%[[ARG:.*]] = %{{.*}}) -> (tensor<f32>) {
  // CHECK: %[[IN:.*]] = builtin.unrealized_conversion_cast %[[ARG]] : tensor<f32> to !vhlo.tensor_v1<!vhlo.f32_v1>
  // CHECK: %[[SUM:.*]] = "vhlo.add_v1"(%[[IN]], %[[IN]])
  // CHECK: %[[OUT:.*]] = builtin.unrealized_conversion_cast %[[SUM]]
  // CHECK: scf.yield %[[OUT]] : tensor<f32>
  %0 = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<f32> {
    %1 = stablehlo.add %a, %a : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
