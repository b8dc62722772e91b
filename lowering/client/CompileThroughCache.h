// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileThroughCache.h - A module to a program, for every client ------===//
// PJRT, PyTorch's tracing, the C ABI and the tools compile here. What they do not share is in the request.
#pragma once

#include "lowering/Compile.h"
#include "lowering/client/ErrorLog.h"
#include "runtime/cache/CachedProgram.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

/// Whether kernels start on quick machine code (lowering/client/TieredCompile.h).
enum class Tiering { AsEnvironment, Off, On }; ///< AsEnvironment: MILLRACE_TIERED

struct CompileRequest {
  /// Without kernelStore, which is that of the cache. Where onProgress is not set, who waits is told on standard error.
  CompileOptions options;
  std::string what;        ///< "compiling `what`"; empty: the module's name
  std::string dumpName;    ///< of the files of XLA_FLAGS=--xla_dump_to; empty: the module's name
  std::string dumpProcess; ///< stands before their names
  Tiering tiering = Tiering::AsEnvironment;
  bool explain = false;       ///< find out why there was no hit
  runtime::Code code = runtime::Code::InvalidArgument; ///< of the error of a program that cannot be compiled
  std::vector<std::pair<std::string, std::string>> keyParts; ///< beside those of cacheKeyParts()
  std::function<void(runtime::Program &)> complete; ///< adds to a compiled program, before it is stored
};

struct CompiledProgram : runtime::CachedProgram {
  std::string fingerprint; ///< digest of the key
  CompileReport report;    ///< empty after a hit
};

/// The program of `module` from `cache`, else from the compiler, which changes the module; null: no cache. Modules that differ in locations alone
/// share an entry, and each gets the program with its own. A program that is dumped is always compiled. The error says the stop, the kernel, the operation and the user's line, below what `errors` has collected; tools, whose handlers have
/// written that already, have none.
runtime::StatusOr<CompiledProgram> compileThroughCache(mlir::ModuleOp module, runtime::Cache *cache, CompileRequest request,
                                                       const ErrorLog *errors = nullptr);

} // namespace millrace
