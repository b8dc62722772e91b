// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shapes.cpp - Types as HLO shapes -----------------------------------===//
// Input:   tensor<?x3xi1, #stablehlo.bounds<4, ?>>
// Output:  pred[<=4,3]{1,0}
#include "lowering/hlo/Shapes.h"

#include "dialects/stablehlo/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::hlo {

std::string elementText(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (integer.isInteger(1))
      return "pred";
    return (integer.isUnsigned() ? "u" : "s") + std::to_string(integer.getWidth());
  }
  if (auto complex = dyn_cast<ComplexType>(element)) {
    if (complex.getElementType().isF32())
      return "c64";
    return complex.getElementType().isF64() ? "c128" : "";
  }
  if (isa<FloatType>(element)) {
    // MLIR's keywords but for the capitals: f8E4M3FN is f8e4m3fn.
    std::string keyword;
    llvm::raw_string_ostream os(keyword);
    element.print(os);
    return StringRef(keyword).lower();
  }
  return "";
}

/// `{1,0}`, or nothing for a scalar.
static std::string layoutText(int64_t rank, Attribute layout) {
  SmallVector<int64_t> order;
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(layout)) {
    for (const APInt &d : dense.getValues<APInt>())
      order.push_back(d.getSExtValue());
  } else if (auto array = dyn_cast_or_null<ArrayAttr>(layout)) {
    for (Attribute d : array)
      order.push_back(cast<IntegerAttr>(d).getInt());
  } else {
    for (int64_t d = rank; d-- > 0;)
      order.push_back(d);
  }
  if (order.empty())
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleave(order, os, ",");
  os << '}';
  return text;
}

static std::string arrayText(RankedTensorType type, Attribute layout) {
  std::string element = elementText(type.getElementType());
  if (element.empty())
    return "";
  auto extensions = dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(type.getEncoding());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << element << '[';
  llvm::interleave(
      llvm::seq<int64_t>(0, type.getRank()), os,
      [&](int64_t d) {
        if (!type.isDynamicDim(d))
          os << type.getDimSize(d);
        else if (extensions && !ShapedType::isDynamic(extensions.getBounds()[d]))
          os << "<=" << extensions.getBounds()[d];
        else
          os << '?';
      },
      ",");
  os << ']' << layoutText(type.getRank(), layout);
  return text;
}

std::string shapeText(Type type, Attribute layout) {
  if (isa<stablehlo::TokenType>(type))
    return "token[]";
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return arrayText(tensor, layout);
  if (auto buffer = dyn_cast<MemRefType>(type)) {
    std::string array = arrayText(RankedTensorType::get(buffer.getShape(), buffer.getElementType()), layout);
    return array.empty() ? "" : "b(" + array + ")";
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    SmallVector<std::string> parts;
    for (Type part : tuple.getTypes()) {
      parts.push_back(shapeText(part));
      if (parts.back().empty())
        return "";
    }
    return tupleText(parts);
  }
  return "";
}

std::string shapeText(TypeRange types) {
  if (types.size() == 1)
    return shapeText(types.front());
  SmallVector<std::string> parts;
  for (Type type : types)
    parts.push_back(shapeText(type));
  return tupleText(parts);
}

std::string shapeText(ArrayRef<int64_t> sizes, Type element) {
  return shapeText(RankedTensorType::get(sizes, element));
}

std::string tupleText(ArrayRef<std::string> shapes) { return "(" + llvm::join(shapes, ", ") + ")"; }

} // namespace millrace::hlo
