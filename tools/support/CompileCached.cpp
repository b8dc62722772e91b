// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileCached.cpp - Compile, or take the program from the cache ----===//
#include "tools/support/CompileCached.h"

#include "lowering/CacheKey.h"

namespace millrace::tools {

llvm::Expected<std::shared_ptr<const runtime::Program>> compileCached(mlir::ModuleOp module,
                                                                      const CompileOptions &options,
                                                                      const CacheSettings &cache,
                                                                      CompileReport &report) {
  auto program = compile(module, options, &report);
  if (!program)
    return program.takeError();
  return std::make_shared<runtime::Program>(std::move(*program));
}

} // namespace millrace::tools
