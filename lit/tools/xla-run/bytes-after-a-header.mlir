// Numbers that begin at an odd byte of a file: a slice is a view, and a number may not lie anywhere in one.
// RUN: xla-run %s --cache-dir=off --verify --quiet
func.func @main(%x: tensor<20019xui8>) -> (tensor<5000xui32>, tensor<2500xui64>) {
  %0 = stablehlo.slice %x [3:20003] : (tensor<20019xui8>) -> tensor<20000xui8>
  %1 = stablehlo.reshape %0 : (tensor<20000xui8>) -> tensor<5000x4xui8>
  %2 = stablehlo.bitcast_convert %1 : (tensor<5000x4xui8>) -> tensor<5000xui32>
  %3 = stablehlo.add %2, %2 : tensor<5000xui32>
  %4 = stablehlo.reshape %2 : (tensor<5000xui32>) -> tensor<2500x2xui32>
  %5 = stablehlo.bitcast_convert %4 : (tensor<2500x2xui32>) -> tensor<2500xui64>
  %6 = stablehlo.reverse %5, dims = [0] : tensor<2500xui64>
  return %3, %6 : tensor<5000xui32>, tensor<2500xui64>
}
