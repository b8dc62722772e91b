// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CachedProgram.h - Look up a program or compile it -------------------===//
// All clients of the compiler use it to get the program of a key: the plug-in, the C ABI, the tracer, the tools.
#pragma once
#include "runtime/base/ByteStore.h"
#include "runtime/cache/Cache.h"
#include "runtime/program/Program.h"

namespace millrace::runtime {

/// Returns the cache of this process, which is made on the first call with the settings of the environment. Errors: InvalidArgument if these are
/// invalid. Thread-safe.
StatusOr<Cache *> processCache();

/// Returns the kernels of `cache`, which must outlive the result, for CompileOptions::kernelStore. Both functions are empty if the cache is off.
ByteStore kernelStore(Cache &cache);
/// Returns the plans of shardings of `cache` likewise, for AutoShardingOptions::plans.
ByteStore planStore(Cache &cache);

struct CachedProgram {
  std::shared_ptr<const Program> program;
  bool hit = false;
  std::string whyNot; ///< the reason of a miss, if `explain` was set
  double loadNs = 0, storeNs = 0; ///< time to find and read a hit, and to store a new program; a program with upgrades is stored later
};

/// The program stored under `key`; else what `compile` returns, which is stored. An entry that cannot be read is
/// reported through the cache's warnings and compiled anew. A program with upgrades is stored when it has them all: `cache` must live so long.
/// `explain`: find out why there was no hit. `adapt`: changes what was found, not its meaning, for who asked.
StatusOr<CachedProgram> cachedProgram(Cache &cache, const CacheKey &key, const std::function<StatusOr<Program>()> &compile, bool explain = false,
                                      const std::function<void(Program &)> &adapt = {});

} // namespace millrace::runtime
