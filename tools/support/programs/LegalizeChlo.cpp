// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeChlo.cpp - Legalize CHLO before the evaluation --------------===//
#include "tools/support/programs/LegalizeChlo.h"

#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/chlo/Passes.h"
#include "passes/simplify/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

LogicalResult millrace::tools::legalizeChlo(ModuleOp module) {
  auto found = module.walk([](Operation *op) {
    return isa_and_nonnull<chlo::ChloDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addNestedPass<func::FuncOp>(chlo::createChloLegalizeToStablehloPass());
  return pm.run(module);
}

LogicalResult millrace::tools::legalizeDeprecated(ModuleOp module) {
  auto found = module.walk([](Operation *op) {
    return isa<stablehlo::EinsumOp, stablehlo::UnaryEinsumOp, stablehlo::CrossReplicaSumOp,
               stablehlo::TorchIndexSelectOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  simplify::StablehloLegalizeDeprecatedOpsPassOptions options;
  options.failOnUnused = false;
  pm.addNestedPass<func::FuncOp>(simplify::createStablehloLegalizeDeprecatedOpsPass(options));
  return pm.run(module);
}
