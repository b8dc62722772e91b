// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramCache.h - Loaded programs of this process --------------------===//
// The cache is bounded by the number of programs (XLA_COMPILATION_CACHE_SIZE, 1024) and by bytes (MILLRACE_PROGRAM_CACHE_BYTES, a quarter of the
// machine's memory). The bytes of a program are its code and constants; its arena belongs to the device. The least recently used program is evicted
// first and compiled again (or read from the persistent cache) when it is needed again. The counter EvictedPrograms counts evictions.
#pragma once
#include "tracing/reports/Analysis.h"

#include <list>
#include <unordered_map>

namespace millrace::tracing {

struct LoadedProgram {
  std::shared_ptr<runtime::Executable> executable;
  std::vector<int64_t> donations = {}; ///< per leaf the result that takes its memory, or -1
  GraphSummary summary = {};           ///< set under PT_XLA_DEBUG only
  /// The text of a program for several devices, and the shardings of its results.
  std::string text = {};
  std::vector<ShardingPtr> results = {};
  /// Of a graph's program: the types of its results, and per leaf the type of the number that the leaf is, or Invalid.
  std::vector<Shape> shapes = {};
  std::vector<DType> numbers = {};
  /// Returns the bytes that the process holds for the program.
  uint64_t bytes() const;
};
using LoadedProgramPtr = std::shared_ptr<LoadedProgram>;

/// Not thread-safe. A caller that runs a program holds a reference to it, because the program may be evicted meanwhile.
class ProgramCache {
public:
  struct Limits {
    size_t programs = 1024;
    uint64_t bytes = ~uint64_t(0);
    static Limits ofEnvironment();
  };
  explicit ProgramCache(Limits limits) : limits(limits) {}
  /// Returns the program and makes it the most recently used one; null if it is not in the cache.
  LoadedProgramPtr find(const Digest &key);
  /// Adds a program, or replaces the one with this key. Evicts other programs, never this one.
  void add(const Digest &key, LoadedProgramPtr program);
  void clear();
  size_t size() const { return order.size(); }
  uint64_t bytes() const { return held; }
  template <typename F>
  void forEach(F &&visit) const {
    for (const Item &item : order)
      visit(*item.program);
  }

private:
  struct Item {
    Digest key;
    LoadedProgramPtr program;
    uint64_t bytes;
  };
  void erase(std::list<Item>::iterator item);
  const Limits limits;
  std::list<Item> order; ///< the most recently used first
  std::unordered_map<Digest, std::list<Item>::iterator, DigestHash> places;
  uint64_t held = 0;
};

} // namespace millrace::tracing
