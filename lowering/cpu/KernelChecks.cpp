// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelChecks.cpp - What passes ask the emitters about a kernel -----===//
#include "lowering/cpu/KernelChecks.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/cpu/KernelCompiler.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/contraction/ContractionPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// A question about a kernel's linalg. The pass manager is created by the first kernel, because most programs ask nothing.
template <typename Answer> class KernelQuery {
public:
  using Ask = Answer (*)(func::FuncOp linalg, const KernelTarget &target);
  KernelQuery(const CpuTarget &cpu, Ask ask) : target(kernelTarget(cpu)), ask(ask) {}

  /// Returns the answer for `kernel`, a default value if it has no linalg.
  Answer operator()(func::FuncOp kernel) {
    auto [known, isNew] = answers.try_emplace(fingerprintKernel(kernel));
    if (!isNew)
      return known->second;
    if (!toLinalg) {
      toLinalg.emplace(kernel.getContext(), ModuleOp::getOperationName());
      toLinalg->enableVerifier(false);
      addLinalgPasses(*toLinalg);
    }
    OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
    OpBuilder builder(module->getBodyRegion());
    builder.clone(*kernel.getOperation());
    if (succeeded(toLinalg->run(*module)))
      known->second = ask(*module->getOps<func::FuncOp>().begin(), target);
    return known->second;
  }

private:
  KernelTarget target;
  Ask ask;
  std::optional<PassManager> toLinalg;
  llvm::StringMap<Answer> answers; ///< by fingerprint, because layers repeat
};

bool multiplies(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) { return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

} // namespace

fusion::KernelCheck attentionCheck(const CpuTarget &cpu) {
  auto ask = [](func::FuncOp linalg, const KernelTarget &target) { return succeeded(canEmitAttention(linalg, target)); };
  return [query = std::make_shared<KernelQuery<bool>>(cpu, ask)](func::FuncOp kernel) { return (*query)(kernel); };
}

fusion::PanelsOf panelsOf(const CpuTarget &cpu) {
  using Layout = std::optional<fusion::PanelLayout>;
  auto ask = [](func::FuncOp linalg, const KernelTarget &target) -> Layout { return panelsOfContraction(linalg, target); };
  return [query = std::make_shared<KernelQuery<Layout>>(cpu, ask)](func::FuncOp kernel) { return multiplies(kernel) ? (*query)(kernel) : Layout(); };
}

} // namespace millrace::lowering
