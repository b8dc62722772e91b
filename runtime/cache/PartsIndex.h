// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartsIndex.h - The keys of a cache's programs, cheap to read ---------===//
// A file of the cache's folder with one line per program that was stored, the newest last:
//   <key> <name>=<first digits of the part's digest>;<name>=...;
// It serves only to explain misses. Processes append to it without locks; a line that is torn or lost makes an explanation less exact, nothing else.
#pragma once
#include "runtime/cache/Cache.h"

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::runtime {

struct IndexedKey {
  std::string_view digest; ///< of the key
  std::vector<std::pair<std::string_view, std::string_view>> parts; ///< name and the beginning of its digest, sorted by name
};

/// Bytes that a reader reads of an index at most, those of the newest programs; when a file has twice as many, a writer keeps these. Unit: bytes.
/// Source: arithmetic: a line has some 300 bytes, so these are 14,000 programs; reading them takes some 20 ms.
inline constexpr uint64_t kIndexBytes = uint64_t(4) << 20;

/// Returns the file of a cache's folder that is its index.
std::string indexFile(const std::string &folder);

/// The line of a key.
std::string indexLine(const std::string &digest, const std::vector<CacheKey::Part> &parts);
inline std::string indexLine(const CacheKey &key) { return indexLine(key.digest(), key.parts()); }

/// The keys of an index, the oldest first. Lines that are none are left out.
std::vector<IndexedKey> readIndex(std::string_view text);

/// In what two keys differ. In this order: the same program with other options says why it misses; another program of this process, which has its
/// options, says nothing.
struct Difference {
  bool isOtherProgram = false;
  size_t count = 0; ///< of parts
  auto operator<=>(const Difference &) const = default;
};
/// `names`: also the names of the parts, sorted.
Difference differenceOf(const IndexedKey &stored, const IndexedKey &key, std::vector<std::string> *names = nullptr);

/// Appends the line of `key` to the index of a cache's folder. A failure is none of the caller: the program is stored.
void appendToIndex(const std::string &folder, const CacheKey &key);

/// The newest part of the index of a folder; empty if there is none. `isWhole`: whether there is nothing older.
std::string newestOfIndex(const std::string &folder, bool &isWhole);

} // namespace millrace::runtime
