// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transpositions of what is computed on the way: colours of bytes, odd sizes, booleans, narrow floats, numbers for rows and for columns.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%i: tensor<2x37x21x3xui8>, %m: tensor<3xf32>, %x: tensor<131x77xf32>, %r: tensor<131xf32>, %c: tensor<77xf32>, %h: tensor<3x65x33xbf16>, %l: tensor<45x131xi64>) -> (tensor<2x3x37x21xf32>, tensor<77x131xf32>, tensor<77x131xi1>, tensor<33x65x3xf32>, tensor<131x45xi8>, tensor<3x2x37x21xbf16>) {
  %0 = stablehlo.convert %i : (tensor<2x37x21x3xui8>) -> tensor<2x37x21x3xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [3] : (tensor<3xf32>) -> tensor<2x37x21x3xf32>
  %2 = stablehlo.divide %0, %1 : tensor<2x37x21x3xf32>
  %3 = stablehlo.transpose %2, dims = [0, 3, 1, 2] : (tensor<2x37x21x3xf32>) -> tensor<2x3x37x21xf32>
  %4 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<131xf32>) -> tensor<131x77xf32>
  %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<77xf32>) -> tensor<131x77xf32>
  %6 = stablehlo.subtract %x, %4 : tensor<131x77xf32>
  %7 = stablehlo.multiply %6, %5 : tensor<131x77xf32>
  %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<131x77xf32>) -> tensor<77x131xf32>
  %9 = stablehlo.compare GT, %x, %4 : (tensor<131x77xf32>, tensor<131x77xf32>) -> tensor<131x77xi1>
  %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<131x77xi1>) -> tensor<77x131xi1>
  %11 = stablehlo.convert %h : (tensor<3x65x33xbf16>) -> tensor<3x65x33xf32>
  %12 = stablehlo.transpose %11, dims = [2, 1, 0] : (tensor<3x65x33xf32>) -> tensor<33x65x3xf32>
  %13 = stablehlo.convert %l : (tensor<45x131xi64>) -> tensor<45x131xi8>
  %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<45x131xi8>) -> tensor<131x45xi8>
  %15 = stablehlo.convert %i : (tensor<2x37x21x3xui8>) -> tensor<2x37x21x3xbf16>
  %16 = stablehlo.transpose %15, dims = [3, 0, 1, 2] : (tensor<2x37x21x3xbf16>) -> tensor<3x2x37x21xbf16>
  return %3, %8, %10, %12, %14, %16 : tensor<2x3x37x21xf32>, tensor<77x131xf32>, tensor<77x131xi1>, tensor<33x65x3xf32>, tensor<131x45xi8>, tensor<3x2x37x21xbf16>
}
