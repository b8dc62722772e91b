// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reader.h - Bounds-checked primitives of MLIR bytecode --------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <string>

namespace millrace::bytecode {

/// Reads the primitives of MLIR bytecode from untrusted bytes. The first error is kept in the string that all readers of a file share: "at byte 17:
/// ...". From then on every read returns 0 or an empty range, and ok() is false. Loops over a count() end, because a count never exceeds the number
/// of bytes that are left.
class Reader {
public:
  Reader(llvm::StringRef file, std::string &error) : file(file), rest(file), error(&error) {}

  /// Returns a reader of `part`, a range of the same file; offsets in messages are those in the file.
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
  /// Reads a prefix-length integer: the first byte has as many low zero bits as bytes follow.
  uint64_t varint();
  /// Reads the same with the sign in bit 0 (zigzag).
  int64_t signedVarint();
  llvm::StringRef bytes(uint64_t size);
  /// Reads up to a NUL byte, which is not included.
  llvm::StringRef nulTerminated();

  /// Reads the number of following items, each of at least one byte; `what` names them.
  uint64_t count(llvm::StringRef what);
  /// Reads an index below `size` into the table `what`.
  uint64_t index(uint64_t size, llvm::StringRef what);
  /// Checks such an index that has been read already.
  uint64_t checkIndex(uint64_t value, uint64_t size, llvm::StringRef what);

  struct Section {
    unsigned id = 0;
    llvm::StringRef data;
  };
  /// Reads the header, padding and contents of a section.
  Section section();
  /// Skips padding bytes up to a multiple of `alignment` in the file.
  void align(uint64_t alignment);
  /// Reports an error unless everything was read.
  void expectEnd(llvm::StringRef what);

private:
  llvm::StringRef file, rest;
  std::string *error;
};

/// Alignments in real files are at most a page; for a larger one MLIR would allocate that much memory.
inline constexpr uint64_t kMaxAlignment = 4096;
/// The largest count; MLIR stores counts in 32 bits.
inline constexpr uint64_t kMaxCount = uint64_t(1) << 30;

} // namespace millrace::bytecode
