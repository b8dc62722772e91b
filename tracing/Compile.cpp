// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - StableHLO text to a program, through the cache --------===//
#include "tracing/Compile.h"

#include "lowering/CacheKey.h"
#include "lowering/Compile.h"
#include "lowering/hlo/HloText.h"
#include "runtime/cache/Cache.h"
#include "tracing/Dump.h"
#include "tracing/Metrics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace millrace::tracing {
namespace {

struct SharedCache {
  std::optional<runtime::CacheOptions> chosen; ///< else the environment's
  std::unique_ptr<runtime::Cache> cache;
  static SharedCache &get() {
    static auto *shared = new SharedCache;
    return *shared;
  }
};

runtime::StatusOr<runtime::Cache *> openCache() {
  SharedCache &shared = SharedCache::get();
  if (!shared.cache) {
    runtime::StatusOr<runtime::CacheOptions> options =
        shared.chosen ? runtime::StatusOr<runtime::CacheOptions>(*shared.chosen) : runtime::cacheOptionsFromEnvironment();
    if (!options)
      return options.status();
    shared.cache = std::make_unique<runtime::Cache>(std::move(*options));
  }
  return shared.cache.get();
}

} // namespace

runtime::Status useCacheFolder(const std::string &folder, bool readOnly) {
  runtime::StatusOr<runtime::CacheOptions> options = runtime::cacheOptionsFromEnvironment();
  if (!options)
    return options.status();
  options->folder = folder;
  options->mode = readOnly ? runtime::CacheMode::ReadOnly : runtime::CacheMode::ReadWrite;
  SharedCache::get().chosen = std::move(*options);
  return {};
}

runtime::StatusOr<runtime::Program> compileText(const std::string &text) {
  runtime::StatusOr<runtime::Cache *> cache = openCache();
  if (!cache)
    return cache.status();
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string errors;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      errors += (errors.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return runtime::internalError("the traced program cannot be parsed: " + errors);
  CompileOptions options;
  options.xlaSemantics = true;
  std::optional<ProgramDump> dump = ProgramDump::next();
  if (dump) {
    dump->write("before_optimizations.mlir", text);
    if (runtime::StatusOr<std::string> hlo = hloText(text))
      dump->write("before_optimizations.txt", *hlo);
    options.onStop = [&](llvm::StringRef stop, llvm::StringRef, llvm::StringRef program) {
      if (stop == "fused")
        dump->write("after_optimizations.mlir", program.str());
    };
  }
  runtime::CacheKey key;
  for (auto &[name, value] : cacheKeyParts(*module, options))
    key.add(name, value);
  if (std::optional<runtime::Cache::Hit> hit = dump ? std::nullopt : (*cache)->find(key)) {
    runtime::StatusOr<runtime::Program> program = runtime::parse(hit->value, hit->owner);
    if (program) {
      Metrics::get().count("PersistentCacheHit");
      return program;
    }
  }
  Metrics::get().count("PersistentCacheMiss");
  llvm::Expected<runtime::Program> program = compile(*module, options);
  if (!program) {
    std::string summary = llvm::toString(program.takeError());
    return runtime::internalError(errors.empty() ? summary : errors + "\n" + summary);
  }
  runtime::StatusOr<std::string> bytes = runtime::serialize(*program);
  if (!bytes)
    return bytes.status();
  (*cache)->store(key, *bytes);
  return std::move(*program);
}

runtime::StatusOr<std::string> hloText(const std::string &text) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  std::string made;
  llvm::raw_string_ostream stream(made);
  if (!module || failed(hlo::exportHloText(*module, stream)))
    return runtime::unimplemented("the traced program has no HLO text; its StableHLO text is there");
  return made;
}

} // namespace millrace::tracing
