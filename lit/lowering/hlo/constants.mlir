// Literals are the shortest text that XLA's parser reads back as the same bits.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
func.func @main() -> (tensor<2x2xi1>, tensor<2x2x2xi8>, tensor<5xf32>, tensor<4xf32>, tensor<4xf64>, tensor<2xbf16>, tensor<2xf16>, tensor<3xf8E4M3FN>, tensor<3xf8E5M2>, tensor<2xi4>, tensor<2xui4>, tensor<2xui64>, tensor<2xi2>, tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU>, tensor<i1>, tensor<2xf8E4M3B11FNUZ>) {
  // CHECK: = pred[2,2]{1,0} constant({ {1, 0}, {0, 0} })
  %0 = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  // CHECK: = s8[2,2,2]{2,1,0} constant({ { {1, 2}, {3, 4} }, { {5, 6}, {-128, 8} } })
  %1 = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [-128, 8]]]> : tensor<2x2x2xi8>
  // CHECK: = f32[5]{0} constant({1, 2.5e-39, 3.4e+38, 0.1, -0.0})
  %2 = stablehlo.constant dense<[1.0, 2.5e-39, 3.4e38, 0.1, -0.0]> : tensor<5xf32>
  // CHECK: = f32[4]{0} constant({inf, -inf, nan, -nan(0x412345)})
  %3 = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345]> : tensor<4xf32>
  // CHECK: = f64[4]{0} constant({0.1, -0.0, nan(0x8000000000001), 18446744073709551616.0})
  %4 = stablehlo.constant dense<[0.1, -0.0, 0x7FF8000000000001, 18446744073709551616.0]> : tensor<4xf64>
  // CHECK: = bf16[2]{0} constant({0.1, nan(0x41)})
  %5 = stablehlo.constant dense<[0.1, 0x7FC1]> : tensor<2xbf16>
  // CHECK: = f16[2]{0} constant({0.1, nan(0x1)})
  %6 = stablehlo.constant dense<[0.1, 0x7C01]> : tensor<2xf16>
  // CHECK: = f8e4m3fn[3]{0} constant({0.1, nan, -nan})
  %7 = stablehlo.constant dense<[0.1, 0x7F, 0xFF]> : tensor<3xf8E4M3FN>
  // CHECK: = f8e5m2[3]{0} constant({0.09, nan(0x1), inf})
  %8 = stablehlo.constant dense<[0.1, 0x7D, 0x7C]> : tensor<3xf8E5M2>
  // CHECK: = s4[2]{0} constant({-8, 7})
  %9 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  // CHECK: = u4[2]{0} constant({1, 15})
  %10 = stablehlo.constant dense<[1, 15]> : tensor<2xui4>
  // CHECK: = u64[2]{0} constant({18446744073709551615, 2})
  %11 = stablehlo.constant dense<[18446744073709551615, 2]> : tensor<2xui64>
  // CHECK: = s2[2]{0} constant({-2, 1})
  %12 = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
  // CHECK: = f4e2m1fn[2]{0} constant({0.5, 6})
  %13 = stablehlo.constant dense<[0.5, 6.0]> : tensor<2xf4E2M1FN>
  // CHECK: = f8e8m0fnu[2]{0} constant({0.5, 4})
  %14 = stablehlo.constant dense<[0.5, 4.0]> : tensor<2xf8E8M0FNU>
  // CHECK: = pred[] constant(true)
  %15 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: = f8e4m3b11fnuz[2]{0} constant({nan, 2})
  %16 = stablehlo.constant dense<[0x80, 2.0]> : tensor<2xf8E4M3B11FNUZ>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<2x2xi1>, tensor<2x2x2xi8>, tensor<5xf32>, tensor<4xf32>, tensor<4xf64>, tensor<2xbf16>, tensor<2xf16>, tensor<3xf8E4M3FN>, tensor<3xf8E5M2>, tensor<2xi4>, tensor<2xui4>, tensor<2xui64>, tensor<2xi2>, tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU>, tensor<i1>, tensor<2xf8E4M3B11FNUZ>
}

// -----
// The parser multiplies the imaginary part by i, so infinities and NaNs are joined at run time.
// CHECK: constant.1 = c128[2]{0} constant({(1, -0.0), (0.1, 0.2)})
// CHECK: constant.2 = f32[2]{0} constant({1, inf})
// CHECK: constant.3 = f32[2]{0} constant({-2, nan})
// CHECK: complex.1 = c64[2]{0} complex(constant.2, constant.3)
func.func @main() -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f32>>) {
  %0 = stablehlo.constant dense<[(1.0, -0.0), (0.1, 0.2)]> : tensor<2xcomplex<f64>>
  %1 = stablehlo.constant dense<[(1.0, -2.0), (0x7F800000, 0x7FC00000)]> : tensor<2xcomplex<f32>>
  return %0, %1 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f32>>
}

// -----
// One value for all elements is broadcast; without elements only braces are left.
// CHECK: constant.1 = f32[] constant(0.5)
// CHECK: broadcast.1 = f32[100,100]{1,0} broadcast(constant.1), dimensions={}
// CHECK: constant.2 = f32[2,0]{1,0} constant({ {}, {} })
// CHECK: constant.3 = f32[0,3]{1,0} constant({  })
func.func @main() -> (tensor<100x100xf32>, tensor<2x0xf32>, tensor<0x3xf32>) {
  %0 = stablehlo.constant dense<0.5> : tensor<100x100xf32>
  %1 = stablehlo.constant dense<> : tensor<2x0xf32>
  %2 = stablehlo.constant dense<> : tensor<0x3xf32>
  return %0, %1, %2 : tensor<100x100xf32>, tensor<2x0xf32>, tensor<0x3xf32>
}
