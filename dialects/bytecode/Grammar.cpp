// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grammar.cpp - Fields of attributes and types, by dialect and code --===//
// Sources: MLIR 22's BuiltinDialectBytecode.td and QuantDialectBytecode.td, the VHLO and Shardy bytecode definitions.
#include "dialects/bytecode/Grammar.h"

#include "llvm/ADT/StringSwitch.h"

namespace millrace::bytecode {
namespace {

// Indexed by code; null if there is no such code.
const char *const kBuiltinAttributes[] = {
    /*0 array*/ "A", /*1 dictionary*/ "n", /*2 string*/ "s", /*3 string with type*/ "st", /*4 flat symbol*/ "a",
    /*5 symbol*/ "aA", /*6 type*/ "t", /*7 unit*/ "", /*8 integer*/ "tx", /*9 float*/ "tf", /*10 call site*/ "aa",
    /*11 file, line, column*/ "avv", /*12 fused*/ "A", /*13 fused with metadata*/ "Aa", /*14 name*/ "aa",
    /*15 unknown*/ "", /*16 resource*/ "tr", /*17 dense array*/ "tvb", /*18 dense elements*/ "tb",
    /*19 dense strings*/ "tp", /*20 sparse*/ "taa", /*21 distinct*/ "a", /*22 range of a file*/ "aV"};
const char *const kBuiltinTypes[] = {
    /*0 integer*/ "v", /*1 index*/ "", /*2 function*/ "TT", "", "", "", "", "", /*8 f128*/ "", /*9 complex*/ "t",
    /*10 memref*/ "Ita", /*11 memref in a space*/ "aIta", /*12 none*/ "", /*13 tensor*/ "It",
    /*14 tensor with encoding*/ "aIt", /*15 tuple*/ "T", /*16 unranked memref*/ "t", /*17 in a space*/ "at",
    /*18 unranked tensor*/ "t", /*19 vector*/ "It", /*20 scalable vector*/ "YIt"};
const char *const kQuantTypes[] = {
    nullptr, /*1 any*/ "vtii", /*2 any with expressed*/ "vttii", /*3 calibrated*/ "tdd", /*4 uniform*/ "vttdiii",
    /*5 per axis*/ "vttviiDI", /*6 sub-channel*/ "vttiiIIaa"};
const char *const kVhloAttributes[] = {
    nullptr, /*1 array*/ "A", /*2 boolean*/ "v", /*3 comparison direction*/ "v", /*4 comparison type*/ "v",
    /*5 api version*/ "v", /*6 dictionary*/ "n", /*7 fft type*/ "v", /*8 float*/ "tf", /*9 integer*/ "tx",
    /*10 output operand alias*/ "IiI", /*11 precision*/ "v", /*12 rng algorithm*/ "v", /*13 rng distribution*/ "v",
    /*14 string*/ "s", /*15 tensor*/ "tb", /*16 transpose*/ "v", /*17 type*/ "t", /*18 type extensions*/ "I",
    /*19 accuracy mode*/ "v", /*20 accuracy*/ "ddia", /*21 sub-axis*/ "ii", /*22 axis*/ "ah", /*23 mesh axes*/ "aa",
    /*24 mesh axis*/ "ai", /*25 mesh*/ "ao"};
const char *const kVhloTypes[] = {
    /*0 bool*/ "", /*1 complex*/ "t", "", "", "", "", "", "", /*8 function*/ "TT", "", "", "", "", "", "", "", "", "", "",
    /*19 ui64*/ "", /*20 tensor*/ "It", /*21 tensor with encoding*/ "aIt", /*22 token*/ "", /*23 tuple*/ "T",
    /*24 quantized*/ "vttdiii", /*25 unranked*/ "t", /*26 witness*/ "", "", "", "", /*30 quantized per axis*/ "vttviiDI",
    "", "", "", "", "", "", "", "", "", /*40 f8E8M0FNU*/ "", /*41 buffer*/ "It", /*42 future*/ "T"};
const char *const kSdyAttributes[] = {
    /*0 manual axes*/ "A", /*1 mesh axis*/ "si", /*2 mesh*/ "AI", /*3 sub-axis*/ "ii", /*4 axis*/ "so",
    /*5 dimension*/ "Ayv", /*6 tensor*/ "aAA", /*7 per value*/ "A", /*8 dimension mapping*/ "I", /*9 tensor mapping*/ "A",
    /*10 rule*/ "IAAIIIIy", /*11 axes*/ "A", /*12 lists of axes*/ "A", /*13 all-to-all*/ "Aii", /*14 all-to-alls*/ "A",
    /*15 tensor, unreduced*/ "aAAA", /*16 per value, unreduced*/ "A", /*17 tensor with reduction*/ "aAAAi"};

const char *find(llvm::ArrayRef<const char *> codes, uint64_t code) { return code < codes.size() ? codes[code] : nullptr; }

NumberType integer(unsigned bits, bool isSignless) { return {NumberType::Integer, bits, isSignless}; }
NumberType real(unsigned bits) { return {NumberType::Float, bits, false}; }

/// Returns the number type of the parts of a complex type. If the part is complex, it is none, so that cycles end here.
NumberType partOf(const Artifact &artifact, const Entry &complex) {
  const Entry &part = artifact.entry(complex.references[0]);
  bool isComplex = part.is("builtin", builtin::kComplexType) || part.is("vhlo", vhlo::kComplex);
  return isComplex ? NumberType() : numberType(artifact, part);
}

NumberType vhloNumberType(const Artifact &artifact, const Entry &type) {
  switch (type.code) {
  case 0: return integer(1, true);
  case vhlo::kComplex: {
    NumberType part = partOf(artifact, type);
    return part.kind == NumberType::Float ? NumberType{NumberType::Complex, part.bits, false} : NumberType();
  }
  case 2: case 3: return real(16);
  case 4: return real(32);
  case 5: return real(64);
  case 6: case 7: case 27: case 28: case 29: case 35: case 36: case 40: return real(8);
  case 9: return {NumberType::Index, 64, false};
  case 10: case 15: return integer(4, true);
  case 11: case 16: return integer(8, true);
  case 12: case 17: return integer(16, true);
  case 13: case 18: return integer(32, true);
  case 14: case 19: return integer(64, true);
  case 31: case 32: return integer(2, true);
  case 34: return real(19);
  case 37: return real(4);
  case 38: case 39: return real(6);
  default: return {};
  }
}

} // namespace

const char *fieldsOf(llvm::StringRef dialect, bool isType, uint64_t code) {
  if (dialect == "builtin")
    return isType ? find(kBuiltinTypes, code) : find(kBuiltinAttributes, code);
  if (dialect == "vhlo")
    return isType ? find(kVhloTypes, code) : find(kVhloAttributes, code);
  if (dialect == "quant")
    return isType ? find(kQuantTypes, code) : nullptr;
  if (dialect == "sdy")
    return isType ? nullptr : find(kSdyAttributes, code);
  return nullptr;
}

unsigned floatBits(llvm::StringRef spelled) {
  return llvm::StringSwitch<unsigned>(spelled)
      .Cases({"f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4", "f8E8M0FNU"}, 8)
      .Case("f4E2M1FN", 4)
      .Cases({"f6E2M3FN", "f6E3M2FN"}, 6)
      .Case("tf32", 19)
      .Cases({"bf16", "f16"}, 16)
      .Case("f32", 32)
      .Case("f64", 64)
      .Case("f80", 80)
      .Case("f128", 128)
      .Default(0);
}

NumberType numberType(const Artifact &artifact, const Entry &type) {
  if (!type.custom) {
    unsigned bits = floatBits(type.text());
    return bits ? real(bits) : NumberType();
  }
  if (type.dialect == "vhlo")
    return vhloNumberType(artifact, type);
  if (type.dialect != "builtin")
    return {};
  switch (type.code) {
  case builtin::kIntegerType: return integer(static_cast<uint64_t>(type.numbers[0]) >> 2, (type.numbers[0] & 3) == 0);
  case builtin::kIndexType: return {NumberType::Index, 64, false};
  case builtin::kBF16: case builtin::kF16: return real(16);
  case builtin::kF32: return real(32);
  case builtin::kF64: return real(64);
  case builtin::kF80: return real(80);
  case builtin::kF128: return real(128);
  case builtin::kComplexType: {
    NumberType part = partOf(artifact, type);
    bool isNumber = part.kind == NumberType::Float || part.kind == NumberType::Integer;
    return isNumber ? NumberType{NumberType::Complex, part.bits, false} : NumberType();
  }
  default: return {};
  }
}

} // namespace millrace::bytecode
