// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No plan is within the limit, because plans do not split what moves elements, but the program as annotated is: neighbours exchange one element each. It
// is taken, and the report says what the plans lack. Without the limit a plan is taken, which splits the contractions.
// RUN: xla-compile %s --auto-sharding --machine=h100 --simulate --cache-dir=off | FileCheck %s --check-prefix=FREE
// RUN: xla-compile %s --auto-sharding --machine=h100 --memory-per-device=29M --simulate --cache-dir=off | FileCheck %s
// RUN: xla-compile %s --auto-sharding --machine=h100 --memory-per-device=29M --simulate --cache-dir=off -o %t.json
// RUN: %python -c "import json, sys; found = json.load(open(sys.argv[1])); assert found['compiled_peak_bytes'] <= 29 << 20, found" %t.json
// RUN: not xla-compile %s --auto-sharding --machine=h100 --memory-per-device=7M --simulate --cache-dir=off 2>&1 | FileCheck %s --check-prefix=NEITHER
// FREE: it is at most {{[0-9.]+}} % above the best of its kind
// FREE: a plan whose sums share messages was taken: {{[0-9.]+}} ms in the simulated step; the program as annotated: {{[0-9.]+}} ms
// CHECK: the plan expected {{[0-9.]+}} ms, {{.*}} bytes received{{$}}
// CHECK: the program as annotated was taken: {{[0-9.]+}} ms in the simulated step; a plan whose sums share messages: automatic sharding finds no plan: {{.*}} bytes
// NEITHER: error: automatic sharding finds no plan: {{.*}} bytes
// NEITHER: note: the program as annotated: takes {{[0-9]+}} bytes on a device, {{[0-9]+}} more than the limit
sdy.mesh @mesh = <["x"=4]>
func.func private @layers(%y: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %3 : tensor<1024x1024xf32>
}
func.func @main(%x: tensor<4194304xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>)
    -> (tensor<4194304xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<1024x1024xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1], high = [-1], interior = [0] : (tensor<4194304xf32>, tensor<f32>) -> tensor<4194304xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<4194304xf32>
  %2 = func.call @layers(%y, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %3 = func.call @layers(%2, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %4 = func.call @layers(%3, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %5 = func.call @layers(%4, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %6 = func.call @layers(%5, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %7 = func.call @layers(%6, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %8 = func.call @layers(%7, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %1, %8 : tensor<4194304xf32>, tensor<1024x1024xf32>
}
