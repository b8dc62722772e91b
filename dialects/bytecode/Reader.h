// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reader.h - Bounds-checked primitives of MLIR bytecode --------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <string>

namespace millrace::bytecode {

/// Reads the primitives of MLIR bytecode from a byte range that may contain anything. The first error sticks, in the
/// string that all readers of a file share: "at byte 17: ..."; from then on every read returns 0 or an empty range, and
/// ok() is false. Loops over a count() end because a count never exceeds the bytes that are left.
class Reader {
public:
  Reader(llvm::StringRef file, std::string &error) : file(file), rest(file), error(&error) {}

  /// A reader of `part`, a range of the same file; offsets in messages stay those of the file.
  Reader within(llvm::StringRef part) const {
    Reader reader(*this);
    reader.rest = part;
    return reader;
  }

  bool ok() const { return error->empty(); }
  bool atEnd() const { return rest.empty(); }
  size_t remaining() const { return rest.size(); }
  uint64_t offset() const { return rest.data() - file.data(); }

  /// Records `message` unless there was an error before; returns false.
  bool fail(const llvm::Twine &message);

  uint8_t byte();
  /// Prefix-length integer: as many low zero bits in the first byte as bytes follow.
  uint64_t varint();
  /// The same with the sign in bit 0 (zigzag).
  int64_t signedVarint();
  llvm::StringRef bytes(uint64_t size);
  /// Up to, without, a NUL byte.
  llvm::StringRef nulTerminated();

  /// A number of things that follow, each of at least one byte; `what` names them.
  uint64_t count(llvm::StringRef what);
  /// An index below `size` into the table `what`.
  uint64_t index(uint64_t size, llvm::StringRef what);
  /// The same, already read.
  uint64_t checkIndex(uint64_t value, uint64_t size, llvm::StringRef what);

  struct Section {
    unsigned id = 0;
    llvm::StringRef data;
  };
  /// Header, padding and contents of a section.
  Section section();
  /// Skips padding bytes up to a multiple of `alignment` in the file.
  void align(uint64_t alignment);
  /// An error unless everything was read.
  void expectEnd(llvm::StringRef what);

private:
  llvm::StringRef file, rest;
  std::string *error;
};

/// Alignments in real files are at most a page; a larger one would make MLIR allocate that much.
inline constexpr uint64_t kMaxAlignment = 4096;
/// MLIR keeps counts in 32 bits.
inline constexpr uint64_t kMaxCount = uint64_t(1) << 30;

} // namespace millrace::bytecode
