// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileForClient.cpp - How JAX, PyTorch and C programs compile ------===//
#include "lowering/CompileForClient.h"

#include "runtime/base/Activity.h"
#include "runtime/base/Background.h"
#include "runtime/base/Progress.h"
#include "runtime/program/KernelUpgrades.h"

#include <cstdlib>

namespace millrace {
namespace {

/// Finishes a program's kernels, one with each step.
class Finisher {
public:
  Finisher(std::vector<lowering::LateKernel> kernels, std::shared_ptr<runtime::KernelUpgrades> upgrades)
      : kernels(std::move(kernels)), upgrades(std::move(upgrades)) {}

  bool operator()(bool isOver) {
    if (!isOver && next < kernels.size()) {
      // Where that fails the program keeps the code it has, which computes the same.
      if (llvm::Expected<runtime::KernelEntry> entry = kernels[next].finish())
        upgrades->publish(std::move(*entry));
      else
        isWhole = (llvm::consumeError(entry.takeError()), false);
      kernels[next++] = {}; // its bitcode
      return true;
    }
    upgrades->finish(isWhole && !isOver);
    return false;
  }

private:
  std::vector<lowering::LateKernel> kernels;
  std::shared_ptr<runtime::KernelUpgrades> upgrades;
  size_t next = 0;
  bool isWhole = true;
};

bool isTieredWished() {
  const char *wish = std::getenv("MILLRACE_TIERED");
  return wish && *wish && llvm::StringRef(wish) != "0";
}

} // namespace

llvm::Expected<runtime::Program> compileTiered(mlir::ModuleOp module, const CompileOptions &options, CompileReport *report) {
  std::vector<lowering::LateKernel> late;
  CompileOptions tiered = options;
  tiered.onLateKernel = [&](lowering::LateKernel kernel) { late.push_back(std::move(kernel)); };
  llvm::Expected<runtime::Program> program = compile(module, tiered, report);
  if (!program || late.empty())
    return program;
  program->upgrades = std::make_shared<runtime::KernelUpgrades>();
  runtime::Background::ofProcess().add(Finisher(std::move(late), program->upgrades));
  return program;
}

llvm::Expected<runtime::Program> compileForClient(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef what, CompileReport *report) {
  runtime::Activity activity("compiles a program"); // for processes that wait for this one
  runtime::Progress progress("compiling " + what.str());
  CompileOptions shown = options;
  shown.onProgress = [&](llvm::StringRef step) { progress.show(step.str()); };
  return isTieredWished() ? compileTiered(module, shown, report) : compile(module, shown, report);
}

} // namespace millrace
