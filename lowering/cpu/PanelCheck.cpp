// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PanelCheck.cpp - What preparation asks the emitter of contractions -===//
#include "lowering/cpu/PanelCheck.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/cpu/KernelCompiler.h"
#include "lowering/cpu/emitters/contraction/ContractionPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

struct Checker {
  Checker(MLIRContext *context, const CpuTarget &cpu) : toLinalg(context, ModuleOp::getOperationName()), target(kernelTarget(cpu)) {
    toLinalg.enableVerifier(false);
    addLinalgPasses(toLinalg);
  }

  std::optional<fusion::PanelLayout> ask(func::FuncOp function) {
    auto [known, isNew] = answers.try_emplace(fingerprintKernel(function));
    if (!isNew)
      return known->second;
    OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
    OpBuilder builder(module->getBodyRegion());
    builder.clone(*function.getOperation());
    if (succeeded(toLinalg.run(*module)))
      known->second = panelsOfContraction(*module->getOps<func::FuncOp>().begin(), target);
    return known->second;
  }

  PassManager toLinalg;
  KernelTarget target;
  llvm::StringMap<std::optional<fusion::PanelLayout>> answers; ///< by fingerprint: layers repeat
};

} // namespace

fusion::PanelsOf panelsOf(const CpuTarget &cpu) {
  // Made for the first question: most programs have no constants.
  return [cpu, checker = std::shared_ptr<Checker>()](func::FuncOp function) mutable -> std::optional<fusion::PanelLayout> {
    bool multiplies = function.walk([](Operation *op) {
      return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    }).wasInterrupted();
    if (!multiplies)
      return std::nullopt;
    if (!checker)
      checker = std::make_shared<Checker>(function.getContext(), cpu);
    return checker->ask(function);
  };
}

} // namespace millrace::lowering
