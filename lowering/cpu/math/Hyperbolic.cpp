// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hyperbolic.cpp - tanh, sinh, cosh and erf --------------------------===//
// Odd minimax polynomials near zero, where exponentials would cancel; exponentials elsewhere.
#include "lowering/cpu/math/Functions.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;

namespace millrace::lowering {

Value tanhF32(MathBuilder &b, Value x) {
  // (1 - e) / (1 + e) with e = e^(-2|x|), which is accurate near zero too. From 9.1 on the result is 1.
  Value a = b.absf(x);
  Type type = x.getType();
  Value limited = b.select(b.cmpf(CmpF::OGT, a, 10.0), b.f(10.0, type), a);
  auto [difference, sum] = expAroundOneF32(b, b.mulf(limited, -2.0));
  return b.copysign(b.divf(difference, sum), x);
}

Value tanhF64(MathBuilder &b, Value x) {
  Value a = b.absf(x), z = b.mulf(x, x);
  Value odd = b.poly(z, {-3.33333333333333315e-01, 1.33333333333333193e-01, -5.39682539682407036e-02,
                         2.18694885355605502e-02, -8.86323551416117773e-03, 3.59212776836851993e-03,
                         -1.45583129263899408e-03, 5.90002546792549234e-04, -2.38987518611895447e-04,
                         9.63456748133664136e-05, -3.76788677367636223e-05, 1.28827040443879489e-05,
                         -2.76986784305420574e-06});
  Value small = b.fma(b.mulf(x, z), odd, x);
  // 1 - 2e / (1 + e) with e = e^-2|x|; from 19.1 on the result is 1.
  Value e = expF64(b, b.mulf(b.clamp(a, 0.0, 22.0), -2.0), /*isBounded=*/true);
  Value one = b.f(1.0, x.getType());
  Value large = b.subf(one, b.divf(b.addf(e, e), b.addf(e, one)));
  large = b.copysign(large, x);
  return b.keepZero(x, b.select(b.cmpf(CmpF::OLT, a, 0.55), small, large));
}

/// e^|x| in f64.
static Value wideExp(MathBuilder &b, Value x) {
  Value wide = b.extf(b.clamp(b.absf(x), 0.0, 100.0), b.f64Like(x.getType()));
  return exp2Lite(b, b.mulf(wide, 1.4426950408889634074));
}

Value sinhF32(MathBuilder &b, Value x) {
  Type f64 = b.f64Like(x.getType());
  Value wide = b.extf(x, f64), z = b.mulf(wide, wide);
  // The Taylor series up to |x| = 1.
  Value p = b.poly(z, {1.66666666666666667e-01, 8.33333333333333333e-03, 1.98412698412698413e-04,
                       2.75573192239858907e-06, 2.50521083854417188e-08});
  Value small = b.fma(b.mulf(wide, z), p, wide);
  Value e = wideExp(b, x);
  Value large = b.mulf(b.subf(e, b.divf(b.f(1.0, f64), e)), 0.5);
  large = b.copysign(large, wide);
  Value result = b.select(b.cmpf(CmpF::OLT, b.absf(wide), 1.0), small, large);
  return b.keepZero(x, b.truncf(result, x.getType()));
}

Value coshF32(MathBuilder &b, Value x) {
  Type f64 = b.f64Like(x.getType());
  Value e = wideExp(b, x);
  return b.truncf(b.mulf(b.addf(e, b.divf(b.f(1.0, f64), e)), 0.5), x.getType());
}

Value erfF32(MathBuilder &b, Value x) {
  Value a = b.absf(x), z = b.mulf(x, x);
  Value p = b.poly(z, {1.283791661e-01, -3.761263490e-01, 1.128371954e-01, -2.686075307e-02, 5.204436369e-03,
                       -8.181929588e-04, 8.538839757e-05});
  Value small = b.fma(x, p, x);
  // log(erfc(a)) is smooth: 1 - exp of its polynomial. From 3.92 on the result is 1.
  Value limited = b.clamp(a, 0.0, 3.95);
  Value g = b.poly(limited, {1.663753501e-04, -1.129474640e+00, -6.334292293e-01, -1.081887558e-01, 2.505990677e-02,
                             -4.148301668e-03, 4.297355772e-04, -2.068393769e-05});
  Value large = b.copysign(b.subf(b.f(1.0, x.getType()), expF32(b, g, /*isBounded=*/true)), x);
  return b.keepZero(x, b.select(b.cmpf(CmpF::OLT, a, 0.9), small, large));
}

} // namespace millrace::lowering
