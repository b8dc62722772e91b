// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes against the evaluator: rows at multiples of 2 KiB (tiles in scratch), ends of both sides that fill no vector, a result that
// is stored around the caches, bytes, halves and booleans, arithmetic on the way.
// RUN: xla-run %s --verify --seed=1 --quiet --cache-dir=off
func.func @main(%a: tensor<512x1003xf32>, %b: tensor<100x512xf32>, %c: tensor<512x1024xf64>, %d: tensor<257x513xbf16>, %e: tensor<67x2048xi8>,
                %f: tensor<2x512x100xf32>, %g: tensor<100x512xf32>, %h: tensor<5x33xf32>)
    -> (tensor<1003x512xf32>, tensor<512x100xf32>, tensor<1024x512xf64>, tensor<513x257xbf16>, tensor<2048x67xi8>, tensor<2048x67xi1>,
        tensor<2x100x512xf32>, tensor<33x5xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<512x1003xf32>) -> tensor<1003x512xf32>
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<100x512xf32>) -> tensor<512x100xf32>
  %2 = stablehlo.transpose %c, dims = [1, 0] : (tensor<512x1024xf64>) -> tensor<1024x512xf64>
  %3 = stablehlo.transpose %d, dims = [1, 0] : (tensor<257x513xbf16>) -> tensor<513x257xbf16>
  %4 = stablehlo.transpose %e, dims = [1, 0] : (tensor<67x2048xi8>) -> tensor<2048x67xi8>
  %zero = stablehlo.constant dense<0> : tensor<67x2048xi8>
  %positive = stablehlo.compare GT, %e, %zero, SIGNED : (tensor<67x2048xi8>, tensor<67x2048xi8>) -> tensor<67x2048xi1>
  %5 = stablehlo.transpose %positive, dims = [1, 0] : (tensor<67x2048xi1>) -> tensor<2048x67xi1>
  %turned = stablehlo.transpose %f, dims = [0, 2, 1] : (tensor<2x512x100xf32>) -> tensor<2x100x512xf32>
  %each = stablehlo.broadcast_in_dim %g, dims = [1, 2] : (tensor<100x512xf32>) -> tensor<2x100x512xf32>
  %6 = stablehlo.subtract %turned, %each : tensor<2x100x512xf32>
  %7 = stablehlo.transpose %h, dims = [1, 0] : (tensor<5x33xf32>) -> tensor<33x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1003x512xf32>, tensor<512x100xf32>, tensor<1024x512xf64>, tensor<513x257xbf16>,
      tensor<2048x67xi8>, tensor<2048x67xi1>, tensor<2x100x512xf32>, tensor<33x5xf32>
}
