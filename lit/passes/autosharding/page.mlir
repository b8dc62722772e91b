// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plan costs, what other shardings would, and the page about both.
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --explain-sharding --cache-dir=off | FileCheck %s
// RUN: xla-compile %s --auto-sharding --mesh=auto:4 --machine=h100 --explain-sharding --cache-dir=off | FileCheck %s --check-prefix=RANKED
// RUN: xla-compile %s --auto-sharding --mesh=auto:4 --machine=h100 --sharding-page=%t.html --cache-dir=off
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// RUN: xla-compile %s --mesh=a=2 --machine=h100 --sharding-page=%t.plain.html
// RUN: FileCheck %s --check-prefix=PLAIN < %t.plain.html
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --simulate --cache-dir=off | FileCheck %s --check-prefix=PARTS
// CHECK: The plan: {{[0-9.]+}} ms expected, {{[0-9.]+}} ms of them computing, {{[0-9.]+}} ms communicating ({{[0-9]+}} bytes received); it is at most {{[0-9.]+}} %
// CHECK: Tensors, with the time
// CHECK: argument 0 of @main{{.*}} : tensor<4096x1024xf32> [{{.*}}], {{[0-9]+}} bytes on a device, {{[0-9.]+}} ms
// CHECK-NEXT: {{^  \[.*\]: (\+|-)[0-9.]+ ms}}
// CHECK: stablehlo.dot_general : tensor<4096x4096xf32> [
// CHECK-NEXT: {{^  \[.*\]: (\+|-)[0-9.]+ ms}}
// RANKED: The plan
// RANKED-NEXT: Of the candidates {{.*}} was taken: {{[0-9.]+}} ms
// RANKED-NEXT: ms expected with --mesh=
// RANKED-NEXT: ms expected with --mesh=
// PAGE: <!doctype html>
// PAGE: page.mlir: modelled step
// PAGE-NOT: http
// PAGE: <script type="application/json" id="data">{"machine":"h100
// PAGE-SAME: "parts":{{\[\[}}"computing, limited by arithmetic"
// PAGE-SAME: "steps":{{\[\[}}0,
// PAGE-SAME: "meshes":{{\[\[}}"
// PAGE-SAME: "plan":{
// PAGE-SAME: "tensors":{{\[\[}}"argument 0 of @main
// PLAIN: "meshes":[]}
// PARTS: % computing, limited by arithmetic
// PARTS-NEXT: % computing, limited by memory

func.func @main(%x: tensor<4096x1024xf32>, %up: tensor<1024x4096xf32>, %down: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  %1 = stablehlo.tanh %0 : tensor<4096x4096xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<4096x4096xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}
