// Elementwise operations keep their names but for `_` and `-`; scalars of select and clamp are broadcast.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
// CHECK: HloModule main, entry_computation_layout={(f32[2]{0}, f32[2]{0}, s32[2]{0}, c64[2]{0})->
// CHECK: ENTRY main.1 {
// CHECK-NEXT: Arg_0.1 = f32[2]{0} parameter(0)
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %i: tensor<2xi32>, %c: tensor<2xcomplex<f32>>)
    -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>) {
  // CHECK: abs.1 = f32[2]{0} abs(Arg_0.1), metadata={
  %0 = stablehlo.abs %x : tensor<2xf32>
  // CHECK: cbrt.1 = f32[2]{0} cbrt(abs.1)
  %1 = stablehlo.cbrt %0 : tensor<2xf32>
  // CHECK: ceil.1 = f32[2]{0} ceil(cbrt.1)
  %2 = stablehlo.ceil %1 : tensor<2xf32>
  // CHECK: cosine.1 = f32[2]{0} cosine(ceil.1)
  %3 = stablehlo.cosine %2 : tensor<2xf32>
  // CHECK: exponential.1 = f32[2]{0} exponential(cosine.1), result_accuracy={tolerance={atol=1e-05,rtol=0,ulps=1}}
  %4 = stablehlo.exponential %3 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
  // CHECK: exponential-minus-one.1 = f32[2]{0} exponential-minus-one(exponential.1)
  %5 = stablehlo.exponential_minus_one %4 : tensor<2xf32>
  // CHECK: floor.1 = f32[2]{0} floor(
  %6 = stablehlo.floor %5 : tensor<2xf32>
  // CHECK: log.1 = f32[2]{0} log(floor.1), result_accuracy={mode=highest}
  %7 = stablehlo.log %6 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  // CHECK: log-plus-one.1 = f32[2]{0} log-plus-one(log.1)
  %8 = stablehlo.log_plus_one %7 : tensor<2xf32>
  // CHECK: logistic.1 = f32[2]{0} logistic(
  %9 = stablehlo.logistic %8 : tensor<2xf32>
  // CHECK: negate.1 = f32[2]{0} negate(
  %10 = stablehlo.negate %9 : tensor<2xf32>
  // CHECK: round-nearest-afz.1 = f32[2]{0} round-nearest-afz(
  %11 = stablehlo.round_nearest_afz %10 : tensor<2xf32>
  // CHECK: round-nearest-even.1 = f32[2]{0} round-nearest-even(
  %12 = stablehlo.round_nearest_even %11 : tensor<2xf32>
  // CHECK: rsqrt.1 = f32[2]{0} rsqrt(
  %13 = stablehlo.rsqrt %12 : tensor<2xf32>
  // CHECK: sign.1 = f32[2]{0} sign(
  %14 = stablehlo.sign %13 : tensor<2xf32>
  // CHECK: sine.1 = f32[2]{0} sine(
  %15 = stablehlo.sine %14 : tensor<2xf32>
  // CHECK: sqrt.1 = f32[2]{0} sqrt(
  %16 = stablehlo.sqrt %15 : tensor<2xf32>
  // CHECK: tan.1 = f32[2]{0} tan(
  %17 = stablehlo.tan %16 : tensor<2xf32>
  // CHECK: tanh.1 = f32[2]{0} tanh(
  %18 = stablehlo.tanh %17 : tensor<2xf32>
  // CHECK: reduce-precision.1 = f32[2]{0} reduce-precision(tanh.1), exponent_bits=5, mantissa_bits=10
  %19 = stablehlo.reduce_precision %18, format = e5m10 : tensor<2xf32>
  // CHECK: add.1 = f32[2]{0} add(reduce-precision.1, Arg_1.1)
  %20 = stablehlo.add %19, %y : tensor<2xf32>
  // CHECK: atan2.1 = f32[2]{0} atan2(
  %21 = stablehlo.atan2 %20, %y : tensor<2xf32>
  // CHECK: divide.1 = f32[2]{0} divide(
  %22 = stablehlo.divide %21, %y : tensor<2xf32>
  // CHECK: maximum.1 = f32[2]{0} maximum(
  %23 = stablehlo.maximum %22, %y : tensor<2xf32>
  // CHECK: minimum.1 = f32[2]{0} minimum(
  %24 = stablehlo.minimum %23, %y : tensor<2xf32>
  // CHECK: multiply.1 = f32[2]{0} multiply(
  %25 = stablehlo.multiply %24, %y : tensor<2xf32>
  // CHECK: power.1 = f32[2]{0} power(
  %26 = stablehlo.power %25, %y : tensor<2xf32>
  // CHECK: remainder.1 = f32[2]{0} remainder(
  %27 = stablehlo.remainder %26, %y : tensor<2xf32>
  // CHECK: subtract.1 = f32[2]{0} subtract(
  %28 = stablehlo.subtract %27, %y : tensor<2xf32>
  // CHECK: count-leading-zeros.1 = s32[2]{0} count-leading-zeros(Arg_2.1)
  %29 = stablehlo.count_leading_zeros %i : tensor<2xi32>
  // CHECK: popcnt.1 = s32[2]{0} popcnt(
  %30 = stablehlo.popcnt %29 : tensor<2xi32>
  // CHECK: not.1 = s32[2]{0} not(
  %31 = stablehlo.not %30 : tensor<2xi32>
  // CHECK: shift-left.1 = s32[2]{0} shift-left(
  %32 = stablehlo.shift_left %31, %i : tensor<2xi32>
  // CHECK: shift-right-arithmetic.1 = s32[2]{0} shift-right-arithmetic(
  %33 = stablehlo.shift_right_arithmetic %32, %i : tensor<2xi32>
  // CHECK: shift-right-logical.1 = s32[2]{0} shift-right-logical(
  %34 = stablehlo.shift_right_logical %33, %i : tensor<2xi32>
  // CHECK: and.1 = s32[2]{0} and(
  %35 = stablehlo.and %34, %i : tensor<2xi32>
  // CHECK: or.1 = s32[2]{0} or(
  %36 = stablehlo.or %35, %i : tensor<2xi32>
  // CHECK: xor.1 = s32[2]{0} xor(
  %37 = stablehlo.xor %36, %i : tensor<2xi32>
  // CHECK: is-finite.1 = pred[2]{0} is-finite(subtract.1)
  %38 = stablehlo.is_finite %28 : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: complex.1 = c64[2]{0} complex(subtract.1, Arg_1.1)
  %39 = stablehlo.complex %28, %y : tensor<2xcomplex<f32>>
  // CHECK: real.1 = f32[2]{0} real(Arg_3.1)
  %40 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: imag.1 = f32[2]{0} imag(Arg_3.1)
  %41 = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: add.2 = f32[2]{0} add(real.1, imag.1)
  %42 = stablehlo.add %40, %41 : tensor<2xf32>
  // CHECK: ROOT tuple.1 = (f32[2]{0}, s32[2]{0}, pred[2]{0}, c64[2]{0}, f32[2]{0}) tuple(subtract.1, xor.1, is-finite.1, complex.1, add.2)
  return %28, %37, %38, %39, %42 : tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>
}

// -----
// The order of the element type goes without saying; the total order does not.
// CHECK: compare.1 = pred[2]{0} compare(Arg_0.1, Arg_1.1), direction=GE, metadata
// CHECK: compare.2 = pred[2]{0} compare(Arg_0.1, Arg_1.1), direction=LT, type=TOTALORDER
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xi1>, tensor<2xi1>) {
  %0 = stablehlo.compare GE, %x, %y, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %1 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0, %1 : tensor<2xi1>, tensor<2xi1>
}

// -----
// CHECK: broadcast.1 = pred[2]{0} broadcast(Arg_1.1), dimensions={}
// CHECK: select.1 = f32[2]{0} select(broadcast.1, Arg_0.1, Arg_0.1)
// CHECK: broadcast.2 = f32[2]{0} broadcast(Arg_2.1), dimensions={}
// CHECK: broadcast.3 = f32[2]{0} broadcast(Arg_2.1), dimensions={}
// CHECK: ROOT clamp.1 = f32[2]{0} clamp(broadcast.2, select.1, broadcast.3)
func.func @main(%x: tensor<2xf32>, %p: tensor<i1>, %s: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<2xf32>
  %1 = stablehlo.clamp %s, %0, %s : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----
// A complex number is converted to a real one by its real part.
// CHECK: real.1 = f32[2]{0} real(Arg_0.1)
// CHECK: convert.1 = s32[2]{0} convert(real.1)
// CHECK: convert.2 = c128[2]{0} convert(Arg_0.1)
// CHECK: bitcast-convert.1 = s16[2,2]{1,0} bitcast-convert(convert.1)
func.func @main(%c: tensor<2xcomplex<f32>>) -> (tensor<2x2xi16>, tensor<2xcomplex<f64>>) {
  %0 = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xi32>
  %1 = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f64>>
  %2 = stablehlo.bitcast_convert %0 : (tensor<2xi32>) -> tensor<2x2xi16>
  return %2, %1 : tensor<2x2xi16>, tensor<2xcomplex<f64>>
}

// -----
// chlo is legalized on the way.
// CHECK-NOT: chlo
// CHECK: ROOT {{.*}} = f32[2]{0} multiply(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
