// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and results that are unreduced: devices get summands of what is given whole, and what they return is summed. On a mesh of
// three axes, with parts that do not divide, several axes at once, types of all kinds, and all devices.
// RUN: %python -c "import numpy as np; r = np.arange(35).reshape(7, 5); np.savez('%t.npz', arg0=r.astype(np.float32), arg1=r.astype(np.int8), arg2=(r * (1 - 2j)).astype(np.complex64), arg3=r[0].astype(np.float16))"
// RUN: xla-run %s --args=%t.npz --cache-dir=off --verify --out=%t.out.npz
// RUN: %python -c "import numpy as np; a, r = np.load('%t.npz'), np.load('%t.out.npz'); x = a['arg0']; want = [np.exp(x / 35), x.T * 2, x, a['arg1'] + a['arg1'], a['arg2'], a['arg3'], x.max(axis=1)]; [np.testing.assert_allclose(r[n], w, rtol=1e-6) for n, w in zip(r.files, want, strict=True)]; print('all', len(want))" | FileCheck %s
// RUN: xla-run %s --args=%t.npz --cache-dir=off | FileCheck %s --check-prefix=DEVICES
// CHECK: all 7
// Of the half floats each is with one device of twelve; the others have what changes no sum.
// DEVICES: device 0: dense<-0.000000e+00> : tensor<5xf16>
// DEVICES: device 3: dense<[-0.000000e+00, -0.000000e+00, -0.000000e+00, 3.000000e+00, -0.000000e+00]> : tensor<5xf16>
module attributes {mhlo.num_partitions = 12 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=3, "c"=2], device_ids=[11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]>
  func.func @main(%x: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}], unreduced={"b"}>},
                  %i: tensor<7x5xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}], unreduced={"a", "c"}>},
                  %z: tensor<7x5xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {"a"}], unreduced={"b"}>},
                  %h: tensor<5xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a", "b", "c"}>})
      -> (tensor<7x5xf32>,
          tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}], unreduced={"b"}>},
          tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}], unreduced={"c"}>},
          tensor<7x5xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}], unreduced={"a", "c"}>},
          tensor<7x5xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"b"}>},
          tensor<5xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"a", "b", "c"}>},
          tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}], unreduced=max{"a"}>}) {
    %c = stablehlo.constant dense<35.0> : tensor<7x5xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.divide %x, %c : tensor<7x5xf32>
    %1 = stablehlo.exponential %0 : tensor<7x5xf32>
    %2 = stablehlo.transpose %x, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}], unreduced={"b"}>]>} : (tensor<7x5xf32>) -> tensor<5x7xf32>
    %3 = stablehlo.add %2, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}], unreduced={"b"}>]>} : tensor<5x7xf32>
    %4 = stablehlo.add %i, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}], unreduced={"a", "c"}>]>} : tensor<7x5xi8>
    %5 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<7x5xf32>, tensor<f32>) -> tensor<7xf32>
    return %1, %3, %x, %4, %z, %h, %5 : tensor<7x5xf32>, tensor<5x7xf32>, tensor<7x5xf32>, tensor<7x5xi8>, tensor<7x5xcomplex<f32>>, tensor<5xf16>, tensor<7xf32>
  }
}
