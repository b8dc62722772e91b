// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoValues.cpp - Shapes, constants and shardings as XLA's messages ===//
#include "lowering/hlo/ProtoValues.h"

#include "lowering/hlo/ProtoScanner.h"
#include "runtime/base/Proto.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstdlib>
#include <limits>

using namespace llvm;

namespace millrace::hlo {
namespace {

namespace proto = runtime::proto;
using runtime::Status;
using runtime::StatusOr;

/// Fact: TUPLE of XLA's enum PrimitiveType.
constexpr uint32_t kTuple = 13;
/// Fact: OPAQUE_TYPE of XLA's enum PrimitiveType.
constexpr uint32_t kOpaque = 14;
/// Fact: TOKEN of XLA's enum PrimitiveType.
constexpr uint32_t kToken = 17;
/// Fact: BUFFER of XLA's enum PrimitiveType.
constexpr uint32_t kBuffer = 34;

struct ElementType {
  StringRef name;
  uint32_t number;       ///< of enum PrimitiveType
  uint32_t literalField; ///< of LiteralProto
  unsigned bits;
  const fltSemantics *(*semantics)() = nullptr; ///< null: integers
  /// Of LiteralProto's field: integers one by one, numbers of float or double, or the memory of all elements.
  enum class Form { Varints, Reals, Memory } form = Form::Memory;
  bool isComplex = false;
};

template <const fltSemantics &(*make)()> const fltSemantics *semanticsOf() { return &make(); }

const ElementType *elementTypeOf(StringRef name) {
  using Form = ElementType::Form;
  static const ElementType all[] = {
      {"pred", 1, 2, 1, nullptr, Form::Varints},
      {"s1", 30, 30, 1},
      {"s2", 26, 26, 2},
      {"s4", 21, 21, 4},
      {"s8", 2, 15, 8},
      {"s16", 3, 17, 16},
      {"s32", 4, 4, 32, nullptr, Form::Varints},
      {"s64", 5, 5, 64, nullptr, Form::Varints},
      {"u1", 31, 31, 1},
      {"u2", 27, 27, 2},
      {"u4", 22, 22, 4},
      {"u8", 6, 3, 8},
      {"u16", 7, 16, 16},
      {"u32", 8, 6, 32, nullptr, Form::Varints},
      {"u64", 9, 7, 64, nullptr, Form::Varints},
      {"f16", 10, 11, 16, semanticsOf<APFloat::IEEEhalf>},
      {"bf16", 16, 13, 16, semanticsOf<APFloat::BFloat>},
      {"f32", 11, 8, 32, semanticsOf<APFloat::IEEEsingle>, Form::Reals},
      {"f64", 12, 9, 64, semanticsOf<APFloat::IEEEdouble>, Form::Reals},
      {"c64", 15, 12, 32, semanticsOf<APFloat::IEEEsingle>, Form::Reals, true},
      {"c128", 18, 18, 64, semanticsOf<APFloat::IEEEdouble>, Form::Reals, true},
      {"f8e5m2", 19, 19, 8, semanticsOf<APFloat::Float8E5M2>},
      {"f8e4m3", 28, 28, 8, semanticsOf<APFloat::Float8E4M3>},
      {"f8e4m3fn", 20, 20, 8, semanticsOf<APFloat::Float8E4M3FN>},
      {"f8e4m3b11fnuz", 23, 23, 8, semanticsOf<APFloat::Float8E4M3B11FNUZ>},
      {"f8e3m4", 29, 29, 8, semanticsOf<APFloat::Float8E3M4>},
      {"f8e5m2fnuz", 24, 24, 8, semanticsOf<APFloat::Float8E5M2FNUZ>},
      {"f8e4m3fnuz", 25, 25, 8, semanticsOf<APFloat::Float8E4M3FNUZ>},
      {"f4e2m1fn", 32, 32, 4, semanticsOf<APFloat::Float4E2M1FN>},
      {"f8e8m0fnu", 33, 33, 8, semanticsOf<APFloat::Float8E8M0FNU>},
      {"f6e3m2fn", 35, 35, 6, semanticsOf<APFloat::Float6E3M2FN>},
      {"f6e2m3fn", 36, 36, 6, semanticsOf<APFloat::Float6E2M3FN>},
  };
  for (const ElementType &each : all)
    if (each.name == name)
      return &each;
  return nullptr;
}

/// XLA counts the elements of long tuples: "f32[2]" of "/*index=5*/f32[2]".
StringRef withoutCount(StringRef text) {
  while (text.starts_with("/*"))
    text = text.drop_front(std::min(text.find("*/"), text.size() - 2) + 2).ltrim();
  return text;
}

Status badShape(StringRef text) { return runtime::invalidArgument(("expects the text of a shape, but got '" + text + "'").str()); }

StatusOr<std::string> tupleProto(StringRef parts, uint32_t type) {
  std::string out;
  proto::putNumber(out, 2, type);
  for (StringRef part : splitOutside(parts)) {
    StatusOr<std::string> inner = shapeProto(part);
    if (!inner)
      return inner;
    proto::putBytes(out, 4, *inner);
  }
  return out;
}

uint64_t bitsOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

/// The bits of `0.1`, `-inf`, `nan(0x412345)`: read as a double and rounded once more, as XLA's parser does.
std::optional<uint64_t> floatBits(StringRef word, const fltSemantics &semantics) {
  StringRef rest = word;
  const bool isNegative = rest.consume_front("-");
  if (rest.consume_front("nan")) {
    uint64_t payload = 0;
    if (!rest.consume_front("("))
      return bitsOf(APFloat::getNaN(semantics, isNegative));
    if (!rest.consume_back(")") || rest.getAsInteger(0, payload))
      return std::nullopt;
    const unsigned bits = APFloat::getSizeInBits(semantics), mantissa = APFloat::semanticsPrecision(semantics) - 1;
    const uint64_t exponent = maskTrailingOnes<uint64_t>(bits - 1 - mantissa) << mantissa;
    return (uint64_t(isNegative) << (bits - 1)) | exponent | payload;
  }
  if (rest == "inf")
    return bitsOf(APFloat::getInf(semantics, isNegative));
  const std::string text = word.str();
  char *end = nullptr;
  APFloat value(std::strtod(text.c_str(), &end));
  if (end != text.c_str() + text.size() || text.empty())
    return std::nullopt;
  bool loses;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  return bitsOf(value);
}

std::optional<uint64_t> integerBits(StringRef word) {
  if (word == "true" || word == "false")
    return word == "true";
  if (int64_t value; !word.getAsInteger(10, value))
    return uint64_t(value);
  uint64_t value;
  return word.getAsInteger(10, value) ? std::nullopt : std::optional(value);
}

/// The elements' bits, in the order of the text. Braces and commas separate them; parentheses hold the parts of complex numbers.
StatusOr<std::vector<uint64_t>> elementsOf(StringRef text, const ElementType &type) {
  std::vector<uint64_t> values;
  const fltSemantics *semantics = type.semantics ? type.semantics() : nullptr;
  size_t at = 0;
  while (at < text.size()) {
    if (StringRef("{}, ()\t").contains(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !StringRef("{}, )\t").contains(text[end])) {
      end += text.slice(end, end + 4) == "nan(" ? 4 : 1;
      if (text[end - 1] == '(')
        end = std::min(text.size(), text.find(')', end) + 1);
    }
    const StringRef word = text.slice(at, end);
    std::optional<uint64_t> value = semantics ? floatBits(word, *semantics) : integerBits(word);
    if (!value)
      return runtime::invalidArgument(("expects a number of type " + type.name + ", but got '" + word + "'").str());
    values.push_back(*value);
    at = end;
  }
  return values;
}

/// As XLA keeps the elements in memory: those of less than a byte take one.
std::string memoryOf(ArrayRef<uint64_t> values, unsigned bits) {
  std::string out;
  for (uint64_t value : values) {
    value &= maskTrailingOnes<uint64_t>(bits);
    out.append(reinterpret_cast<const char *>(&value), std::max(1u, bits / 8));
  }
  return out;
}

std::optional<uint64_t> shardingType(StringRef name) {
  const int type =
      StringSwitch<int>(name).Case("replicated", 0).Case("maximal", 1).Case("manual", 4).Case("unknown", 5).Case("unreduced", 6).Default(-1);
  return type < 0 ? std::nullopt : std::optional(uint64_t(type));
}

} // namespace

StatusOr<std::string> shapeProto(StringRef text) {
  text = withoutCount(text.trim());
  if (text.starts_with("(") && text.ends_with(")"))
    return tupleProto(text.drop_front().drop_back(), kTuple);
  if (text.starts_with("b(") && text.ends_with(")"))
    return tupleProto(text.drop_front(2).drop_back(), kBuffer);
  const size_t open = text.find('['), close = text.find(']');
  if (open == StringRef::npos || close == StringRef::npos)
    return badShape(text);
  const StringRef name = text.take_front(open);
  std::string out;
  if (name == "token" || name == "opaque") {
    proto::putNumber(out, 2, name == "token" ? kToken : kOpaque);
    return out;
  }
  const ElementType *type = elementTypeOf(name);
  if (!type)
    return badShape(text);
  SmallVector<int64_t> sizes;
  SmallVector<bool> dynamic;
  for (StringRef size : splitOutside(text.slice(open + 1, close))) {
    int64_t value = std::numeric_limits<int64_t>::min();
    dynamic.push_back(size == "?" || size.consume_front("<="));
    if (size != "?" && size.getAsInteger(10, value))
      return badShape(text);
    sizes.push_back(value);
  }
  proto::putNumber(out, 2, type->number);
  proto::putPacked(out, 3, sizes);
  if (is_contained(dynamic, true))
    proto::putPacked(out, 6, dynamic);
  std::string layout;
  proto::putPacked(layout, 1, integers(withoutBraces(text.drop_front(close + 1)).split(':').first));
  proto::putBytes(out, 5, layout);
  return out;
}

StatusOr<std::string> literalProto(StringRef text, StringRef shape) {
  StatusOr<std::string> shapeBytes = shapeProto(shape);
  if (!shapeBytes)
    return shapeBytes;
  const ElementType *type = elementTypeOf(shape.take_until([](char c) { return c == '['; }));
  if (!type)
    return runtime::unimplemented(("a constant of shape " + shape).str());
  StatusOr<std::vector<uint64_t>> values = elementsOf(text, *type);
  if (!values)
    return values.status();
  std::string out, content;
  proto::putBytes(out, 1, *shapeBytes);
  if (type->form == ElementType::Form::Varints) {
    proto::putPacked(out, type->literalField, *values);
    return out;
  }
  content = memoryOf(*values, type->bits);
  proto::putText(out, type->literalField, content);
  return out;
}

StatusOr<std::string> shardingProto(StringRef text) {
  text = text.trim();
  auto unknown = [&] { return runtime::unimplemented(("the sharding " + text).str()); };
  if (!text.starts_with("{") || !text.ends_with("}"))
    return unknown();
  StringRef content = text.drop_front().drop_back().trim();
  std::string out;
  if (content.starts_with("{")) {
    proto::putNumber(out, 1, 2); // TUPLE
    for (StringRef part : splitOutside(content)) {
      StatusOr<std::string> inner = shardingProto(withoutCount(part));
      if (!inner)
        return inner;
      proto::putBytes(out, 5, *inner);
    }
    return out;
  }
  SmallVector<StringRef> words = splitOutside(content, ' ');
  bool isOther = false;
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    if (std::optional<uint64_t> type = shardingType(word)) {
      proto::putNumber(out, 1, *type);
    } else if (name == "device") {
      proto::putPacked(out, 3, ArrayRef<int64_t>{1});
      proto::putPacked(out, 4, integers(value));
    } else if (word == "last_tile_dim_replicate") {
      proto::putNumber(out, 6, 1);
    } else if (name == "last_tile_dims") {
      SmallVector<uint64_t> types;
      for (StringRef part : splitOutside(withoutBraces(value)))
        if (std::optional<uint64_t> type = shardingType(part))
          types.push_back(*type);
        else
          return unknown();
      proto::putPacked(out, 8, types);
    } else if (name == "devices") {
      isOther = true;
      const size_t close = value.find(']');
      if (!value.starts_with("[") || close == StringRef::npos)
        return unknown();
      proto::putPacked(out, 3, integers(value.slice(1, close)));
      StringRef order = value.drop_front(close + 1);
      if (order.consume_front("<=[")) {
        auto [sizes, permutation] = order.split(']');
        const SmallVector<int64_t> reshape = integers(sizes);
        proto::putPacked(out, 9, reshape);
        if (permutation.consume_front("T(") && permutation.consume_back(")"))
          proto::putPacked(out, 10, integers(permutation));
        else
          proto::putPacked(out, 10, llvm::to_vector(llvm::seq<int64_t>(0, int64_t(reshape.size()))));
      } else {
        proto::putPacked(out, 4, integers(order));
      }
    } else {
      return unknown();
    }
  }
  if (isOther)
    proto::putNumber(out, 1, 3);
  return out;
}

} // namespace millrace::hlo
