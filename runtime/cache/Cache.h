// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cache.h - Persistent compilation cache ------------------------------===//
// The cache is a folder of files, one per entry, that any number of processes share without locks: entries are written to temporary files and
// renamed, and validated completely (checksum, flatbuffers verifier, key) when they are read. Processes that miss the same entry may take turns, so
// that one of them makes it for all.
//   <folder>/<first two digits of the key>/<key>.mrc for programs, .mrk for single kernels, .mrs for plans of shardings;
//   <folder>/usage: the size of all entries; <folder>/keys: the parts of programs' keys (PartsIndex.h)
// The key is the hash of named parts (program, options, devices, CPU features, versions, ...). A miss is explained by the parts in which the most
// similar entry differs.
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::runtime {

class CacheKey {
public:
  /// Adds a part. Names are unique: "program", "options", "cpu features", "libmillrace". The order of calls does not matter.
  void add(std::string name, std::string_view value);
  struct Part {
    std::string name, digest;
    bool operator==(const Part &) const = default;
  };
  /// Returns the parts, sorted by name.
  const std::vector<Part> &parts() const { return sorted; }
  /// Returns the digest as 64 hexadecimal digits.
  std::string digest() const;

private:
  std::vector<Part> sorted;
};

enum class CacheMode { Off, ReadOnly, ReadWrite };

struct CacheOptions {
  CacheMode mode = CacheMode::ReadWrite;
  std::string folder;
  uint64_t sizeLimit = uint64_t(10) << 30; ///< bytes; the least recently used entries are evicted first
  /// Receives one line per damaged entry or failed write; if empty, standard error does.
  std::function<void(const std::string &)> warn;
};

/// Reads the folder from MILLRACE_CACHE_DIR, else $XDG_CACHE_HOME/millrace, else ~/.cache/millrace; the mode from MILLRACE_CACHE=off|ro|rw; the size
/// limit from MILLRACE_CACHE_SIZE in MiB. Without a home folder the mode is Off. Errors: InvalidArgument for another mode or size.
StatusOr<CacheOptions> cacheOptionsFromEnvironment();

/// The kind of an entry. Misses are explained among entries of one kind.
enum class EntryKind { Program, Kernel, Plan };

struct CacheStats {
  uint64_t hits = 0, misses = 0; ///< counts for programs
  uint64_t kernelHits = 0, kernelMisses = 0;
  uint64_t planHits = 0, planMisses = 0; ///< counts for plans of automatic sharding
  uint64_t writes = 0, damaged = 0, evicted = 0;
};

/// The cache. Thread-safe. No failure here is one of the caller: a damaged entry is a miss with a warning, a failed write is a warning.
class Cache {
public:
  explicit Cache(CacheOptions options);

  struct Hit {
    std::string_view value;            ///< 64-byte aligned
    std::shared_ptr<const void> owner; ///< keeps `value`
  };
  /// Returns the entry of that key. On a miss `whyNot` (if given) is set to the reason, for example "the cache has this program, but with other
  /// options, cpu features", "no entry has this program", "the entry is damaged".
  std::optional<Hit> find(const CacheKey &key, std::string *whyNot = nullptr, EntryKind kind = EntryKind::Program);

  /// Stores (or replaces) an entry, then evicts the least recently used ones beyond the size limit. Does nothing unless the mode is ReadWrite.
  void store(const CacheKey &key, std::string_view value, EntryKind kind = EntryKind::Program);

  /// Deletes all entries, and with them what the folder tells about them: their size and their index. Other files stay, and so do the folders and
  /// recent temporary files, which other processes may be about to use. Does nothing unless the mode is ReadWrite. Errors: that of the first file that
  /// cannot be deleted (PermissionDenied or Internal); the others are deleted.
  Status clear();

  /// Returns a lock that the process that makes an entry holds; a process that waited for it finds the entry afterwards. Null if the lock fails or
  /// takes too long: then the caller makes the entry itself.
  std::shared_ptr<void> turn(const CacheKey &key) const;
  /// Returns true if there is a file for the key.
  bool mayHave(const CacheKey &key) const;

  const CacheOptions &options() const { return settings; }
  CacheStats stats() const;
  /// Returns Ok if entries can be written, else PermissionDenied and so on, for messages at start-up.
  Status checkWritable() const;
  /// Prints one line through CacheOptions::warn.
  void warn(const std::string &message) const;
  /// Does the same for the first warning `what` about this folder in this process: a full disk, for example, would be reported for every entry.
  void warnOnce(const std::string &what, const std::string &message) const;

private:
  std::string path(const std::string &digest, EntryKind kind) const;
  std::string explain(const CacheKey &key) const;
  /// Adds `bytes` to the size of the folder and evicts entries if it exceeds the limit. `tellOthers` updates the folder's `usage` file.
  void count(uint64_t bytes, bool tellOthers, const std::string &justWritten);
  void evict(const std::string &justWritten);

  CacheOptions settings;
  mutable std::mutex mutex;
  CacheStats counters;                     ///< guarded by mutex
  std::optional<uint64_t> estimatedBytes;  ///< guarded by mutex; size of the folder as far as this process knows
  uint64_t untoldBytes = 0;                ///< guarded by mutex; the part that is not in the folder's `usage` yet
};

} // namespace millrace::runtime
