// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeChlo.cpp - CHLO operations away before evaluation ----------===//
#include "tools/support/LegalizeChlo.h"

#include "dialects/chlo/Ops.h"
#include "passes/chlo/Passes.h"

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
