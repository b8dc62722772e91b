// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Shardy and XLA called passes before, or call them elsewhere: each does the same as under its name here.
// RUN: xla-opt %s -sdy-constant-or-scalar-merger -o %t.1 && xla-opt %s -sdy-constant-merger | diff %t.1 - && not diff %s %t.1 > /dev/null
// RUN: xla-opt %s -sdy-remove-sharding-groups -o %t.2 && xla-opt %s -sdy-sharding-group-cleanup | diff %t.2 -
// RUN: xla-opt %s -sdy-sharding-group-import -o %t.3 && xla-opt %s -sdy-group-canonicalization | diff %t.3 -
// RUN: xla-opt %s -sdy-propagate-sharding-from-func-to-call -o %t.4 && xla-opt %s -sdy-equilise-call-and-func-result-shardings | diff %t.4 -
// RUN: xla-opt %s -sdy-flatten-call-graph -o %t.5 && xla-opt %s -xla-sdy-flatten-call-graph | diff %t.5 - && xla-opt %s -xla-sdy-test-flatten-call-graph | diff %t.5 -
// RUN: xla-opt %t.5 -sdy-unflatten-call-graph=dedup-functions-fully=true -o %t.6 && xla-opt %t.5 -xla-sdy-unflatten-call-graph=dedup-functions-fully=true | diff %t.6 -
// RUN: xla-opt %s -sdy-import-func-calls=add-data-flow-edges-on-named-computations=false -o %t.7 && xla-opt %s -xla-sdy-import-func-calls | diff %t.7 -
// RUN: xla-opt %t.7 -sdy-export-named-computations=dedup-functions-fully=true -o %t.8 && xla-opt %t.7 -xla-sdy-export-named-computations=dedup-functions-fully=true | diff %t.8 -
// RUN: xla-opt %s -xla-sdy-import-uninlineable-func-calls | FileCheck %s
// RUN: cat %t.2 %t.3 %t.4 %t.5 %t.6 %t.7 %t.8 | FileCheck %s --check-prefix=EACH

// CHECK-COUNT-1: sdy.named_computation
// CHECK-NOT: sdy.named_computation
// Every one of them did something.
// EACH-NOT: sdy.sharding_group
// EACH: return
// EACH: sdy.sharding_group %arg0 group_id=0
// EACH: call @f(%arg0) {sdy.sharding
// EACH: @f_0
// EACH: sdy.named_computation<"f">
sdy.mesh @mesh = <["a"=2]>
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  %c = sdy.constant dense<1.0> : tensor<8xf32>
  %d = sdy.constant dense<1.0> : tensor<8xf32>
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.add %c, %d : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
