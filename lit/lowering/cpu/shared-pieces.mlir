// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cache of keys that grows by one: its two pieces share the heads, too few of them for several threads. The long piece is cut along its rows.
// RUN: xla-compile %s --target=avx512 --entry=grows --emit=program | FileCheck %s --check-prefix=GROWS
// GROWS: kernel concatenate_{{.*}} range 104
// Heads enough for the threads share whole rows.
// RUN: xla-compile %s --target=avx512 --entry=many --emit=program | FileCheck %s --check-prefix=MANY
// MANY: kernel concatenate_{{.*}} range 32
// Too little for more than one thread: the heads are the units.
// RUN: xla-compile %s --target=avx512 --entry=small --emit=program | FileCheck %s --check-prefix=SMALL
// SMALL: kernel concatenate_{{.*}} range 3
// RUN: xla-run %s --entry=grows --verify --quiet
// RUN: xla-run %s --entry=many --verify --quiet
// RUN: xla-run %s --entry=small --verify --quiet

func.func @grows(%a: tensor<1x3x512x64xf32>, %b: tensor<1x3x1x64xf32>) -> tensor<1x3x513x64xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 2 : (tensor<1x3x512x64xf32>, tensor<1x3x1x64xf32>) -> tensor<1x3x513x64xf32>
  return %0 : tensor<1x3x513x64xf32>
}
func.func @many(%a: tensor<1x32x512x64xf32>, %b: tensor<1x32x1x64xf32>) -> tensor<1x32x513x64xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 2 : (tensor<1x32x512x64xf32>, tensor<1x32x1x64xf32>) -> tensor<1x32x513x64xf32>
  return %0 : tensor<1x32x513x64xf32>
}
func.func @small(%a: tensor<1x3x20x64xf32>, %b: tensor<1x3x1x64xf32>) -> tensor<1x3x21x64xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 2 : (tensor<1x3x20x64xf32>, tensor<1x3x1x64xf32>) -> tensor<1x3x21x64xf32>
  return %0 : tensor<1x3x21x64xf32>
}
