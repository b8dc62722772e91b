// xla-compile takes programs from the compilation cache and leaves them there, for xla-run too.
// RUN: rm -rf %t && xla-compile %s --cache-dir=%t/cache -o %t/a.mr
// RUN: xla-compile %s --cache-dir=%t/cache -o %t/b.mr
// RUN: cmp %t/a.mr %t/b.mr
// RUN: xla-run %s --cache-dir=%t/cache --stats --quiet | FileCheck %s --check-prefix=HIT
// HIT: cache: hit
// A stop, or times, need a compilation.
// RUN: xla-compile %s --cache-dir=%t/cache --emit=fused | FileCheck %s --check-prefix=STOP
// STOP: func.func @main
// RUN: xla-compile %s --cache-dir=%t/cache --time -o %t/c.mr | FileCheck %s --check-prefix=TIME
// TIME: kernels
// Off means off.
// RUN: rm -rf %t/cache && env MILLRACE_CACHE_DIR=%t/cache xla-compile %s --cache-dir=off -o %t/d.mr && not ls %t/cache
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
