// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CachedProgram.h - A program from the cache, else from the compiler --===//
// What every client of the compiler does between a key and a program: the plug-in, the C ABI, the tracer, the tools.
#pragma once
#include "runtime/base/ByteStore.h"
#include "runtime/cache/Cache.h"
#include "runtime/program/Program.h"

namespace millrace::runtime {

/// The cache of this process, with the settings of its environment; made on the first call. InvalidArgument if those are
/// wrong. Thread-safe.
StatusOr<Cache *> processCache();

/// The kernels of `cache`, which must live as long: for CompileOptions::kernelStore. Both functions are empty if the cache is off.
ByteStore kernelStore(Cache &cache);
/// Likewise plans of shardings: for AutoShardingOptions::plans.
ByteStore planStore(Cache &cache);

struct CachedProgram {
  std::shared_ptr<const Program> program;
  bool hit = false;
  std::string whyNot; ///< why there was no hit, if it was asked for
  double loadNs = 0, storeNs = 0; ///< that the hit took to be found and read, the new program to be stored; of upgrades it is stored later
};

/// The program stored under `key`; else what `compile` returns, which is stored. An entry that cannot be read is
/// reported through the cache's warnings and compiled anew. A program with upgrades is stored when it has them all: `cache` must live so long.
/// `explain`: find out why there was no hit.
StatusOr<CachedProgram> cachedProgram(Cache &cache, const CacheKey &key, const std::function<StatusOr<Program>()> &compile,
                                      bool explain = false);

} // namespace millrace::runtime
