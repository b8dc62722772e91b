// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Artifact.h - The tables of an MLIR bytecode file -------------------===//
// A file (versions 0 to 6) has a magic number, a version, a producer, and sections: strings, dialects with the names of their operations, attribute
// and type entries with their sizes, properties, resources, and the operations, which refer to all of these by index.
#pragma once

#include "dialects/bytecode/Reader.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace millrace::bytecode {

inline constexpr uint64_t kNewestVersion = 6;
/// The first versions with: a version per dialect; sections around isolated regions; orders of use lists; a flag for known locations of block
/// arguments, and a count of operation names; native properties.
inline constexpr uint64_t kDialectVersions = 1, kIsolatedSections = 2, kUseLists = 3, kElidedLocations = 4,
                          kNativeProperties = 5;

/// The largest depth of references between attributes, types and locations, along which MLIR's reader and all later code recurse.
inline constexpr unsigned kMaxEntryDepth = 512;
/// The largest size of an entry that is written out with shared parts repeated, which is what a message prints.
inline constexpr uint64_t kMaxEntrySize = uint64_t(1) << 22;
/// The largest depth of nested regions, along which MLIR's verifier and printer recurse.
inline constexpr unsigned kMaxRegionDepth = 256;

/// An attribute or type entry, decoded as far as the grammar of its dialect goes. Fields of one kind are in the order of the file.
struct Entry {
  struct Reference {
    bool isType;
    uint32_t index;
  };
  llvm::StringRef dialect;
  bool custom = false; ///< encoded by the dialect's codes; else `data` is NUL-terminated text
  llvm::StringRef data;
  uint64_t code = 0;                         ///< of a custom entry
  llvm::SmallVector<Reference, 2> references; ///< references to attributes and types
  llvm::SmallVector<int64_t, 4> numbers;     ///< integers, and string and resource indices
  llvm::SmallVector<uint64_t, 0> reals;      ///< bits of 64-bit floats
  llvm::StringRef blob;

  bool is(llvm::StringRef wantedDialect, uint64_t wantedCode) const {
    return custom && code == wantedCode && dialect == wantedDialect;
  }
  llvm::StringRef text() const { return data.drop_back(); }
};

struct Dialect {
  llvm::StringRef name;
};

struct OperationName {
  uint32_t dialect;
  llvm::StringRef name;
};

struct Resource {
  enum Kind : uint8_t { Blob, Bool, String };
  llvm::StringRef dialect;
  Kind kind;
  bool declarationOnly; ///< the resource has no data
  uint64_t blobSize = 0;
};

struct Artifact {
  uint64_t version = 0;
  llvm::StringRef producer;
  std::optional<llvm::StringRef> sections[9];
  std::vector<llvm::StringRef> strings;
  std::vector<Dialect> dialects;
  std::vector<OperationName> operations;
  std::vector<Entry> attributes, types;
  std::vector<Resource> resources;
  uint64_t numProperties = 0;

  const Entry &entry(Entry::Reference reference) const {
    return reference.isType ? types[reference.index] : attributes[reference.index];
  }
};

/// Reads the header, the sections and all tables except the operations; entries without their contents.
void readTables(Reader file, Artifact &artifact);

/// Reads the contents of attribute and type entries: checks that fields are in bounds, that references are valid and without cycles, and the limits
/// above.
void readEntries(Reader file, Artifact &artifact);

/// Checks what MLIR's builtin and quant types and attributes require of their parts, because MLIR's reader builds them unchecked.
void checkEntries(Reader file, const Artifact &artifact);

/// Checks regions, blocks, operations, values and orders of use lists.
void checkOperations(Reader file, const Artifact &artifact);

} // namespace millrace::bytecode
