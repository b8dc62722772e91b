// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramCache.h - Programs that are ready to run ---------------------===//
// Bounded by number (XLA_COMPILATION_CACHE_SIZE, 1024) and by bytes (MILLRACE_PROGRAM_CACHE_BYTES, a quarter of the machine's memory): a
// program keeps its code and its constants; the room for its intermediate results is the device's. What was not used for the longest time
// goes first and is compiled anew when it comes back (or read from the persistent cache). The counter EvictedPrograms says how many went.
#pragma once
#include "tracing/Analysis.h"

#include <list>
#include <unordered_map>

namespace millrace::tracing {

struct LoadedProgram {
  std::shared_ptr<runtime::Executable> executable;
  std::vector<int64_t> donations = {}; ///< per leaf: the result that takes its memory, or -1
  GraphSummary summary = {};           ///< under PT_XLA_DEBUG
  /// Of a program for several devices: its text, and the shardings of its results.
  std::string text = {};
  std::vector<ShardingPtr> results = {};
  /// Of a graph's program: the types of its results, and per leaf that of the number that it is, or Invalid.
  std::vector<Shape> shapes = {};
  std::vector<DType> numbers = {};
  /// What the process holds for it.
  uint64_t bytes() const;
};
using LoadedProgramPtr = std::shared_ptr<LoadedProgram>;

/// Not thread-safe. Who runs a program holds it: it may be evicted meanwhile.
class ProgramCache {
public:
  struct Limits {
    size_t programs = 1024;
    uint64_t bytes = ~uint64_t(0);
    static Limits ofEnvironment();
  };
  explicit ProgramCache(Limits limits) : limits(limits) {}
  /// Null if it is not there; else the one that was used last.
  LoadedProgramPtr find(const Digest &key);
  /// Replaces what has this key. Evicts others, never this one.
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
  std::list<Item> order; ///< the last used first
  std::unordered_map<Digest, std::list<Item>::iterator, DigestHash> places;
  uint64_t held = 0;
};

} // namespace millrace::tracing
