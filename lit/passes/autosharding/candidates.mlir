// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program whose simulated step is the shortest is taken: plans, or what the user annotated without any plan.
// The report names what was taken and what the others take, in the
// text, in JSON and on the page. What a called function takes counts in each call.
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --simulate --cache-dir=off | FileCheck %s --check-prefix=TEXT
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --simulate --cache-dir=off -o %t.json
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --explain-sharding --cache-dir=off | FileCheck %s --check-prefix=WHY
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --sharding-page=%t.html --cache-dir=off
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// RUN: xla-run %s --auto-sharding --mesh=a=2,b=4 --machine=ethernet --verify --quiet --cache-dir=off
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=ethernet --simulate --cache-dir=off -o %t.json
// RUN: xla-compile %s --simulate --machine=ethernet --cache-dir=off -o %t.whole.json
// RUN: %python -c "import json, sys; planned, whole = (json.load(open(path)) for path in sys.argv[1:]); alone = [each for each in planned['planned']['candidates'] if each['name'] == 'the program as annotated'][0]; assert alone['seconds'] == whole['seconds'], (alone, whole)" %t.json %t.whole.json
// TEXT: the plan expected
// TEXT-NEXT: a plan whose sums share messages was taken: {{[0-9.]+}} ms in the simulated step; the program as annotated: {{[0-9.]+}} ms
// JSON: "candidates":[{"name":"a plan whose sums share messages","taken":true,"seconds":{{[0-9.e-]+}},"peak_bytes":{{[1-9][0-9]*}}},{"name":"the program as annotated","taken":false,"seconds":{{[0-9.e-]+}},"peak_bytes":{{[1-9][0-9]*}}}]
// WHY: The plan:
// WHY-NEXT: Of the candidates a plan whose sums share messages was taken: {{[0-9.]+}} ms in the simulated step; the program as annotated: {{[0-9.]+}} ms
// PAGE: Compared programs
// PAGE: "candidates":{{\[\[}}"a plan whose sums share messages",true,{{[0-9.e-]+}},{{[1-9][0-9]*}},""],["the program as annotated",false,
func.func private @layer(%x: tensor<4096x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<4096x1024xf32>
  return %1 : tensor<4096x1024xf32>
}
func.func @main(%x: tensor<4096x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = func.call @layer(%x, %w) : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
  %1 = func.call @layer(%0, %w) : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
  return %1 : tensor<4096x1024xf32>
}
