// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh needs its devices.
// RUN: not xla-run %s --num-devices=4 --cache-dir=off 2>&1 | FileCheck %s
// RUN: not xla-run %s --num-devices=4 --mesh=a=2,b=4 --cache-dir=off 2>&1 | FileCheck %s
// RUN: xla-run %s --num-devices=4 --mesh=a=2,b=2 --cache-dir=off | FileCheck %s --check-prefix=FITS
// RUN: not xla-run %s --mesh=a=4096,b=4096,c=4096,d=4096,e=4096,f=4096 --cache-dir=off 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: error: --mesh expects 1 to 4096 devices, but got 'a=4096,b=4096,c=4096,d=4096,e=4096,f=4096'
// CHECK: @mesh expects 8 devices, but got --num-devices=4
// FITS-COUNT-4: tensor<2xf32>
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
  %0 = stablehlo.abs %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
