// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.h - Caches, cores and memory nodes of this machine ----------===//
// These are the facts that the processor and Linux report about the machine of this process. Code generation uses lowering/cpu/CpuTarget.h, which
// starts from these facts and can be given others; Cpu.h determines the number of threads.
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
  std::vector<CacheLevel> caches; ///< level 1 first; levels that the machine does not report are missing
  unsigned processors = 1;        ///< logical ones that are online
  unsigned cores = 1;             ///< cores, which share no execution units
  unsigned nodes = 1;             ///< memory nodes (NUMA)
  double gigahertz = 0;           ///< highest clock rate; 0 if it is not known

  /// Returns the bytes of the data cache of this level (1 or 2), or those of a typical core if the machine does not report them.
  int64_t cacheBytes(unsigned level) const;

  /// Returns this machine, whose facts are read once. Thread-safe.
  static const Machine &host();
};

/// Reads the facts from `folder` (/sys/devices/system); fields that are missing there keep their defaults.
Machine readMachine(const std::string &folder);

/// Returns the caches that CPUID reports (leaf 4 of Intel's, 0x8000001D of AMD's processors); empty on other processors.
std::vector<CacheLevel> cachesFromCpuid();

/// Returns the number of processors in a list: 5 for "0-3,8"; 0 for text of another form.
unsigned countProcessors(const std::string &list);

} // namespace millrace::runtime
