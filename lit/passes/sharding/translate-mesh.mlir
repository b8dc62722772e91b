// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-translate-mesh="old-mesh-name=mesh axis-names=data,model" | FileCheck %s
// RUN: not xla-opt %s -sdy-translate-mesh="old-mesh-name=mesh axis-names=data" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not xla-opt %s -sdy-translate-mesh="old-mesh-name=mesh axis-names=data,data" 2>&1 | FileCheck %s --check-prefix=EQUAL
// FEW: expects a mesh @mesh with 1 axes, but there is one with another number
// EQUAL: error: {{.*}}data

// CHECK: sdy.mesh @mesh = <["data"=2, "model"=4]>
// CHECK: sdy.mesh @other = <["a"=8]>
sdy.mesh @mesh = <["a"=2, "b"=4]>
sdy.mesh @other = <["a"=8]>

// CHECK-LABEL: @names
// CHECK-SAME: <@mesh, [{"model":(2)2, ?}p1], replicated={"data"}>
// CHECK-SAME: <@other, [{"a"}]>
func.func @names(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b":(2)2, ?}p1], replicated={"a"}>},
                 %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) -> tensor<8xf32> {
  // CHECK: manual_axes={"data"}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%c: tensor<4xf32>) {
    sdy.return %c : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
