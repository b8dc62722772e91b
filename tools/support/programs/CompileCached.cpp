// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileCached.cpp - Compile through the cache ----------------------===//
#include "tools/support/programs/CompileCached.h"

#include "lowering/client/CompileThroughCache.h"

#include "llvm/Support/raw_ostream.h"

namespace millrace::tools {

llvm::Expected<runtime::Cache *> openCache(const CacheSettings &cache) {
  auto settings = runtime::cacheOptionsFromEnvironment();
  if (!settings)
    return llvm::createStringError(settings.status().toString());
  if (!cache.folder.empty())
    settings->folder = cache.folder;
  // A folder given by the user overrides an environment without one, but not MILLRACE_CACHE=off.
  if (cache.use == CacheUse::Off || settings->mode == runtime::CacheMode::Off)
    return nullptr;
  // The caches are never destroyed, because upgrades of a tiered program are stored while the process ends.
  static auto &stores = *new std::vector<std::unique_ptr<runtime::Cache>>;
  runtime::Cache &store = *stores.emplace_back(std::make_unique<runtime::Cache>(*settings));
  if (!cache.folder.empty() && settings->mode == runtime::CacheMode::ReadWrite)
    if (runtime::Status status = store.checkWritable(); !status.ok())
      return llvm::createStringError(std::string(status.message()));
  return &store;
}

llvm::Expected<std::shared_ptr<const runtime::Program>> compileCached(mlir::ModuleOp module,
                                                                      const CompileOptions &options,
                                                                      const CacheSettings &cache,
                                                                      CompileReport &report) {
  llvm::Expected<runtime::Cache *> store = openCache(cache);
  if (!store)
    return store.takeError();
  CompileRequest request;
  request.options = options;
  request.tiering = cache.tiered ? Tiering::On : Tiering::Off;
  request.explain = cache.explain;
  runtime::StatusOr<CompiledProgram> found = compileThroughCache(module, *store, std::move(request));
  if (!found)
    return llvm::createStringError(std::string(found.status().message()));
  report = std::move(found->report);
  if (cache.explain && found->hit)
    llvm::outs() << "cache: hit in " << (*store)->options().folder << "\n";
  else if (cache.explain && *store)
    llvm::outs() << "cache: miss, " << found->whyNot << "; " << report.kernelsFromMemory + report.kernelsFromDisk << " of "
                 << report.kernels.size() << " kernels were compiled before\n";
  return std::move(found->program);
}

} // namespace millrace::tools
