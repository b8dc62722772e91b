// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MathBuilder.h - Polynomials and exponents on lanes -----------------===//
// What the expansions of mathematical functions share. All of it works on scalars and on vectors of f32 or f64.
#pragma once

#include "lowering/linalg/scalar/ScalarBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace millrace::lowering {

class MathBuilder : public ScalarBuilder {
public:
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, bool avx512 = false) : ScalarBuilder(builder, loc), avx512(avx512) {}
  using CmpF = mlir::arith::CmpFPredicate;
  using CmpI = mlir::arith::CmpIPredicate;

  /// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
  Value poly(Value x, llvm::ArrayRef<double> c) {
    Value sum = f(c.back(), x.getType());
    for (double next : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, f(next, x.getType()));
    return sum;
  }
  Value mulf(Value a, double c) { return ScalarBuilder::mulf(a, f(c, a.getType())); }
  Value addf(Value a, double c) { return ScalarBuilder::addf(a, f(c, a.getType())); }
  Value subf(Value a, double c) { return ScalarBuilder::subf(a, f(c, a.getType())); }
  Value fma(Value a, double c, Value d) { return ScalarBuilder::fma(a, f(c, a.getType()), d); }
  using ScalarBuilder::addf;
  using ScalarBuilder::fma;
  using ScalarBuilder::mulf;
  using ScalarBuilder::subf;
  Value floor(Value a) { return mlir::math::FloorOp::create(builder, loc, a); }

  /// a limited to [low, high]; NaN stays.
  Value clamp(Value a, double low, double high) {
    a = select(cmpf(CmpF::OLT, a, low), f(low, a.getType()), a);
    return select(cmpf(CmpF::OGT, a, high), f(high, a.getType()), a);
  }
  bool isF64(Value a) { return widthOf(a) == 64; }
  unsigned mantissaBits(Value a) { return isF64(a) ? 52 : 23; }

  /// `a` rounded to the nearest integer, as float and as the integer of the same width. |a| < 2^22 (f32), 2^51 (f64): the
  /// sum with 1.5 * 2^mantissa has the integer in its low bits. No conversion instruction, defined for NaN.
  struct Rounded {
    Value number, integer;
  };
  Rounded round(Value a) { return roundShifted(addf(a, magic(a)), a.getType()); }
  /// The same for a * c.
  Rounded roundProduct(Value a, double c) {
    return roundShifted(fma(a, c, f(magic(a), a.getType())), a.getType());
  }

  /// The nearest integer to a * c as float; |a * c| as above.
  Value round(Value a, double c) { return subf(fma(a, c, f(magic(a), a.getType())), magic(a)); }

  /// a * c rounded to the nearest integer, as float, and that integer plus `times` the exponent's bias, in the low bits of an integer: what
  /// lies above them is shifted out when an exponent is made of it. |a * c| < 2^21 (f32), 2^50 (f64); or above that, which gives `most`, a NaN
  /// any number (f32 only).
  struct Biased {
    Value number, bits;
  };
  Biased roundProductBiased(Value a, double c, int times, std::optional<int> most = std::nullopt) {
    double shift = magic(a) + times * (isF64(a) ? 1023 : 127);
    Value sum = fma(a, c, f(shift, a.getType())), rounded = bits(sum);
    if (most) { // Positive floats are in the order of their bits, which other parts of the core compare than those that multiply.
      Value limit = i(llvm::bit_cast<uint32_t>(float(shift + *most)), rounded.getType());
      rounded = mlir::arith::MinSIOp::create(builder, loc, rounded, limit);
      sum = bitcast(rounded, a.getType());
    }
    return {subf(sum, shift), rounded};
  }
  /// 2^n of the `bits` of roundProductBiased(.., 1), for n in the range of normal numbers.
  Value pow2Biased(Value biased) {
    bool wide = widthOf(biased) == 64;
    return bitcast(shli(biased, wide ? 52 : 23), wide ? f64Like(biased.getType()) : f32Like(biased.getType()));
  }
  /// a * 2^n of the `bits` of roundProductBiased(.., 2), for |n| up to twice the normal range, rounded once at the end.
  Value scaleBiased(Value a, Value biased) {
    Value half = shrui(biased, 1);
    return ScalarBuilder::mulf(ScalarBuilder::mulf(a, pow2Biased(half)), pow2Biased(subi(biased, half)));
  }

  /// Whether there is an instruction for scale(): for vectors of 512 bits.
  bool canScale(Type type) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    if (!avx512 || !vector || vector.getRank() != 1)
      return false;
    Type element = vector.getElementType();
    return (element.isF32() && vector.getNumElements() == 16) || (element.isF64() && vector.getNumElements() == 8);
  }
  /// a * 2^n, rounded once, for any integer n that is a float, in the lanes of `mask`; 0 in others.
  Value scale(Value a, Value n, Value mask) {
    int64_t lanes = mlir::cast<mlir::VectorType>(a.getType()).getNumElements();
    Type bits = builder.getIntegerType(unsigned(lanes));
    Value chosen = mlir::vector::BitCastOp::create(builder, loc, mlir::VectorType::get({1}, bits), mask);
    chosen = mlir::vector::ExtractOp::create(builder, loc, chosen, int64_t(0));
    Value currentRounding = i(4, builder.getI32Type());
    auto name = builder.getStringAttr(lanes == 16 ? "llvm.x86.avx512.mask.scalef.ps.512" : "llvm.x86.avx512.mask.scalef.pd.512");
    return mlir::LLVM::CallIntrinsicOp::create(builder, loc, a.getType(), name, mlir::ValueRange{a, n, f(0.0, a.getType()), chosen, currentRounding})
        .getResult(0);
  }

  /// Whether roughly() has instructions.
  bool canGuess(Type type) const { return canScale(type) && mlir::getElementTypeOrSelf(type).isF32(); }
  /// What the processor's instruction "rcp14" (1 / a) or "rsqrt14" (1 / sqrt(a)) computes: right to 2^-14, zeros, infinities, NaN exactly.
  Value roughly(llvm::StringRef what, Value a) {
    auto name = builder.getStringAttr("llvm.x86.avx512." + what + ".ps.512");
    return mlir::LLVM::CallIntrinsicOp::create(builder, loc, a.getType(), name, mlir::ValueRange{a, a, i(-1, builder.getI16Type())}).getResult(0);
  }

  /// |a| = significand * 2^exponent of any number where canScale(): significand in [sqrt(1/2), sqrt(2)), NaN below zero; exponent a float. Of
  /// 0 and infinity the significand is 1, the exponent infinite.
  struct Scaled {
    Value significand, exponent;
  };
  Scaled splitAny(Value a) {
    auto [significand, exponent] = splitAbove1(a, /*ofMagnitude=*/false);
    Value isHigh = cmpf(CmpF::OGT, significand, 1.4142135623730951);
    return {select(isHigh, mulf(significand, 0.5), significand), select(isHigh, addf(exponent, 1.0), exponent)};
  }
  /// The same with a significand in [1, 2), below zero NaN or, `ofMagnitude`, that of |a|.
  Scaled splitAbove1(Value a, bool ofMagnitude) {
    Type type = a.getType();
    int64_t lanes = mlir::cast<mlir::VectorType>(type).getNumElements();
    std::string suffix = lanes == 16 ? ".ps.512" : ".pd.512";
    Value zero = f(0.0, type), all = i(-1, builder.getIntegerType(unsigned(lanes))), currentRounding = i(4, builder.getI32Type());
    auto call = [&](llvm::StringRef name, mlir::ValueRange operands) {
      auto intrinsic = builder.getStringAttr("llvm.x86.avx512.mask." + name.str() + suffix);
      return mlir::LLVM::CallIntrinsicOp::create(builder, loc, type, intrinsic, operands).getResult(0);
    };
    Value exponent = call("getexp", {a, zero, all, currentRounding});
    Value sign = i(ofMagnitude ? 0b0100 : 0b1100, builder.getI32Type());
    return {call("getmant", {a, sign, zero, all, currentRounding}), exponent};
  }
  /// The number of a table of 16 or 32 that the low bits of `index` tell, for 16 lanes where canScale().
  Value lookUp(llvm::ArrayRef<float> table, Value index) {
    auto type = mlir::VectorType::get({16}, builder.getF32Type());
    auto part = [&](llvm::ArrayRef<float> numbers) -> Value {
      return mlir::arith::ConstantOp::create(builder, loc, mlir::DenseElementsAttr::get(type, numbers));
    };
    bool isLong = table.size() == 32;
    assert((isLong || table.size() == 16) && "one or two registers");
    auto name = builder.getStringAttr(isLong ? "llvm.x86.avx512.vpermi2var.ps.512" : "llvm.x86.avx512.permvar.sf.512");
    llvm::SmallVector<Value> operands{part(table.take_front(16)), index};
    if (isLong)
      operands.push_back(part(table.drop_front(16)));
    return mlir::LLVM::CallIntrinsicOp::create(builder, loc, type, name, operands).getResult(0);
  }

  /// 2^n as a float as wide as the integer n, for n in the range of normal numbers.
  Value pow2(Value n) {
    bool wide = widthOf(n) == 64;
    Value bits = shli(addi(n, wide ? 1023 : 127), wide ? 52 : 23);
    return bitcast(bits, wide ? f64Like(n.getType()) : f32Like(n.getType()));
  }
  /// a = significand * 2^exponent with significand in [sqrt(1/2), sqrt(2)), for normal positive a.
  struct Parts {
    Value significand, exponent; // a float, an integer of the same width
  };
  Parts split(Value a) {
    Value bits = this->bits(a);
    Value exponent = isF64(a) ? shrsi(subi(bits, 0x3fe6a09e667f3bcd), 52) : shrsi(subi(bits, 0x3f3504f3), 23);
    Value significand = subi(bits, shli(exponent, mantissaBits(a)));
    return {bitcast(significand, a.getType()), exponent};
  }
  /// `x` where it is zero, which keeps the sign of zero, else `result`.
  Value keepZero(Value x, Value result) { return select(cmpf(CmpF::OEQ, x, 0.0), x, result); }

private:
  bool avx512;
  double magic(Value a) { return isF64(a) ? 0x1.8p52 : 0x1.8p23; }
  Rounded roundShifted(Value sum, Type type) {
    Value magicValue = f(magic(sum), type);
    return {subf(sum, magicValue), subi(bits(sum), bits(magicValue))};
  }
};

} // namespace millrace::lowering
