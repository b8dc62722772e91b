// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Artifact.h - The tables of an MLIR bytecode file -------------------===//
// Format (versions 0 to 6): magic, version, producer, sections. Strings, dialects with operation names, attribute and type
// entries with their sizes, properties, resources, and the operations, which refer to all of these by index.
#pragma once

#include "dialects/bytecode/Reader.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace millrace::bytecode {

inline constexpr uint64_t kNewestVersion = 6;
/// First version with: a version per dialect, sections around isolated regions, orders of use lists, a flag for known
/// locations of block arguments and a count of operation names, native properties.
inline constexpr uint64_t kDialectVersions = 1, kIsolatedSections = 2, kUseLists = 3, kElidedLocations = 4,
                          kNativeProperties = 5;

/// Attributes, types and locations refer to each other; MLIR's reader and everything after it recurses along them.
inline constexpr unsigned kMaxEntryDepth = 512;
/// An entry written out in full, shared parts repeated: what printing it in a message costs.
inline constexpr uint64_t kMaxEntrySize = uint64_t(1) << 22;
/// Regions in regions; MLIR's verifier and printer recurse along them.
inline constexpr unsigned kMaxRegionDepth = 256;

/// An attribute or type entry, decoded as far as the grammar of its dialect says. Fields of one sort are in file order.
struct Entry {
  struct Reference {
    bool isType;
    uint32_t index;
  };
  llvm::StringRef dialect;
  bool custom = false; ///< encoded by the dialect's codes; else `data` is NUL-terminated text
  llvm::StringRef data;
  uint64_t code = 0;                         ///< of a custom entry
  llvm::SmallVector<Reference, 2> references; ///< attributes and types
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
  bool declarationOnly; ///< no data
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

/// Header, sections and all tables but the operations; entries without their contents.
void readTables(Reader file, Artifact &artifact);

/// The contents of attribute and type entries: each field in bounds, references in range and without cycles, within the
/// limits above.
void readEntries(Reader file, Artifact &artifact);

/// What MLIR's builtin and quant types and attributes require of their parts; its reader builds them without asking.
void checkEntries(Reader file, const Artifact &artifact);

/// Regions, blocks, operations, values, orders of use lists.
void checkOperations(Reader file, const Artifact &artifact);

} // namespace millrace::bytecode
