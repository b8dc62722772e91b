// RUN: xla-translate --interpret --args="[dense<[1, -2]> : tensor<2xi8>, dense<1.5> : tensor<f32>]" %s | FileCheck %s
// RUN: xla-translate --interpret --interpreter-print-dense --args="[dense<[1, -2]> : tensor<2xi8>, dense<1.5> : tensor<f32>]" %s | FileCheck %s --check-prefix=DENSE
// RUN: not xla-translate --interpret --args="[dense<1> : tensor<2xi8>]" %s 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not xla-translate --interpret --args="[dense<1> : tensor<3xi8>, dense<1.5> : tensor<f32>]" %s 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not xla-translate --interpret --args="nonsense(" %s 2>&1 | FileCheck %s --check-prefix=PARSE
// RUN: not xla-translate --interpret --args="[dense<1> : tensor<2xi8>, 1.5 : f32]" %s 2>&1 | FileCheck %s --check-prefix=DENSE-ONLY
// RUN: echo "[dense<[1, -2]> : tensor<2xi8>, dense<1.5> : tensor<f32>]" > %t.args
// RUN: xla-translate --interpret --args=@%t.args %s | FileCheck %s
// RUN: not xla-translate --interpret --args=@%t.missing %s 2>&1 | FileCheck %s --check-prefix=FILE

// CHECK:      tensor<2xi8> {
// CHECK-NEXT:   [2, -4]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<2xi8> {
// CHECK-NEXT:   [2, -4]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<f32> {1.500000e+00}
// CHECK-NEXT: tensor<1x2xi1> {
// CHECK-NEXT:   [
// CHECK-NEXT:     [true, false]
// CHECK-NEXT:   ]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<complex<f32>> {[1.500000e+00, 0.000000e+00]}
// DENSE: dense<[2, -4]> : tensor<2xi8>
// DENSE: dense<1.500000e+00> : tensor<f32>
// COUNT: error: function @main expects 2 arguments, but got 1
// TYPE: error: argument 0 of @main expects type tensor<2xi8>, but got tensor<3xi8>
// PARSE: error: expected array attribute string for args, i.e. --args=[dense<1> : tensor<2xi32>, ...] or --args=@file
// DENSE-ONLY: error: expected dense elements attribute for args elements, i.e. {{.*}}, but got 1.500000e+00 : f32
// FILE: error: failed to read args file {{.*}}.missing: {{[A-Z]}}
func.func @main(%a: tensor<2xi8>, %b: tensor<f32>) -> (tensor<2xi8>, tensor<f32>, tensor<1x2xi1>, tensor<complex<f32>>) {
  %0 = stablehlo.add %a, %a : tensor<2xi8>
  %1 = interpreter.print %0 : tensor<2xi8>
  %m = stablehlo.constant dense<[[true, false]]> : tensor<1x2xi1>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.complex %b, %z : tensor<complex<f32>>
  func.return %1, %b, %m, %c : tensor<2xi8>, tensor<f32>, tensor<1x2xi1>, tensor<complex<f32>>
}
