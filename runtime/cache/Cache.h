// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cache.h - Persistent compilation cache ------------------------------===//
// A folder of files, one per entry, shared by any number of processes without locks: entries are written to temporary
// files and renamed, and checked completely (checksum, flatbuffers verifier, key) when they are read. Processes that want an entry which is not
// there may take turns, so that one makes it for all.
//   <folder>/<first two digits of the key>/<key>.mrc for programs, .mrk for single kernels, .mrs for plans of shardings;
//   <folder>/usage: how much there is
// The key is the hash of named parts (program, options, devices, CPU features, versions, ...). A miss is explained by
// comparing with the stored entries: which parts of the most similar one differ.
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
  /// Names are unique: "program", "options", "cpu features", "libmillrace". Order does not matter.
  void add(std::string name, std::string_view value);
  struct Part {
    std::string name, digest;
    bool operator==(const Part &) const = default;
  };
  /// Sorted by name.
  const std::vector<Part> &parts() const { return sorted; }
  /// 64 hexadecimal digits.
  std::string digest() const;

private:
  std::vector<Part> sorted;
};

enum class CacheMode { Off, ReadOnly, ReadWrite };

struct CacheOptions {
  CacheMode mode = CacheMode::ReadWrite;
  std::string folder;
  uint64_t sizeLimit = uint64_t(10) << 30; ///< bytes; least recently used entries go first
  /// Receives one line per damaged entry or failed write; stderr if empty.
  std::function<void(const std::string &)> warn;
};

/// Folder from MILLRACE_CACHE_DIR, else $XDG_CACHE_HOME/millrace, else ~/.cache/millrace; mode from MILLRACE_CACHE=
/// off|ro|rw; size limit from MILLRACE_CACHE_SIZE in MiB. InvalidArgument for another mode or size; without any home
/// folder the mode is Off.
StatusOr<CacheOptions> cacheOptionsFromEnvironment();

/// What a key stands for. Misses are explained among entries of one kind.
enum class EntryKind { Program, Kernel, Plan };

struct CacheStats {
  uint64_t hits = 0, misses = 0; ///< of programs
  uint64_t kernelHits = 0, kernelMisses = 0;
  uint64_t planHits = 0, planMisses = 0; ///< of shardings that were chosen automatically
  uint64_t writes = 0, damaged = 0, evicted = 0;
};

/// Thread-safe. Nothing here fails the caller: a damaged entry is a miss with a warning, a failed write is a warning.
class Cache {
public:
  explicit Cache(CacheOptions options);

  struct Hit {
    std::string_view value;            ///< 64-byte aligned
    std::shared_ptr<const void> owner; ///< keeps `value`
  };
  /// The entry of that key. On a miss `whyNot` (if given) says why, for example "the cache has this program, but with
  /// other options, cpu features", "no entry has this program", "the entry is damaged".
  std::optional<Hit> find(const CacheKey &key, std::string *whyNot = nullptr, EntryKind kind = EntryKind::Program);

  /// Stores (or replaces) an entry, then removes the least recently used ones beyond the size limit. Does nothing
  /// unless the mode is ReadWrite.
  void store(const CacheKey &key, std::string_view value, EntryKind kind = EntryKind::Program);

  /// Held by whoever is about to make an entry; a process that waited finds it afterwards. Null if that cannot be, or takes too long: it
  /// has to be made anyway.
  std::shared_ptr<void> turn(const CacheKey &key) const;
  /// Whether there is a file for it.
  bool mayHave(const CacheKey &key) const;

  const CacheOptions &options() const { return settings; }
  CacheStats stats() const;
  /// Ok if entries can be written; PermissionDenied and so on, for messages at start-up.
  Status checkWritable() const;
  /// Says one line through CacheOptions::warn.
  void warn(const std::string &message) const;
  /// The same, the first time that something of this name is said of the folder in this process: a disk is full for every entry.
  void warnOnce(const std::string &what, const std::string &message) const;

private:
  std::string path(const std::string &digest, EntryKind kind) const;
  std::string explain(const CacheKey &key) const;
  /// `bytes` more are in the folder; removes entries if these are too many. `tellOthers`: processes, too.
  void count(uint64_t bytes, bool tellOthers, const std::string &justWritten);
  void evict(const std::string &justWritten);

  CacheOptions settings;
  mutable std::mutex mutex;
  CacheStats counters;                     ///< guarded by mutex
  std::optional<uint64_t> estimatedBytes;  ///< guarded by mutex; size of the folder as this process knows it
  uint64_t untoldBytes = 0;                ///< guarded by mutex; of these, what is not in the folder's `usage` yet
};

} // namespace millrace::runtime
