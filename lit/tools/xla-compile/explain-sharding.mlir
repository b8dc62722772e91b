// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For every value: how it is split, because of which annotation, through which operation along which factor; then what is communicated.
// RUN: xla-compile %s --explain-sharding | FileCheck %s
// RUN: xla-compile %s --explain-sharding -o %t.html && FileCheck %s --check-prefix=PAGE < %t.html
// RUN: xla-compile %s --explain-sharding --mesh=data=4,model=2 | FileCheck %s --check-prefix=MESH
// RUN: xla-run %s --mesh=data=4,model=2 --verify --quiet --cache-dir=off
// RUN: not xla-run %s --mesh=data=4 --quiet 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not xla-run %s --mesh=data=0,model=2 --quiet 2>&1 | FileCheck %s --check-prefix=SIZE

// PAGE: <p><code>mesh @mesh: &quot;data&quot;=2, &quot;model&quot;=4</code></p>
// PAGE: <details open><summary>annotated (2)</summary>
// PAGE: <td>argument 2 of @main</td><td><code>tensor&lt;64x16xf32&gt;</code></td><td><code>&lt;@mesh, [{&quot;model&quot;}, {}]&gt;</code>
// PAGE-SAME: <li>dimension 0 &quot;model&quot;: from argument 1 of @main
// PAGE-SAME: <li class="rule">rule of stablehlo.dot_general
// PAGE: <code>all_reduce tensor&lt;4x16xf32&gt; among 4</code></td><td>384 bytes, about 6.0 us</td>
// PAGE: <p>1 collective, 384 bytes

// CHECK: mesh @mesh: "data"=2, "model"=4
// CHECK: {{^}}annotated:
// CHECK-NEXT: argument 0 of @main : tensor<8x16xf32> #sdy.sharding<@mesh, [{"data"}, {}]>  ({{.*}}explain-sharding.mlir:[[#@LINE+23]])
// CHECK-NEXT: dimension 0 "data": annotated here
// CHECK-NEXT: argument 1 of @main
// CHECK-NEXT: dimension 1 "model": annotated here
// CHECK: {{^}}split by propagation:
// CHECK-NEXT: argument 2 of @main : tensor<64x16xf32> #sdy.sharding<@mesh, [{"model"}, {}]>
// CHECK-NEXT: dimension 0 "model": from argument 1 of @main ({{.*}}explain-sharding.mlir:[[#@LINE+17]]), through stablehlo.dot_general ({{.*}}explain-sharding.mlir:[[#@LINE+20]]) along k, operand 0 -> operand 1
// CHECK-NEXT: rule of stablehlo.dot_general ({{.*}}): ([i, k], [k, j])->([i, j]) {i=8, j=16, k=64} reduction={k}
// CHECK-NEXT: callers bring it whole, because it is not annotated; each device takes its part
// CHECK: stablehlo.dot_general : tensor<8x64xf32> #sdy.sharding<@mesh, [{"data"}, {"model"}]>
// CHECK-NEXT: dimension 0 "data": from argument 0 of @main {{.*}}, through stablehlo.dot_general {{.*}} along i, operand 0 -> result 0
// CHECK-NEXT: dimension 1 "model": from argument 1 of @main {{.*}}, through stablehlo.dot_general {{.*}} along j, operand 1 -> result 0
// CHECK: result 0 of @main
// CHECK-NEXT: dimension 0 "data": from argument 0 of @main {{.*}}, returned
// Of 4x16 floats each of 4 devices receives 3/4 twice.
// CHECK: {{^}}collectives of each device:
// CHECK-NEXT: all_reduce tensor<4x16xf32> among 4: 384 bytes, about 6.0 us ({{.*}}explain-sharding.mlir:[[#@LINE+10]])
// CHECK: 1 collective, 384 bytes
// MESH: all_reduce tensor<2x16xf32> among 2: 128 bytes
// AXIS: --mesh=data=4 does not say how large axis "model" of @mesh is
// SIZE: --mesh expects a list like data=4,model=2, each axis once and of 1 to 4096 devices, but got 'data=0,model=2'
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w1: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %w2: tensor<64x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.tanh %0 : tensor<8x64xf32>
    %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }
}
