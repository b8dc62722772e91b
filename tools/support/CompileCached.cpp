// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileCached.cpp - Compile, or take the program from the cache ----===//
#include "tools/support/CompileCached.h"

#include "lowering/CacheKey.h"
#include "runtime/cache/Cache.h"

#include "llvm/Support/raw_ostream.h"

namespace millrace::tools {

llvm::Expected<std::shared_ptr<const runtime::Program>> compileCached(mlir::ModuleOp module,
                                                                      const CompileOptions &options,
                                                                      const CacheSettings &cache,
                                                                      CompileReport &report) {
  auto compileNow = [&]() -> llvm::Expected<std::shared_ptr<const runtime::Program>> {
    auto program = compile(module, options, &report);
    if (!program)
      return program.takeError();
    return std::make_shared<runtime::Program>(std::move(*program));
  };
  auto settings = runtime::cacheOptionsFromEnvironment();
  if (!settings)
    return llvm::createStringError(settings.status().toString());
  if (!cache.folder.empty())
    settings->folder = cache.folder;
  // A folder given by the user overrides an environment without one, but not MILLRACE_CACHE=off.
  if (cache.use == CacheUse::Off || settings->mode == runtime::CacheMode::Off)
    return compileNow();

  runtime::Cache store(*settings);
  if (!cache.folder.empty() && settings->mode == runtime::CacheMode::ReadWrite)
    if (runtime::Status status = store.checkWritable(); !status.ok())
      return llvm::createStringError(std::string(status.message()));
  runtime::CacheKey key;
  for (const auto &[name, value] : cacheKeyParts(module, options))
    key.add(name, value);
  std::string whyNot;
  if (auto hit = store.find(key, cache.explain ? &whyNot : nullptr)) {
    auto program = runtime::parse(hit->value, hit->owner);
    if (program) {
      if (cache.explain)
        llvm::outs() << "cache: hit in " << settings->folder << "\n";
      return std::make_shared<runtime::Program>(std::move(*program));
    }
    llvm::errs() << "warning: the cache entry is damaged and compiled anew: " << std::string(program.status().message()) << "\n";
  }
  if (cache.explain)
    llvm::outs() << "cache: miss, " << whyNot << "\n";
  auto program = compileNow();
  if (!program)
    return program.takeError();
  if (auto bytes = runtime::serialize(**program))
    store.store(key, *bytes);
  return program;
}

} // namespace millrace::tools
