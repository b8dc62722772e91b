// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HexBools.cpp - Hexadecimal i1 elements of newer MLIR ----------------===//
#include "dialects/bytecode/HexBools.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace millrace::bytecode {

/// Returns the number of elements if `rest` continues `> : tensor<2x3xi1>`, or with vector; else 0.
static uint64_t countOfBools(llvm::StringRef rest) {
  for (llvm::StringRef token : {">", ":"})
    if (!(rest = rest.ltrim()).consume_front(token))
      return 0;
  rest = rest.ltrim();
  if (!rest.consume_front("tensor<") && !rest.consume_front("vector<"))
    return 0;
  uint64_t count = 1, size = 0;
  for (rest = rest.ltrim(); !rest.consumeInteger(10, size); rest = rest.ltrim()) {
    bool overflows = false;
    count = llvm::SaturatingMultiply(count, size, &overflows);
    if (overflows || !(rest = rest.ltrim()).consume_front("x"))
      return 0;
  }
  return rest.consume_front("i1") && !rest.empty() && !llvm::isAlnum(rest.front()) ? count : 0;
}

/// Packs one byte per element, 00 or 01, into bits from the lowest on, and ends the string there. Returns false, without a change of `digits`, if an
/// element is something else.
static bool pack(llvm::MutableArrayRef<char> digits) {
  for (size_t i = 0; i < digits.size(); i += 2)
    if (digits[i] != '0' || (digits[i + 1] != '0' && digits[i + 1] != '1'))
      return false;
  size_t count = digits.size() / 2, bytes = llvm::divideCeil(count, 8);
  for (size_t byte = 0; byte < bytes; ++byte) {
    unsigned bits = 0;
    // The digits of an element are read before others are written to their positions.
    for (size_t i = byte * 8; i < std::min(byte * 8 + 8, count); ++i)
      bits |= unsigned(digits[2 * i + 1] - '0') << (i % 8);
    digits[2 * byte] = llvm::hexdigit(bits >> 4);
    digits[2 * byte + 1] = llvm::hexdigit(bits & 15);
  }
  // The string ends here; blanks keep the positions of the following characters.
  std::fill(digits.begin() + 2 * bytes, digits.end(), ' ');
  digits[2 * bytes] = '"';
  return true;
}

std::unique_ptr<llvm::MemoryBuffer> packHexBools(llvm::MemoryBufferRef file) {
  constexpr llvm::StringLiteral kBegin = "dense<\"0x";
  llvm::StringRef text = file.getBuffer();
  std::unique_ptr<llvm::WritableMemoryBuffer> copy;
  for (size_t at = text.find(kBegin); at != text.npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    size_t end = text.find('"', at);
    if (end == text.npos)
      break;
    // A single element is a byte in both forms.
    uint64_t count = countOfBools(text.drop_front(end + 1));
    if (count < 2 || end - at != 2 * count)
      continue;
    if (!copy) {
      copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), file.getBufferIdentifier());
      if (!copy)
        return nullptr;
      llvm::copy(text, copy->getBufferStart());
    }
    if (pack(copy->getBuffer().slice(at, end - at)))
      copy->getBufferStart()[end] = ' ';
  }
  return copy;
}

} // namespace millrace::bytecode
