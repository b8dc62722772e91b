// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarFloat.cpp - Arithmetic and functions of floats ---------------===//
// Input:   %r = stablehlo.logistic %a : tensor<f32> with an f32 scalar
// Output:  arith and math operations; lowering/cpu/math expands the functions
// Leaves alone operations on integers and complex numbers.
#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"
#include "passes/chlo/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace millrace::lowering {
namespace {

/// Computes 1 / (1 + exp(-x)) with exp of negative numbers only, which avoids overflow and cancellation on both sides.
Value emitLogistic(ScalarBuilder &b, Value x) {
  if (b.widthOf(x) == 16) // computed in f32 and rounded once
    return b.truncf(emitLogistic(b, b.extf(x, b.f32Like(x.getType()))), x.getType());
  Value one = b.f(1.0, x.getType());
  Value decay = math::ExpOp::create(b.builder, b.loc, b.negf(b.absf(x)));
  Value numerator = b.select(b.cmpf(CmpFPredicate::OLT, x, 0.0), decay, one);
  Value result = b.divf(numerator, b.addf(one, decay));
  return result;
}

/// Returns -1, 1, or the operand itself for zeros and NaN.
Value emitSign(ScalarBuilder &b, Value x) {
  Value unit = b.copysign(b.f(1.0, x.getType()), x);
  return b.select(b.cmpf(CmpFPredicate::UEQ, x, 0.0), x, unit);
}

} // namespace

Value emitFloatScalar(ScalarBuilder &b, const ScalarOp &op) {
  using namespace stablehlo;
  ValueRange v = op.operands;
  auto make = [&](auto tag) { return Value(decltype(tag)::create(b.builder, b.loc, v)); };
  auto flags = op.op->hasAttr(kMayFuseAttr) ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
  if (op.op->hasAttr(kSquareAttr))
    flags = flags | arith::FastMathFlags::afn;
  return TypeSwitch<Operation *, Value>(op.op)
      .Case<AddOp>([&](auto) { return Value(arith::AddFOp::create(b.builder, b.loc, v[0], v[1], flags)); })
      .Case<SubtractOp>([&](auto) { return b.subf(v[0], v[1]); })
      .Case<MulOp>([&](auto) { return Value(arith::MulFOp::create(b.builder, b.loc, v[0], v[1], flags)); })
      .Case<DivOp>([&](auto) { return b.divf(v[0], v[1]); })
      .Case<RemOp>([&](auto) { return Value(arith::RemFOp::create(b.builder, b.loc, v[0], v[1])); })
      .Case<PowOp>([&](auto) { return make(math::PowFOp()); })
      .Case<Atan2Op>([&](auto) { return make(math::Atan2Op()); })
      .Case<NegOp>([&](auto) { return b.negf(v[0]); })
      .Case<AbsOp>([&](auto) { return b.absf(v[0]); })
      .Case<SignOp>([&](auto) { return emitSign(b, v[0]); })
      .Case<CeilOp>([&](auto) { return make(math::CeilOp()); })
      .Case<FloorOp>([&](auto) { return make(math::FloorOp()); })
      .Case<RoundOp>([&](auto) { return make(math::RoundOp()); })
      .Case<RoundNearestEvenOp>([&](auto) { return make(math::RoundEvenOp()); })
      .Case<CbrtOp>([&](auto) { return make(math::CbrtOp()); })
      .Case<CosineOp>([&](auto) { return make(math::CosOp()); })
      .Case<ExpOp>([&](auto) { return make(math::ExpOp()); })
      .Case<Expm1Op>([&](auto) { return make(math::ExpM1Op()); })
      .Case<LogOp>([&](auto) { return make(math::LogOp()); })
      .Case<Log1pOp>([&](auto) { return make(math::Log1pOp()); })
      .Case<LogisticOp>([&](auto) { return emitLogistic(b, v[0]); })
      .Case<RsqrtOp>([&](auto) { return make(math::RsqrtOp()); })
      .Case<SineOp>([&](auto) { return make(math::SinOp()); })
      .Case<SqrtOp>([&](auto) { return make(math::SqrtOp()); })
      .Case<TanOp>([&](auto) { return make(math::TanOp()); })
      .Case<TanhOp>([&](auto) { return make(math::TanhOp()); })
      // real and imag of a real number.
      .Case<RealOp>([&](auto) { return v[0]; })
      .Case<ImagOp>([&](auto) { return b.f(0.0, v[0].getType()); })
      .Default([](Operation *) { return Value(); });
}

} // namespace millrace::lowering
