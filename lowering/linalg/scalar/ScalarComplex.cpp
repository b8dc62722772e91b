// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarComplex.cpp - Arithmetic and functions of complex numbers ----===//
// Input:   %r = stablehlo.multiply %a, %b : tensor<complex<f32>> with complex<f32> scalars
// Output:  arithmetic on the parts. Functions and division become operations of the complex dialect, which lowering/cpu/math converts to calls of the
//          runtime; cbrt and logistic, which that dialect lacks, and log become calls at once.
// Leaves alone comparisons, min/max, select and conversions, which are in their own files.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ComplexCalls.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace millrace::lowering {
namespace {

/// Returns (ac - bd) + (ad + bc)i with each product rounded, as all other implementations do.
Value emitMul(ScalarBuilder &b, Value x, Value y) {
  Value a = b.re(x), bi = b.im(x), c = b.re(y), d = b.im(y);
  return b.complex(b.subf(b.mulf(a, c), b.mulf(bi, d)), b.addf(b.mulf(a, d), b.mulf(bi, c)));
}

/// Returns x / |x|; zeros and NaN are returned unchanged.
Value emitSign(ScalarBuilder &b, Value x) {
  Value magnitude = complex::AbsOp::create(b.builder, b.loc, x);
  Value isZero = b.cmpf(CmpFPredicate::OEQ, magnitude, 0.0);
  Value unit = b.complex(b.divf(b.re(x), magnitude), b.divf(b.im(x), magnitude));
  return b.select(isZero, x, unit);
}

/// Returns log|x| and the angle. The square of |x| is the rounded sum of two squares that are exact in f64, plus the rounding error of the sum, which
/// matters if the sum is close to one.
Value emitLogF32(ScalarBuilder &b, Value x) {
  Type f32 = b.builder.getF32Type(), f64 = b.builder.getF64Type();
  Value re = b.absf(b.extf(b.re(x), f64)), im = b.absf(b.extf(b.im(x), f64));
  Value isLarger = b.cmpf(CmpFPredicate::OGT, re, im);
  Value large = b.select(isLarger, re, im), small = b.select(isLarger, im, re);
  Value first = b.mulf(large, large), second = b.mulf(small, small);
  Value sum = b.addf(first, second), lost = b.subf(second, b.subf(sum, first));
  Value inf = b.inf(f64), zero = b.f(0.0, f64);
  Value isUsual = b.andi(b.cmpf(CmpFPredicate::OGT, sum, zero), b.cmpf(CmpFPredicate::OLT, sum, inf));
  Value more = b.select(isUsual, b.divf(lost, sum), zero);
  Value magnitude = b.mulf(b.addf(math::LogOp::create(b.builder, b.loc, sum), more), b.f(0.5, f64));
  // The result is infinite even if the other part is NaN.
  Value isInf = b.ori(b.cmpf(CmpFPredicate::OEQ, re, inf), b.cmpf(CmpFPredicate::OEQ, im, inf));
  return b.complex(b.truncf(b.select(isInf, inf, magnitude), f32), math::Atan2Op::create(b.builder, b.loc, b.im(x), b.re(x)));
}

/// complex.log is not used, because MLIR folds it with complex.exp, although log(exp(z)) is z only up to a multiple of 2 pi i.
Value emitLog(ScalarBuilder &b, Value x) {
  if (cast<ComplexType>(x.getType()).getElementType().isF32())
    return emitLogF32(b, x);
  if (Value result = emitComplexCall(b, "log", x))
    return result;
  return complex::LogOp::create(b.builder, b.loc, x); // the region is not in a module yet
}

} // namespace

Value emitComplexScalar(ScalarBuilder &b, const ScalarOp &op) {
  using namespace stablehlo;
  ValueRange v = op.operands;
  auto make = [&](auto tag) { return Value(decltype(tag)::create(b.builder, b.loc, v)); };
  return TypeSwitch<Operation *, Value>(op.op)
      .Case<AddOp>([&](auto) { return b.complex(b.addf(b.re(v[0]), b.re(v[1])), b.addf(b.im(v[0]), b.im(v[1]))); })
      .Case<SubtractOp>([&](auto) { return b.complex(b.subf(b.re(v[0]), b.re(v[1])), b.subf(b.im(v[0]), b.im(v[1]))); })
      .Case<MulOp>([&](auto) { return emitMul(b, v[0], v[1]); })
      .Case<DivOp>([&](auto) { return make(complex::DivOp()); })
      .Case<PowOp>([&](auto) { return make(complex::PowOp()); })
      .Case<Atan2Op>([&](auto) { return emitComplexCall(b, "atan2", v); })
      .Case<NegOp>([&](auto) { return b.complex(b.negf(b.re(v[0])), b.negf(b.im(v[0]))); })
      .Case<AbsOp>([&](auto) { return make(complex::AbsOp()); })
      .Case<SignOp>([&](auto) { return emitSign(b, v[0]); })
      .Case<RealOp>([&](auto) { return b.re(v[0]); })
      .Case<ImagOp>([&](auto) { return b.im(v[0]); })
      .Case<ComplexOp>([&](auto) { return b.complex(v[0], v[1]); })
      .Case<CbrtOp>([&](auto) { return emitComplexCall(b, "cbrt", v); })
      .Case<CosineOp>([&](auto) { return make(complex::CosOp()); })
      .Case<ExpOp>([&](auto) { return make(complex::ExpOp()); })
      .Case<Expm1Op>([&](auto) { return make(complex::Expm1Op()); })
      .Case<LogOp>([&](auto) { return emitLog(b, v[0]); })
      .Case<Log1pOp>([&](auto) { return make(complex::Log1pOp()); })
      .Case<LogisticOp>([&](auto) { return emitComplexCall(b, "logistic", v); })
      .Case<RsqrtOp>([&](auto) { return make(complex::RsqrtOp()); })
      .Case<SineOp>([&](auto) { return make(complex::SinOp()); })
      .Case<SqrtOp>([&](auto) { return make(complex::SqrtOp()); })
      .Case<TanOp>([&](auto) { return make(complex::TanOp()); })
      .Case<TanhOp>([&](auto) { return make(complex::TanhOp()); })
      .Default([](Operation *) { return Value(); });
}

} // namespace millrace::lowering
