// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarConvert.cpp - Conversions of scalars -------------------------===//
// Input:   %r = stablehlo.convert %a : (tensor<f64>) -> tensor<bf16> with an f64 scalar
// Output:  arith operations that round once, to nearest even
// Rules: float to integer truncates and saturates, NaN becomes 0; anything to i1 is "not zero" (NaN is true); complex to real drops the imaginary
// part; reduce_precision flushes values that exceed its exponent's range to zero or infinity.
// There are no quantized types here, because stablehlo-legalize-quant-to-math has rewritten them.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"
#include "lowering/linalg/scalar/ScalarOps.h"
#include "lowering/linalg/scalar/SmallFloats.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace millrace::lowering {
namespace {

bool isUnsigned(Type type) { return type.isInteger(1) || type.isUnsignedInteger(); }

/// Converts `value` of float element type `from` to the compute type of float element type `to`.
Value floatToFloat(ScalarBuilder &b, Value value, Type to) {
  Type target = computeElementType(to);
  unsigned have = b.widthOf(value), want = b.widthOf(target);
  if (value.getType() == target && !(isSmallFloat(to) && have == 64))
    return value;
  bool viaOdd = have == 64 && (want < 32 || isSmallFloat(to));
  if (viaOdd)
    value = truncToOddF32(b, value);
  else if (have == 16)
    value = b.extf(value, b.builder.getF32Type());
  have = b.widthOf(value);
  return want > have ? b.extf(value, target) : want < have ? b.truncf(value, target) : value;
}

Value integerToFloat(ScalarBuilder &b, Value value, bool isUnsigned, Type to) {
  auto convert = [&](Value integer, Type type) {
    return isUnsigned ? b.uitofp(integer, type) : b.sitofp(integer, type);
  };
  Type target = computeElementType(to);
  unsigned width = b.widthOf(value);
  // Vector units convert lanes of 32 and 64 bits; other widths are converted through these.
  if (width < 32) {
    Type i32 = b.builder.getI32Type();
    value = isUnsigned ? b.extui(value, i32) : b.extsi(value, i32);
    isUnsigned = false;
  }
  if (b.widthOf(target) >= 32 && !isSmallFloat(to))
    return convert(value, target);
  if (width <= 16)
    return floatToFloat(b, convert(value, b.builder.getF32Type()), to);
  if (width == 64) {
    // From 2^53 on the low bits are combined to one sticky bit that f64 still holds, so that the value is not rounded twice.
    Type type = value.getType();
    Value low = b.andi(value, 0x7ff);
    Value sticky = b.select(b.cmpi(CmpIPredicate::ne, low, 0), b.i(0x400, type), b.i(0, type));
    Value collapsed = b.ori(b.subi(value, low), sticky);
    Value magnitude = value;
    if (!isUnsigned)
      magnitude = b.select(b.cmpi(CmpIPredicate::slt, value, 0), b.subi(b.i(0, type), value), value);
    value = b.select(b.cmpi(CmpIPredicate::uge, magnitude, int64_t(1) << 53), collapsed, value);
  }
  return floatToFloat(b, convert(value, b.builder.getF64Type()), to);
}

Value floatToInteger(ScalarBuilder &b, Value value, bool isUnsigned, unsigned width) {
  if (b.widthOf(value) < 32)
    value = b.extf(value, b.builder.getF32Type());
  Type type = value.getType(), target = b.builder.getIntegerType(width);
  // Both limits are numbers of the float type, so that the value is clamped there, in lanes of one width.
  if (width < 32 || (width == 32 && b.widthOf(value) == 64)) {
    double least = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1), most = std::ldexp(1.0, isUnsigned ? width : width - 1) - 1;
    value = b.select(b.cmpf(CmpFPredicate::OLT, value, least), b.f(least, type), value);
    value = b.select(b.cmpf(CmpFPredicate::OGT, value, most), b.f(most, type), value);
    value = b.select(b.isNan(value), b.f(0.0, type), value);
    if (width == 32)
      return isUnsigned ? b.fptoui(value, target) : b.fptosi(value, target);
    return b.trunci(b.fptosi(value, b.builder.getI32Type()), target);
  }
  Value above = b.f(std::ldexp(1.0, isUnsigned ? width : width - 1), type);
  Value below = b.f(isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1), type);
  Value tooLarge = b.cmpf(CmpFPredicate::OGE, value, above);
  Value tooSmall = b.cmpf(CmpFPredicate::OLT, value, below);
  Value isNan = b.isNan(value);
  Value safe = b.select(b.ori(b.ori(tooLarge, tooSmall), isNan), b.f(0.0, type), value);
  Value result = isUnsigned ? b.fptoui(safe, target) : b.fptosi(safe, target);
  llvm::APInt max = isUnsigned ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width);
  llvm::APInt min = isUnsigned ? llvm::APInt::getMinValue(width) : llvm::APInt::getSignedMinValue(width);
  result = b.select(tooLarge, b.i(max, target), result);
  return b.select(tooSmall, b.i(min, target), result);
}

/// Converts `value`, of stablehlo element type `from`, to the compute type of `to`.
Value emitConvert(ScalarBuilder &b, Value value, Type from, Type to) {
  if (auto complexFrom = dyn_cast<ComplexType>(from)) {
    Type part = complexFrom.getElementType();
    if (auto complexTo = dyn_cast<ComplexType>(to))
      return b.complex(floatToFloat(b, b.re(value), complexTo.getElementType()),
                       floatToFloat(b, b.im(value), complexTo.getElementType()));
    if (to.isInteger(1))
      return b.ori(b.cmpf(CmpFPredicate::UNE, b.re(value), 0.0), b.cmpf(CmpFPredicate::UNE, b.im(value), 0.0));
    return emitConvert(b, b.re(value), part, to);
  }
  if (auto complexTo = dyn_cast<ComplexType>(to)) {
    Type part = complexTo.getElementType();
    return b.complex(emitConvert(b, value, from, part), b.f(0.0, part));
  }
  if (isa<FloatType>(from)) {
    if (isa<FloatType>(to))
      return floatToFloat(b, value, to);
    if (to.isInteger(1))
      return b.cmpf(CmpFPredicate::UNE, value, 0.0);
    return floatToInteger(b, value, to.isUnsignedInteger(), to.getIntOrFloatBitWidth());
  }
  if (isa<FloatType>(to))
    return integerToFloat(b, value, isUnsigned(from), to);
  if (to.isInteger(1))
    return b.cmpi(CmpIPredicate::ne, value, 0);
  Type target = computeElementType(to);
  unsigned have = b.widthOf(value), want = b.widthOf(target);
  if (want > have)
    return isUnsigned(from) ? b.extui(value, target) : b.extsi(value, target);
  return want < have ? b.trunci(value, target) : value;
}

/// Rounds the magnitude in `bits`, a float of `mantissa` stored significand bits and bias `bias`.
Value emitReducePrecision(ScalarBuilder &b, Value bits, unsigned width, unsigned mantissa, int bias, int64_t infinity,
                          unsigned toExponent, unsigned toMantissa) {
  Type type = bits.getType();
  unsigned exponent = width - 1 - mantissa;
  Value result = bits;
  if (toMantissa < mantissa) {
    unsigned dropped = mantissa - toMantissa;
    Value odd = b.andi(b.shrui(result, dropped), 1);
    result = b.addi(b.addi(result, odd), (int64_t(1) << (dropped - 1)) - 1);
    result = b.andi(result, -(int64_t(1) << dropped));
  }
  if (toExponent < exponent) {
    int64_t exponentMask = ((int64_t(1) << exponent) - 1) << mantissa;
    int toBias = (1 << (toExponent - 1)) - 1;
    Value sign = b.andi(bits, int64_t(1) << (width - 1));
    Value field = b.andi(result, exponentMask);
    Value overflows = b.cmpi(CmpIPredicate::ugt, field, int64_t(bias + toBias) << mantissa);
    Value underflows = b.cmpi(CmpIPredicate::ule, field, int64_t(bias - toBias) << mantissa);
    result = b.select(overflows, b.ori(sign, b.i(infinity, type)), result);
    result = b.select(underflows, sign, result);
  }
  return result;
}

Value emitReducePrecision(ScalarBuilder &b, Value value, Type element, unsigned toExponent, unsigned toMantissa) {
  auto type = cast<FloatType>(element);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (!llvm::APFloat::semanticsHasSignedRepr(semantics))
    return value; // f8E8M0FNU has no mantissa to round
  unsigned width = type.getWidth(), mantissa = llvm::APFloat::semanticsPrecision(semantics) - 1;
  int bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
  llvm::APFloat top = llvm::APFloat::semanticsHasInf(semantics)   ? llvm::APFloat::getInf(semantics)
                      : llvm::APFloat::semanticsHasNaN(semantics) ? llvm::APFloat::getQNaN(semantics)
                                                                  : llvm::APFloat::getLargest(semantics);
  int64_t infinity = top.bitcastToAPInt().getZExtValue();
  if (isSmallFloat(element)) {
    Type i32 = b.builder.getI32Type();
    Value bits = b.extui(encodeSmallFloat(b, value, type), i32);
    bits = emitReducePrecision(b, bits, width, mantissa, bias, infinity, toExponent, toMantissa);
    Value rounded = decodeSmallFloat(b, b.trunci(bits, b.builder.getI8Type()), type);
    return b.select(b.isNan(value), value, rounded);
  }
  Value bits = emitReducePrecision(b, b.bits(value), width, mantissa, bias, infinity, toExponent, toMantissa);
  return b.select(b.isNan(value), value, b.bitcast(bits, value.getType()));
}

} // namespace

Value convertScalar(ScalarBuilder &b, Value value, Type from, Type to) { return emitConvert(b, value, from, to); }

Value toBits(ScalarBuilder &b, Value compute, Type elementType) {
  if (isSmallFloat(elementType)) {
    auto type = cast<FloatType>(elementType);
    return b.trunci(encodeSmallFloat(b, compute, type), b.builder.getIntegerType(type.getWidth()));
  }
  return isa<FloatType>(elementType) ? b.bits(compute) : compute;
}

Value fromBits(ScalarBuilder &b, Value bits, Type elementType) {
  if (isSmallFloat(elementType))
    return decodeSmallFloat(b, b.extui(bits, b.builder.getI8Type()), cast<FloatType>(elementType));
  return isa<FloatType>(elementType) ? b.bitcast(bits, elementType) : bits;
}

Value emitConvertScalar(ScalarBuilder &b, const ScalarOp &op) {
  using namespace stablehlo;
  Value value = op.operands[0];
  return TypeSwitch<Operation *, Value>(op.op)
      .Case<ConvertOp>([&](auto) {
        if (isa<quant::QuantizedType>(op.operandElement) || isa<quant::QuantizedType>(op.resultElement))
          return Value();
        return emitConvert(b, value, op.operandElement, op.resultElement);
      })
      .Case<BitcastConvertOp>([&](auto) -> Value {
        if (op.operandElement == op.resultElement)
          return value;
        if (!op.operandElement.isIntOrFloat() || !op.resultElement.isIntOrFloat() ||
            op.operandElement.getIntOrFloatBitWidth() != op.resultElement.getIntOrFloatBitWidth())
          return {};
        return fromBits(b, toBits(b, value, op.operandElement), op.resultElement);
      })
      .Case<ReducePrecisionOp>([&](ReducePrecisionOp reduce) {
        return emitReducePrecision(b, value, op.operandElement, reduce.getExponentBits(), reduce.getMantissaBits());
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace millrace::lowering
