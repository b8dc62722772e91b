// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TieredCompile.cpp - Programs that start on quick machine code -------===//
#include "lowering/client/TieredCompile.h"

#include "runtime/base/Background.h"
#include "runtime/program/KernelUpgrades.h"

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

} // namespace millrace
