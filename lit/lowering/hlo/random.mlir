// Random numbers and Fourier transforms.
// RUN: xla-translate %s --stablehlo-to-hlo-text | FileCheck %s
func.func @main(%s: tensor<2xui64>, %a: tensor<f32>, %x: tensor<8xf32>) -> (tensor<2x2xui64>, tensor<2xui32>, tensor<2xui32>, tensor<3xf32>, tensor<3xf32>, tensor<5xcomplex<f32>>) {
  %n = stablehlo.constant dense<3> : tensor<1xi64>
  // CHECK: rng-bit-generator.1 = (u64[2]{0}, u64[2,2]{1,0}) rng-bit-generator(Arg_0.1), algorithm=rng_philox
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
  // CHECK: rng-bit-generator.2 = {{.*}}, algorithm=rng_default
  %2, %3 = stablehlo.rng_bit_generator %0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  // CHECK: rng-bit-generator.3 = {{.*}}, algorithm=rng_three_fry
  %4, %5 = stablehlo.rng_bit_generator %2, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  // CHECK: rng.1 = f32[3]{0} rng(Arg_1.1, Arg_1.1), distribution=rng_normal
  %6 = stablehlo.rng %a, %a, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  // CHECK: rng.2 = f32[3]{0} rng(Arg_1.1, Arg_1.1), distribution=rng_uniform
  %7 = stablehlo.rng %a, %a, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  // CHECK: fft.1 = c64[5]{0} fft(Arg_2.1), fft_type=RFFT, fft_length={8}
  %8 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  return %1, %3, %5, %6, %7, %8 : tensor<2x2xui64>, tensor<2xui32>, tensor<2xui32>, tensor<3xf32>, tensor<3xf32>, tensor<5xcomplex<f32>>
}
