// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Conversions.cpp - convert, bitcast_convert, reduce_precision -------===//
#include "dialects/stablehlo/eval/Interpreter.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace millrace::eval {

/// Converts every value through one of the lane types: integers to floats with one rounding (64-bit integers are exact in long double), floats to
/// integers by truncation that saturates, with 0 for NaN. The conversion to i1 tests for nonzero.
Tensor convertTo(const Tensor &x, RankedTensorType type) {
  Tensor result(type);
  Kind from = x.kind(), to = result.kind();
  if (from == to) return x.withType(type);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  for (int64_t i = 0, e = x.size(); i < e; ++i, out += width) {
    if (isInteger(from)) {
      int64_t value = x.getInt(i);
      long double exact = isUnsigned(from) ? static_cast<long double>(static_cast<uint64_t>(value))
                                           : static_cast<long double>(value);
      if (to == Kind::I1) storeInt(to, out, value != 0);
      else if (isInteger(to)) storeInt(to, out, value);
      else if (isFloat(to)) storeLongFloat(to, out, exact);
      else storeLongFloat(partOf(to), out, exact);
      continue;
    }
    Complex value = isFloat(from) ? Complex(x.getFloat(i), 0) : x.getComplex(i);
    if (to == Kind::I1) storeInt(to, out, isFloat(from) ? value.real() != 0 : value != Complex(0));
    else if (isInteger(to)) storeInt(to, out, floatToInt(to, value.real()));
    else if (isFloat(to)) storeFloat(to, out, value.real());
    else storeComplex(to, out, value);
  }
  return result;
}

static llvm::Error evalConvert(Call &call) {
  call.push(convertTo(call.in(0), call.typeWith(call.in(0).getShape())));
  return llvm::Error::success();
}

/// Reinterprets the bits as a stream: element after element, least significant bit first.
static llvm::Error evalBitcastConvert(Call &call) {
  const Tensor &x = call.in(0);
  Type elementType = call.resultElementType();
  Kind from = x.kind(), to = *kindOf(elementType);
  unsigned fromBits = bitWidth(from), toBits = bitWidth(to);
  Shape shape(x.getShape());
  if (fromBits > toBits) {
    if (fromBits % toBits) return call.error("expects bit widths that divide each other");
    shape.push_back(fromBits / toBits);
  } else if (fromBits < toBits) {
    if (shape.empty() || shape.back() * fromBits != toBits)
      return call.error("expects a last dimension of size " + llvm::Twine(toBits / fromBits));
    shape.pop_back();
  }
  if (llvm::Error error = checkSize(call, shape, elementType)) return error;
  RankedTensorType type = call.typeWith(shape);
  if (fromBits == toBits) {
    Tensor result = x.withType(type);
    // The padding of sub-byte elements follows the new type's signedness.
    if (toBits < 8 && isInteger(to)) {
      Ints lanes(x.size());
      for (int64_t i = 0; i < x.size(); ++i) lanes[i] = wrapInt(to, static_cast<uint8_t>(*x.at(i)));
      result = Tensor::ofInts(type, lanes);
    } else if (toBits < 8) {
      char *p = result.mutableData();
      for (int64_t i = 0; i < x.size(); ++i) p[i] &= (1 << toBits) - 1;
    }
    call.push(std::move(result));
    return llvm::Error::success();
  }
  Tensor result(type);
  char *out = result.mutableData();
  int64_t total = result.size() * toBits;
  for (int64_t bit = 0; bit < total; ++bit) {
    int64_t fromElement = bit / fromBits, fromBit = bit % fromBits, toElement = bit / toBits, toBit = bit % toBits;
    bool set = (x.at(fromElement)[fromBit / 8] >> (fromBit % 8)) & 1;
    if (set) out[toElement * result.elementBytes() + toBit / 8] |= static_cast<char>(1 << (toBit % 8));
  }
  if (isInteger(to) && toBits < 8)
    for (int64_t i = 0; i < result.size(); ++i) storeInt(to, out + i, loadInt(to, out + i));
  call.push(std::move(result));
  return llvm::Error::success();
}

/// Rounds the significand to `mantissaBits` (to nearest even), then clamps the exponent: an overflow gives infinity, a subnormal result gives zero.
/// Works on the IEEE bits; NaN stays.
static uint64_t reducePrecision(uint64_t x, unsigned width, unsigned mantissa, unsigned exponentBits,
                                unsigned mantissaBits) {
  unsigned exponent = width - 1 - mantissa;
  uint64_t signMask = uint64_t(1) << (width - 1), exponentMask = ((uint64_t(1) << exponent) - 1) << mantissa;
  uint64_t original = x;
  if ((x & exponentMask) == exponentMask && (x & ((uint64_t(1) << mantissa) - 1))) {
    // A significand without bits cannot represent NaN.
    return mantissaBits > 0 ? original : (x & (signMask | exponentMask));
  }
  if (mantissaBits < mantissa) {
    uint64_t last = uint64_t(1) << (mantissa - mantissaBits);
    uint64_t bias = (last >> 1) - 1 + ((x & last) ? 1 : 0);
    x = (x + bias) & ~(last - 1);
  }
  if (exponentBits < exponent) {
    uint64_t sourceBias = (uint64_t(1) << (exponent - 1)) - 1, bias = (uint64_t(1) << (exponentBits - 1)) - 1;
    uint64_t field = x & exponentMask;
    if (field > ((sourceBias + bias) << mantissa)) x = (x & signMask) | exponentMask;
    else if (field <= ((sourceBias - bias) << mantissa)) x = x & signMask;
  }
  return x;
}

static llvm::Error evalReducePrecision(Call &call) {
  const Tensor &x = call.in(0);
  auto exponentBits = static_cast<unsigned>(call.op->getAttrOfType<IntegerAttr>("exponent_bits").getInt());
  auto mantissaBits = static_cast<unsigned>(call.op->getAttrOfType<IntegerAttr>("mantissa_bits").getInt());
  if (exponentBits < 1) return call.error("expects exponent_bits >= 1");
  RankedTensorType type = call.typeWith(x.getShape());
  Kind kind = x.kind();
  Tensor result(type);
  char *out = result.mutableData();
  unsigned width = x.elementBytes();
  for (int64_t i = 0, e = x.size(); i < e; ++i) {
    if (kind == Kind::F64 || kind == Kind::F32 || kind == Kind::F16 || kind == Kind::BF16) {
      unsigned mantissa = kind == Kind::F64 ? 52 : kind == Kind::F32 ? 23 : formatOf(kind)->mantissa;
      uint64_t bits = 0;
      std::memcpy(&bits, x.at(i), width);
      bits = reducePrecision(bits, 8 * width, mantissa, exponentBits, mantissaBits);
      std::memcpy(out + i * width, &bits, width);
    } else {
      // All values of narrow formats are values of f32.
      uint32_t bits = llvm::bit_cast<uint32_t>(static_cast<float>(x.getFloat(i)));
      auto reduced = static_cast<uint32_t>(reducePrecision(bits, 32, 23, exponentBits, mantissaBits));
      storeFloat(kind, out + i * width, llvm::bit_cast<float>(reduced));
    }
  }
  call.push(std::move(result));
  return llvm::Error::success();
}

void addConversions(Dispatch &dispatch) {
  dispatch.add("stablehlo.convert", evalConvert, Quantization::Expressed);
  dispatch.add("stablehlo.bitcast_convert", evalBitcastConvert);
  dispatch.add("stablehlo.reduce_precision", evalReducePrecision, Quantization::Expressed);
}

} // namespace millrace::eval
