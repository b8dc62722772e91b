// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments are given whole and cut for the devices; results are written whole. Each device prints what it holds.
// RUN: %python -c "import numpy as np; np.savez('%t.npz', arg0=np.arange(8, dtype=np.float32).reshape(4, 2), arg1=np.float32(100))"
// RUN: xla-run %s --args=%t.npz --cache-dir=off | FileCheck %s
// RUN: xla-run %s --args=%t.npz --cache-dir=off --out=%t.out.npz
// RUN: %python -c "import numpy as np; r = np.load('%t.out.npz'); print([r[n].tolist() for n in r.files])" | FileCheck %s --check-prefix=WHOLE
// The evaluator runs the global program on one device and agrees.
// RUN: xla-run %s --args=%t.npz --cache-dir=off --verify
// RUN: xla-run %s --args=%t.npz --backend=interpreter --out=%t.eval.npz
// RUN: %python -c "import numpy as np; r = np.load('%t.eval.npz'); print([r[n].tolist() for n in r.files])" | FileCheck %s --check-prefix=WHOLE
// CHECK: device 0: dense<{{\[\[}}0.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT: device 0: dense<[1.120000e+02, 1.160000e+02]> : tensor<2xf32>
// CHECK: device 2: dense<{{\[\[}}4.000000e+00, 6.000000e+00]]> : tensor<1x2xf32>
// CHECK: device 3: dense<{{\[\[}}1.200000e+01, 1.400000e+01]]> : tensor<1x2xf32>
// CHECK-NEXT: device 3: dense<[1.120000e+02, 1.160000e+02]> : tensor<2xf32>
// WHOLE: {{\[\[}}[0.0, 2.0], [4.0, 6.0], [8.0, 10.0], [12.0, 14.0]], [112.0, 116.0]]
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4], device_ids=[0, 2, 1, 3]>
  func.func @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %init: tensor<f32>) -> (tensor<4x2xf32>, tensor<2xf32>) {
    %wish = sdy.sharding_constraint %x <@mesh, [{"a"}, {}]> : tensor<4x2xf32>
    %0 = stablehlo.add %wish, %x : tensor<4x2xf32>
    %1 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    return %0, %1 : tensor<4x2xf32>, tensor<2xf32>
  }
}
