// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reader.cpp - Bounds-checked primitives of MLIR bytecode ------------===//
#include "dialects/bytecode/Reader.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace millrace::bytecode {

static constexpr uint8_t kPaddingByte = 0xCB;
static constexpr unsigned kNumSections = 9;

bool Reader::fail(const llvm::Twine &message) {
  if (ok())
    *error = ("at byte " + llvm::Twine(offset()) + ": " + message).str();
  return false;
}

llvm::StringRef Reader::bytes(uint64_t size) {
  if (!ok())
    return {};
  if (size > rest.size()) {
    fail("expects " + llvm::Twine(size) + " more bytes, but only " + llvm::Twine(rest.size()) + " are left");
    return {};
  }
  llvm::StringRef result = rest.take_front(size);
  rest = rest.drop_front(size);
  return result;
}

uint8_t Reader::byte() {
  llvm::StringRef one = bytes(1);
  return one.empty() ? 0 : static_cast<uint8_t>(one[0]);
}

uint64_t Reader::varint() {
  uint8_t first = byte();
  if (!ok())
    return 0;
  unsigned following = first == 0 ? 8 : llvm::countr_zero(first);
  llvm::StringRef tail = bytes(following);
  if (!ok())
    return 0;
  uint64_t value = 0;
  for (unsigned i = 0; i < following; ++i)
    value |= uint64_t(static_cast<uint8_t>(tail[i])) << (8 * i);
  if (following == 8)
    return value;
  // The first byte contains the lowest 7 - following bits.
  return value << (7 - following) | first >> (following + 1);
}

int64_t Reader::signedVarint() {
  uint64_t value = varint();
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

llvm::StringRef Reader::nulTerminated() {
  if (!ok())
    return {};
  size_t end = rest.find('\0');
  if (end == llvm::StringRef::npos) {
    fail("expects a NUL-terminated string, but there is no NUL");
    return {};
  }
  llvm::StringRef result = bytes(end);
  bytes(1);
  return result;
}

uint64_t Reader::count(llvm::StringRef what) {
  uint64_t value = varint();
  if (value <= rest.size() && value <= kMaxCount)
    return value;
  fail(llvm::Twine(value) + " " + what + " cannot be in the " + llvm::Twine(rest.size()) + " bytes that are left");
  return 0;
}

uint64_t Reader::checkIndex(uint64_t value, uint64_t size, llvm::StringRef what) {
  if (value < size)
    return value;
  fail(what + " index " + llvm::Twine(value) + " is out of range, there are " + llvm::Twine(size));
  return 0;
}

uint64_t Reader::index(uint64_t size, llvm::StringRef what) { return checkIndex(varint(), size, what); }

void Reader::align(uint64_t alignment) {
  if (!llvm::isPowerOf2_64(alignment) || alignment > kMaxAlignment) {
    fail("expects an alignment that is a power of two up to " + llvm::Twine(kMaxAlignment) + ", but got " +
         llvm::Twine(alignment));
    return;
  }
  while (ok() && offset() % alignment != 0)
    if (byte() != kPaddingByte)
      fail("expects padding up to a multiple of " + llvm::Twine(alignment));
}

Reader::Section Reader::section() {
  Section section;
  uint8_t header = byte();
  uint64_t size = varint();
  section.id = header & 0x7F;
  if (ok() && section.id >= kNumSections)
    fail("section id " + llvm::Twine(section.id) + " is unknown");
  if (header & 0x80)
    align(varint());
  section.data = bytes(size);
  return section;
}

void Reader::expectEnd(llvm::StringRef what) {
  if (ok() && !atEnd())
    fail(llvm::Twine(rest.size()) + " bytes are left after " + what);
}

} // namespace millrace::bytecode
