// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex log, sqrt and tan against 80-digit values: next to |z| = 1, at the ends of the range, on both sides of branch cuts.
// RUN: xla-opt %s -stablehlo-complex-math-expander | xla-translate --interpret
// RUN: xla-opt %s -stablehlo-complex-math-expander | FileCheck %s

func.func @main() {
  func.call @log() : () -> ()
  func.call @sqrt() : () -> ()
  func.call @tan() : () -> ()
  return
}

// Relative difference of at most 2e-15; equal values may be 0.
func.func private @close(%a: tensor<9xf64>, %b: tensor<9xf64>) {
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<9xf64>
  %difference = stablehlo.subtract %a, %b : tensor<9xf64>
  %distance = stablehlo.abs %difference : tensor<9xf64>
  %magnitude = stablehlo.abs %b : tensor<9xf64>
  %allowed = stablehlo.multiply %magnitude, %tolerance : tensor<9xf64>
  %ok = stablehlo.compare LE, %distance, %allowed : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xi1>
  check.expect_eq_const %ok, dense<true> : tensor<9xi1>
  return
}

// CHECK-LABEL: func.func @log()
// CHECK-NOT: stablehlo.log {{.*}}complex
// CHECK: return
func.func @log() {
  %z = stablehlo.constant dense<[(3.0, 4.0), (0.6, 0.8), (1.0, 1.0e-09), (1.0e-12, 1.0), (0.28, -0.96), (1.0e+200, 1.0e+201), (1.0e-200, -1.0e-201), (-1.0, 0.0), (0.9999999, 0.0001)]> : tensor<9xcomplex<f64>>
  %w = stablehlo.log %z : tensor<9xcomplex<f64>>
  %re = stablehlo.real %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %im = stablehlo.imag %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %ere = stablehlo.constant dense<[1.6094379124341003, 2.2204460492503132e-17, 5.0e-19, 5.0e-25, -2.6645352591003756e-17, 462.82457885722977, -460.51204343338253, 0.0, -9.50000039723646e-08]> : tensor<9xf64>
  %eim = stablehlo.constant dense<[0.9272952180016122, 0.9272952180016123, 1.0e-09, 1.5707963267938967, -1.2870022175865687, 1.4711276743037347, -0.09966865249116202, 3.141592653589793, 0.00010000000966666756]> : tensor<9xf64>
  func.call @close(%re, %ere) : (tensor<9xf64>, tensor<9xf64>) -> ()
  func.call @close(%im, %eim) : (tensor<9xf64>, tensor<9xf64>) -> ()
  return
}

// CHECK-LABEL: func.func @sqrt()
// CHECK-NOT: stablehlo.sqrt {{.*}}complex
// CHECK: return
func.func @sqrt() {
  %z = stablehlo.constant dense<[(3.0, 4.0), (-3.0, 4.0), (-3.0, -4.0), (1.0e-310, 1.0e-312), (1.0e+308, 1.5e+308), (-4.0, 1.0e-20), (4.0, -1.0e-20), (-1.0e+300, 1.0), (0.0, 2.0)]> : tensor<9xcomplex<f64>>
  %w = stablehlo.sqrt %z : tensor<9xcomplex<f64>>
  %re = stablehlo.real %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %im = stablehlo.imag %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %ere = stablehlo.constant dense<[2.0, 1.0, 1.0, 1.0000124996093939e-155, 1.183802271862154e+154, 2.5e-21, 2.0, 5.0e-151, 1.0]> : tensor<9xf64>
  %eim = stablehlo.constant dense<[1.0, 2.0, -2.0, 4.999937502726549e-158, 6.335517491618166e+153, 2.0, -2.5e-21, 1.0e+150, 1.0]> : tensor<9xf64>
  func.call @close(%re, %ere) : (tensor<9xf64>, tensor<9xf64>) -> ()
  func.call @close(%im, %eim) : (tensor<9xf64>, tensor<9xf64>) -> ()
  return
}

// CHECK-LABEL: func.func @tan()
// CHECK-NOT: stablehlo.tan {{.*}}complex
// CHECK: return
func.func @tan() {
  %z = stablehlo.constant dense<[(0.5, 0.25), (1.5707963267948966, 0.001), (-2.0, 30.0), (0.3, -400.0), (1.0e-10, 1.0e-12), (3.0, -0.7), (-0.1, 5.0), (1.2, 19.9), (1.2, 20.1)]> : tensor<9xcomplex<f64>>
  %w = stablehlo.tan %z : tensor<9xcomplex<f64>>
  %re = stablehlo.real %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %im = stablehlo.imag %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %ere = stablehlo.constant dense<[0.504500702698564, 6.123231954659175e-11, 1.3253898390798914e-26, 0.0, 1.0e-10, -0.08981334726704182, -1.8037542131725644e-05, 7.009891509752435e-18, 4.698870799522063e-18]> : tensor<9xf64>
  %eim = stablehlo.constant dense<[0.3124206925025888, 1000.0003333333111, 1.0, -1.0, 1.0e-12, -0.6121052452475353, 0.9999110138891488, 1.0, 1.0]> : tensor<9xf64>
  func.call @close(%re, %ere) : (tensor<9xf64>, tensor<9xf64>) -> ()
  func.call @close(%im, %eim) : (tensor<9xf64>, tensor<9xf64>) -> ()
  return
}
