// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SaveModule.cpp - Save the module between passes ---------------------===//
#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_SAVEMODULEPASS
#include "passes/sharding/ProgramPasses.h.inc"

LogicalResult saveModule(ModuleOp module, StringRef directory, StringRef name) {
  if (directory.empty())
    return success();
  SmallString<128> path(directory);
  std::error_code error = llvm::sys::fs::create_directories(path);
  llvm::sys::path::append(path, name + ".mlir");
  if (!error) {
    llvm::raw_fd_ostream file(path, error);
    if (!error)
      module.print(file);
  }
  return error ? module.emitError("cannot write ") << path << ": " << error.message() : success();
}

namespace {
struct SaveModule : impl::SaveModulePassBase<SaveModule> {
  using SaveModulePassBase::SaveModulePassBase;
  void runOnOperation() override {
    if (failed(saveModule(getOperation(), directory, name)))
      signalPassFailure();
  }
};
} // namespace
} // namespace millrace::sharding
