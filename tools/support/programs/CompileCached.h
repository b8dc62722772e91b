// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileCached.h - Compile through the cache ------------------------===//
#pragma once

#include "lowering/Compile.h"
#include "runtime/cache/Cache.h"

#include <memory>
#include <string>

namespace millrace::tools {

enum class CacheUse { On, Off };

struct CacheSettings {
  CacheUse use = CacheUse::On;
  std::string folder;   ///< folder of the cache; if empty MILLRACE_CACHE_DIR, else the user's cache folder
  bool explain = false; ///< print a hit, or a miss with the part that differs and the number of kernels that were found
  bool tiered = false;  ///< call compileTiered() instead of compile()
};

/// Returns the cache of these settings and the environment's; null if it is off. The error says what is wrong with the settings.
llvm::Expected<runtime::Cache *> openCache(const CacheSettings &cache);

/// Calls compile() on a miss of the persistent cache. `report` is empty after a hit.
llvm::Expected<std::shared_ptr<const runtime::Program>> compileCached(mlir::ModuleOp module,
                                                                      const CompileOptions &options,
                                                                      const CacheSettings &cache,
                                                                      CompileReport &report);

} // namespace millrace::tools
