// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileCached.h - Compile, or take the program from the cache ------===//
#pragma once

#include "lowering/Compile.h"
#include "runtime/cache/Cache.h"

#include <memory>
#include <string>

namespace millrace::tools {

enum class CacheUse { On, Off };

struct CacheSettings {
  CacheUse use = CacheUse::On;
  std::string folder;   ///< empty: MILLRACE_CACHE_DIR, else the user's cache folder
  bool explain = false; ///< print hit, or miss with the part that differs and how many kernels were there
  bool tiered = false;  ///< compileTiered() instead of compile()
};

/// The cache of these settings and the environment's; null where it is off. The error says what is wrong with them.
llvm::Expected<runtime::Cache *> openCache(const CacheSettings &cache);

/// compile() with the persistent cache in front. `report` is empty after a hit.
llvm::Expected<std::shared_ptr<const runtime::Program>> compileCached(mlir::ModuleOp module,
                                                                      const CompileOptions &options,
                                                                      const CacheSettings &cache,
                                                                      CompileReport &report);

} // namespace millrace::tools
