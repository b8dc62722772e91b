// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CpuTarget.h - The machine that code is generated for ---------------===//
// All that a pass or an emitter may assume about the machine comes from here.
#pragma once

#include "runtime/base/Machine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace::lowering {

struct CpuTarget {
  std::string triple, cpu;
  std::vector<std::string> features; ///< LLVM names, enabled ones only, without sign; sorted
  std::vector<runtime::CacheLevel> caches; ///< of data, level 1 first; at least two
  unsigned threads = 2;   ///< that run a program's kernels, whose units are cut for so many
  double gigahertz = 3.5; ///< for estimates of time only
  std::string problem;    ///< of the overrides in the environment; compilation for such a target is refused with this text

  /// This machine, with threads as in runtime::defaultThreadCount() but at most one per processor, changed by MILLRACE_TARGET,
  /// MILLRACE_TARGET_THREADS and MILLRACE_TARGET_CACHES (applyOverrides()). Determined once.
  static CpuTarget host();
  /// A machine with the caches of a typical one and two threads: "host", a processor or level of x86-64 that LLVM knows ("x86-64-v3",
  /// "skylake-avx512", "znver4"), "avx2" and "avx512" for the levels 3 and 4, "aarch64" (Armv8-A without extensions), or "aarch64-dotprod" (with
  /// products of bytes, as from Armv8.2-A on). The error lists what there is.
  static llvm::Expected<CpuTarget> named(llvm::StringRef name);

  bool has(llvm::StringRef feature) const;
  /// Returns the bytes of level 1, 2 or 3; 0 if the machine has no such cache.
  int64_t cacheBytes(unsigned level) const;
  /// Sets the cache levels from text such as "32K/8,1M/16": size and ways of each level, from level 1 on. The error describes the expected form.
  llvm::Error setCaches(llvm::StringRef text);
  std::string cachesText() const;
  /// Returns the text that `xla-compile --print-target` prints.
  std::string describe() const;
  /// Returns true if both targets allow the same instructions and name the same processor.
  bool hasInstructionsOf(const CpuTarget &other) const;
  /// Returns everything that compiled code depends on, by name, as parts of cache keys.
  std::vector<std::pair<std::string, std::string>> keyParts() const;
  bool operator==(const CpuTarget &) const = default;
};

/// The user's description of the machine; an empty text or 0 leaves a field unchanged.
struct CpuTargetOverrides {
  std::string name;     ///< for CpuTarget::named()
  unsigned threads = 0; ///< 1 to 1024
  std::string caches;   ///< for CpuTarget::setCaches()
};
/// Changes `target`; an error message begins with the name of the field.
llvm::Error applyOverrides(const CpuTargetOverrides &overrides, CpuTarget &target);

} // namespace millrace::lowering
