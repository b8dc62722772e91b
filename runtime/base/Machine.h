// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.h - Caches, cores and memory nodes of this machine ----------===//
// What the processor and Linux say about the machine that this process runs on. Code generation asks lowering/cpu/CpuTarget.h,
// which begins with these facts and may be told others; how many threads to use is Cpu.h's.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::runtime {

/// A level of the data caches.
struct CacheLevel {
  int64_t bytes = 0;
  int ways = 0;          ///< lines that share a set; 0 if it is not known
  int lineBytes = 64;
  unsigned sharedBy = 1; ///< logical processors that share one such cache

  bool operator==(const CacheLevel &) const = default;
};

struct Machine {
  std::vector<CacheLevel> caches; ///< level 1 first; those that the machine does not tell are missing
  unsigned processors = 1;        ///< logical ones that are online
  unsigned cores = 1;             ///< those that do not share execution units
  unsigned nodes = 1;             ///< of memory (NUMA)
  double gigahertz = 0;           ///< highest clock; 0 if it is not known

  /// Bytes of the data cache of this level (1 or 2); those of a typical core where the machine does not tell.
  int64_t cacheBytes(unsigned level) const;

  /// This machine, asked once. Thread-safe.
  static const Machine &host();
};

/// What `folder` (/sys/devices/system) says; fields that it does not have keep their defaults.
Machine readMachine(const std::string &folder);

/// Caches as CPUID tells them (leaf 4 of Intel's, 0x8000001D of AMD's processors); empty on others.
std::vector<CacheLevel> cachesFromCpuid();

/// "0-3,8" -> 5; 0 for text of another form.
unsigned countProcessors(const std::string &list);

} // namespace millrace::runtime
