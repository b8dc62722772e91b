// RUN: xla-compile %s -o %t

// A mask that costs 36 additions, each of which uses the one before it twice: walks over operands must look at each once, not 2^36 times.

func.func @main(%scores: tensor<64x512xf32>, %x0: tensor<64x512xi32>) -> tensor<64x512xf32> {
  %x1 = stablehlo.add %x0, %x0 : tensor<64x512xi32>
  %x2 = stablehlo.add %x1, %x1 : tensor<64x512xi32>
  %x3 = stablehlo.add %x2, %x2 : tensor<64x512xi32>
  %x4 = stablehlo.add %x3, %x3 : tensor<64x512xi32>
  %x5 = stablehlo.add %x4, %x4 : tensor<64x512xi32>
  %x6 = stablehlo.add %x5, %x5 : tensor<64x512xi32>
  %x7 = stablehlo.add %x6, %x6 : tensor<64x512xi32>
  %x8 = stablehlo.add %x7, %x7 : tensor<64x512xi32>
  %x9 = stablehlo.add %x8, %x8 : tensor<64x512xi32>
  %x10 = stablehlo.add %x9, %x9 : tensor<64x512xi32>
  %x11 = stablehlo.add %x10, %x10 : tensor<64x512xi32>
  %x12 = stablehlo.add %x11, %x11 : tensor<64x512xi32>
  %x13 = stablehlo.add %x12, %x12 : tensor<64x512xi32>
  %x14 = stablehlo.add %x13, %x13 : tensor<64x512xi32>
  %x15 = stablehlo.add %x14, %x14 : tensor<64x512xi32>
  %x16 = stablehlo.add %x15, %x15 : tensor<64x512xi32>
  %x17 = stablehlo.add %x16, %x16 : tensor<64x512xi32>
  %x18 = stablehlo.add %x17, %x17 : tensor<64x512xi32>
  %x19 = stablehlo.add %x18, %x18 : tensor<64x512xi32>
  %x20 = stablehlo.add %x19, %x19 : tensor<64x512xi32>
  %x21 = stablehlo.add %x20, %x20 : tensor<64x512xi32>
  %x22 = stablehlo.add %x21, %x21 : tensor<64x512xi32>
  %x23 = stablehlo.add %x22, %x22 : tensor<64x512xi32>
  %x24 = stablehlo.add %x23, %x23 : tensor<64x512xi32>
  %x25 = stablehlo.add %x24, %x24 : tensor<64x512xi32>
  %x26 = stablehlo.add %x25, %x25 : tensor<64x512xi32>
  %x27 = stablehlo.add %x26, %x26 : tensor<64x512xi32>
  %x28 = stablehlo.add %x27, %x27 : tensor<64x512xi32>
  %x29 = stablehlo.add %x28, %x28 : tensor<64x512xi32>
  %x30 = stablehlo.add %x29, %x29 : tensor<64x512xi32>
  %x31 = stablehlo.add %x30, %x30 : tensor<64x512xi32>
  %x32 = stablehlo.add %x31, %x31 : tensor<64x512xi32>
  %x33 = stablehlo.add %x32, %x32 : tensor<64x512xi32>
  %x34 = stablehlo.add %x33, %x33 : tensor<64x512xi32>
  %x35 = stablehlo.add %x34, %x34 : tensor<64x512xi32>
  %x36 = stablehlo.add %x35, %x35 : tensor<64x512xi32>
  %mask = stablehlo.convert %x36 : (tensor<64x512xi32>) -> tensor<64x512xf32>
  %s = stablehlo.add %scores, %mask : tensor<64x512xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.reduce(%s init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
  %mosts = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
  %d = stablehlo.subtract %s, %mosts : tensor<64x512xf32>
  %e = stablehlo.exponential %d : tensor<64x512xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
  %o = stablehlo.divide %e, %sums : tensor<64x512xf32>
  return %o : tensor<64x512xf32>
}
