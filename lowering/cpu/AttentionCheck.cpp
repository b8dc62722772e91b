// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionCheck.cpp - Check whether attention can be emitted --------===//
#include "lowering/cpu/AttentionCheck.h"

#include "lowering/cpu/KernelCompiler.h"
#include "lowering/cpu/emitters/Emitter.h"

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

  bool check(func::FuncOp function) {
    auto [known, isNew] = answers.try_emplace(fingerprintKernel(function), false);
    if (!isNew)
      return known->second;
    OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
    OpBuilder builder(module->getBodyRegion());
    builder.clone(*function.getOperation());
    return known->second = succeeded(toLinalg.run(*module)) && succeeded(canEmitAttention(*module->getOps<func::FuncOp>().begin(), target));
  }

  PassManager toLinalg;
  KernelTarget target;
  llvm::StringMap<bool> answers; ///< by fingerprint, because layers repeat
};

} // namespace

fusion::KernelCheck attentionCheck(const CpuTarget &cpu) {
  // The checker is created by the first query, because most programs have no attention.
  return [cpu, checker = std::shared_ptr<Checker>()](func::FuncOp function) mutable {
    if (!checker)
      checker = std::make_shared<Checker>(function.getContext(), cpu);
    return checker->check(function);
  };
}

} // namespace millrace::lowering
