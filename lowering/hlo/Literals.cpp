// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Literals.cpp - Constants as HLO literals ---------------------------===//
// Input:   dense<[[1.0, 0x7FC00000], [-0.0, 0.1]]> : tensor<2x2xf32>
// Output:  { {1, nan}, {-0.0, 0.1} }
#include "lowering/hlo/Literals.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>
#include <cstring>

using namespace mlir;
using llvm::APFloat;
using llvm::APInt;

namespace millrace::hlo {

static double toDouble(APFloat value) {
  bool loses;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

/// As the parser does, through double. Neither way uses strtod or printf: their decimal point is that of the process's locale.
static bool readsBackAs(const char *text, const APFloat &value) {
  double number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  APFloat parsed(number);
  bool loses;
  parsed.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return parsed.bitwiseIsEqual(value);
}

static std::string nanText(const APFloat &value) {
  const llvm::fltSemantics &semantics = value.getSemantics();
  if (!APFloat::semanticsHasInf(semantics)) // one NaN, or in f8e4m3fn one of each sign
    return &semantics == &APFloat::Float8E4M3FN() && value.isNegative() ? "-nan" : "nan";
  unsigned mantissaBits = APFloat::semanticsPrecision(semantics) - 1;
  uint64_t payload = value.bitcastToAPInt().extractBitsAsZExtValue(mantissaBits, 0);
  std::string text = value.isNegative() ? "-nan" : "nan";
  if (payload == uint64_t(1) << (mantissaBits - 1))
    return text;
  return text + "(0x" + llvm::utohexstr(payload, /*LowerCase=*/true) + ")";
}

std::string floatText(const APFloat &value) {
  if (value.isNaN())
    return nanText(value);
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  char text[40] = {};
  char *const last = text + sizeof text - 1;
  double number = toDouble(value);
  if (&value.getSemantics() == &APFloat::IEEEdouble())
    *std::to_chars(text, last, number).ptr = 0;
  else if (&value.getSemantics() == &APFloat::IEEEsingle())
    *std::to_chars(text, last, static_cast<float>(number)).ptr = 0;
  else
    for (int digits = 1; digits == 1 || (digits < 17 && !readsBackAs(text, value)); ++digits)
      *std::to_chars(text, last, number, std::chars_format::general, digits).ptr = 0;
  if (!readsBackAs(text, value)) // rounding twice, through double, may differ from rounding once
    *std::to_chars(text, last, number, std::chars_format::general, 17).ptr = 0;
  // The parser takes what has neither point nor exponent for a 64-bit integer: no sign of zero, no large numbers.
  bool looksIntegral = StringRef(text).find_first_of(".e") == StringRef::npos;
  if (looksIntegral && (value.isNegZero() || std::fabs(number) >= 0x1p53))
    return std::string(text) + ".0";
  return text;
}

static std::string integerText(const APInt &value, Type type) {
  if (type.isInteger(1))
    return value.isZero() ? "0" : "1";
  return llvm::toString(value, 10, /*Signed=*/!type.isUnsignedInteger());
}

/// Writes the elements as nested braces; `element(i)` is the text of the i-th one in row-major order.
static void writeNested(ArrayRef<int64_t> sizes, size_t &next, llvm::function_ref<std::string(size_t)> element,
                        std::string &out) {
  if (sizes.empty()) {
    out += element(next++);
    return;
  }
  out += sizes.size() == 1 ? "{" : "{ ";
  for (int64_t i = 0; i < sizes.front(); ++i) {
    if (i)
      out += ", ";
    writeNested(sizes.drop_front(), next, element, out);
  }
  out += sizes.size() == 1 ? "}" : " }";
}

std::string literalText(DenseElementsAttr value) {
  Type type = value.getElementType();
  ArrayRef<int64_t> sizes = value.getType().getShape();
  if (type.isInteger(1) && sizes.empty())
    return value.getSplatValue<bool>() ? "true" : "false";
  std::string text;
  size_t next = 0;
  auto write = [&](auto values, auto toText) {
    auto begin = values.begin();
    writeNested(sizes, next, [&](size_t i) { return toText(*(begin + i)); }, text);
  };
  // Without elements there is no value to ask; what stays are the braces of the outer dimensions.
  if (value.getNumElements() == 0)
    writeNested(sizes, next, [](size_t) { return std::string(); }, text);
  else if (isa<FloatType>(type))
    write(value.getValues<APFloat>(), floatText);
  else if (isa<ComplexType>(type))
    write(value.getValues<std::complex<APFloat>>(), [](const std::complex<APFloat> &number) {
      return "(" + floatText(number.real()) + ", " + floatText(number.imag()) + ")";
    });
  else
    write(value.getValues<APInt>(), [&](const APInt &number) { return integerText(number, type); });
  return text;
}

DenseElementsAttr denseOf(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      bool isSplat;
      if (DenseElementsAttr::isValidRawBuffer(resource.getType(), blob->getData(), isSplat))
        return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
    }
  return {};
}

bool needsComplexParts(DenseElementsAttr value) {
  if (!isa<ComplexType>(value.getElementType()) || value.getNumElements() == 0)
    return false;
  auto hasLost = [](const std::complex<APFloat> &number) { return !number.real().isFinite() || !number.imag().isFinite(); };
  if (value.isSplat())
    return hasLost(value.getSplatValue<std::complex<APFloat>>());
  return llvm::any_of(value.getValues<std::complex<APFloat>>(), hasLost);
}

std::pair<DenseElementsAttr, DenseElementsAttr> complexParts(DenseElementsAttr value) {
  auto partType = cast<ComplexType>(value.getElementType()).getElementType();
  auto type = RankedTensorType::get(value.getType().getShape(), partType);
  SmallVector<APFloat> real, imag;
  for (const std::complex<APFloat> &number : value.getValues<std::complex<APFloat>>()) {
    real.push_back(number.real());
    imag.push_back(number.imag());
  }
  return {DenseElementsAttr::get(type, real), DenseElementsAttr::get(type, imag)};
}

} // namespace millrace::hlo
