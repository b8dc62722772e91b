// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grammar.h - Fields of attributes and types, by dialect and code ----===//
#pragma once

#include "dialects/bytecode/Artifact.h"

namespace millrace::bytecode {

/// Returns the fields of a code as one letter each; null if the dialect has no such code or is unknown here.
///   a attribute      t type        o optional attribute     n list of (name attribute, attribute)
///   v varint         i signed      y byte                   s string     r resource     b bytes with their size
///   x integer, and f float, of the width that the type before it has     d 64-bit float
///   h a flag, and an attribute if it is not 0                            p count and strings, see DenseStringElements
/// A capital letter is a list: its length, then its items.
const char *fieldsOf(llvm::StringRef dialect, bool isType, uint64_t code);

/// A type of numbers that attributes can contain.
struct NumberType {
  enum Kind { None, Integer, Index, Float, Complex } kind = None;
  unsigned bits = 0; ///< bits of one part, if complex
  bool isSignless = false;

  /// Returns the bytes of an element in a dense attribute. Callers handle i1, which is an exception.
  uint64_t storageBytes() const { return uint64_t(kind == Complex ? 2 : 1) * ((bits + 7) / 8); }
};

/// Returns the number type of a builtin type (also in text form: the small floats) or a VHLO type.
NumberType numberType(const Artifact &artifact, const Entry &type);

/// Returns the bits of a builtin float type that is written as text, such as "f8E4M3FN"; else 0.
unsigned floatBits(llvm::StringRef spelled);

/// Codes that the rules refer to.
namespace builtin {
enum AttributeCode {
  kArray, kDictionary, kString, kStringWithType, kFlatSymbolRef, kSymbolRef, kType, kUnit, kInteger, kFloat, kCallSiteLoc,
  kFileLineColLoc, kFusedLoc, kFusedLocWithMetadata, kNameLoc, kUnknownLoc, kDenseResource, kDenseArray, kDenseElements,
  kDenseStrings, kSparseElements, kDistinct, kFileLineColRange
};
enum TypeCode {
  kIntegerType, kIndexType, kFunctionType, kBF16, kF16, kF32, kF64, kF80, kF128, kComplexType, kMemRef, kMemRefWithSpace,
  kNone, kTensor, kTensorWithEncoding, kTuple, kUnrankedMemRef, kUnrankedMemRefWithSpace, kUnrankedTensor, kVector,
  kScalableVector
};
} // namespace builtin
namespace quant {
enum TypeCode { kAny = 1, kAnyWithExpressed, kCalibrated, kUniform, kPerAxis, kSubChannel };
} // namespace quant
namespace vhlo {
enum AttributeCode { kTensorAttr = 15 };
enum TypeCode { kComplex = 1, kTensor = 20, kTensorWithEncoding = 21, kQuant = 24, kQuantPerAxis = 30 };
} // namespace vhlo

} // namespace millrace::bytecode
