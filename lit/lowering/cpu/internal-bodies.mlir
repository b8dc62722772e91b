// The body of a kernel is inlined into its entry, and its buffers do not overlap; nothing else gets a symbol.
// RUN: xla-compile %s --emit=llvm | FileCheck %s
// CHECK: define i32 @tanh_
// CHECK: load <{{.*}} !noalias
// CHECK-NOT: define
func.func @main(%x: tensor<64x256xf32>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %0 = stablehlo.add %x, %y : tensor<64x256xf32>
  %1 = stablehlo.tanh %0 : tensor<64x256xf32>
  return %1 : tensor<64x256xf32>
}
