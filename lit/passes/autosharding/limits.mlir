// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is too large for the solver: choices of a mesh with many axes, and costs above its largest number (a thousand seconds each), of which the
// answer may not claim that its plan is the best. Unequal parts on thousands of devices take seconds, not hours.
// RUN: not xla-compile %s --auto-sharding --mesh=a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2,i=2,j=2,k=2,l=2 --simulate --cache-dir=off 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: echo '{"flops_per_second": 1, "bytes_per_second": 1, "memory_bytes": 1e10, "links": [{"devices": 64, "bytes_per_second": 1, "seconds": 1}]}' > %t.slow.json
// RUN: xla-compile %s --auto-sharding --mesh=a=2 --machine=%t.slow.json --simulate --cache-dir=off | FileCheck %s --check-prefix=SLOW
// RUN: xla-compile %s --auto-sharding --mesh=a=3,b=341 --simulate --cache-dir=off | FileCheck %s --check-prefix=UNEQUAL
// AXES: UNIMPLEMENTED: automatic sharding over #sdy.mesh<{{.*}}>: the program has too many choices: argument 0 of @main{{.*}} can be split over 12 axes in 2 places, or not at all, in 531441 ways, of which at most 20000 can be compared; expects a mesh of fewer axes
// SLOW: the plan expected {{.*}}; it is at most {{[0-9]+[0-9][0-9]\.[0-9]+}} % above the best of its kind
// UNEQUAL: the plan expected
func.func @main(%x: tensor<16x512xf32>, %up: tensor<512x512xf32>) -> tensor<16x512xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<16x512xf32>, tensor<512x512xf32>) -> tensor<16x512xf32>
  return %0 : tensor<16x512xf32>
}
