// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileThroughCache.cpp - A module to a program, for every client ----===//
#include "lowering/client/CompileThroughCache.h"

#include "lowering/CacheKey.h"
#include "lowering/ModuleDump.h"
#include "lowering/ModuleLocations.h"
#include "lowering/client/TieredCompile.h"
#include "runtime/base/Activity.h"
#include "runtime/base/Environment.h"
#include "runtime/base/Progress.h"

#include <optional>

using namespace mlir;

namespace millrace {
namespace {

bool isTiered(Tiering tiering) {
  if (tiering != Tiering::AsEnvironment)
    return tiering == Tiering::On;
  return runtime::environment::isOn("MILLRACE_TIERED");
}

/// Of a module without locations.
runtime::CacheKey keyOf(ModuleOp module, const CompileRequest &request) {
  runtime::CacheKey key;
  for (auto &[name, value] : cacheKeyParts(module, request.options))
    key.add(name, value);
  for (const auto &[name, value] : request.keyParts)
    key.add(name, value);
  return key;
}

/// One compilation, in place of an entry of the cache.
runtime::StatusOr<runtime::Program> compileNow(ModuleOp module, const CompileRequest &request, ModuleDump *dump, const ErrorLog *errors,
                                               CompileReport &report) {
  CompileOptions options = request.options;
  if (dump)
    dump->follow(module, options);
  runtime::Activity activity("compiles a program"); // for processes that wait for this one
  std::optional<runtime::Progress> progress;
  if (!options.onProgress) {
    progress.emplace("compiling " + (request.what.empty() ? module.getName().value_or("a program").str() : request.what));
    options.onProgress = [&](llvm::StringRef step) { progress->show(step.str()); };
  }
  llvm::Expected<runtime::Program> program =
      isTiered(request.tiering) ? compileTiered(module, options, &report) : compile(module, options, &report);
  if (!program) {
    const std::string summary = llvm::toString(program.takeError());
    return errors ? errors->status(request.code, summary) : runtime::Status(request.code, summary);
  }
  if (request.complete)
    request.complete(*program);
  return std::move(*program);
}

} // namespace

runtime::StatusOr<CompiledProgram> compileThroughCache(ModuleOp module, runtime::Cache *cache, CompileRequest request,
                                                       const ErrorLog *errors) {
  const std::unique_ptr<ModuleDump> dump =
      ModuleDump::next(request.dumpName.empty() ? module.getName().value_or("module").str() : request.dumpName, request.dumpProcess);
  if (cache)
    request.options.kernelStore = runtime::kernelStore(*cache);
  CompiledProgram made;
  ModuleLocations locations(module);
  runtime::CacheKey key;
  if (cache) {
    locations.hide();
    key = keyOf(module, request);
    const bool isStored = !dump && cache->options().mode != runtime::CacheMode::Off;
    isStored ? locations.number() : locations.restore(); // dumps show the module as it came
  }
  made.fingerprint = key.digest();
  auto compile = [&] { return compileNow(module, request, dump.get(), errors, made.report); };
  if (cache && !dump) {
    auto adapt = [&](runtime::Program &program) { relocate(program, [&](uint32_t source) { return locations.text(source); }); };
    runtime::StatusOr<runtime::CachedProgram> found = runtime::cachedProgram(*cache, key, compile, request.explain, adapt);
    if (!found)
      return found.status();
    static_cast<runtime::CachedProgram &>(made) = std::move(*found);
    return made;
  }
  runtime::StatusOr<runtime::Program> program = compile();
  if (!program)
    return program.status();
  made.program = std::make_shared<const runtime::Program>(std::move(*program));
  made.whyNot = dump ? "a dump was asked for" : "the cache is off";
  return made;
}

} // namespace millrace
