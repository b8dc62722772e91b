// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DType.cpp - The table of element types ------------------------------===//
#include "runtime/base/DType.h"

#include <array>

namespace millrace::runtime {
namespace {

enum class Class : uint8_t { None, Bool, Signed, Unsigned, Float, Complex };
struct Info {
  std::string_view name;
  uint8_t bytes, bits;
  Class kind;
};

// Indexed by the enumerator.
constexpr std::array<Info, size_t(DType::Last) + 1> table = {{
    {"invalid", 0, 0, Class::None},
    {"i1", 1, 1, Class::Bool},
    {"i2", 1, 2, Class::Signed},
    {"i4", 1, 4, Class::Signed},
    {"i8", 1, 8, Class::Signed},
    {"i16", 2, 16, Class::Signed},
    {"i32", 4, 32, Class::Signed},
    {"i64", 8, 64, Class::Signed},
    {"ui2", 1, 2, Class::Unsigned},
    {"ui4", 1, 4, Class::Unsigned},
    {"ui8", 1, 8, Class::Unsigned},
    {"ui16", 2, 16, Class::Unsigned},
    {"ui32", 4, 32, Class::Unsigned},
    {"ui64", 8, 64, Class::Unsigned},
    {"f4E2M1FN", 1, 4, Class::Float},
    {"f6E2M3FN", 1, 6, Class::Float},
    {"f6E3M2FN", 1, 6, Class::Float},
    {"f8E3M4", 1, 8, Class::Float},
    {"f8E4M3", 1, 8, Class::Float},
    {"f8E4M3FN", 1, 8, Class::Float},
    {"f8E4M3FNUZ", 1, 8, Class::Float},
    {"f8E4M3B11FNUZ", 1, 8, Class::Float},
    {"f8E5M2", 1, 8, Class::Float},
    {"f8E5M2FNUZ", 1, 8, Class::Float},
    {"f8E8M0FNU", 1, 8, Class::Float},
    {"bf16", 2, 16, Class::Float},
    {"f16", 2, 16, Class::Float},
    {"f32", 4, 32, Class::Float},
    {"f64", 8, 64, Class::Float},
    {"complex<f32>", 8, 64, Class::Complex},
    {"complex<f64>", 16, 128, Class::Complex},
    {"!stablehlo.token", 0, 0, Class::None},
}};

const Info &info(DType type) { return table[size_t(type) < table.size() ? size_t(type) : 0]; }

} // namespace

size_t byteSize(DType type) { return info(type).bytes; }
unsigned bitWidth(DType type) { return info(type).bits; }
std::string_view name(DType type) { return info(type).name; }

DType dtypeFromName(std::string_view name) {
  if (name == "token")
    return DType::Token;
  std::string_view stem = name.size() > 2 && name.substr(0, 2) == "si" ? name.substr(1) : name;
  for (size_t i = 1; i < table.size(); ++i)
    if (table[i].name == stem)
      return DType(i);
  return DType::Invalid;
}

bool isInteger(DType type) {
  Class k = info(type).kind;
  return k == Class::Bool || k == Class::Signed || k == Class::Unsigned;
}
bool isSigned(DType type) { return info(type).kind == Class::Signed; }
bool isFloat(DType type) { return info(type).kind == Class::Float; }
bool isComplex(DType type) { return info(type).kind == Class::Complex; }

} // namespace millrace::runtime
