// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramBlocks.cpp - Blocks whose operations become kernels or steps ===//
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace millrace::fusion {

static void visitRegion(Region &region, llvm::function_ref<void(Block &)> visit) {
  for (Block &block : region) {
    for (Operation &op : block)
      if (classify(&op) == OpRole::TopLevel && isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
        for (Region &inner : op.getRegions())
          visitRegion(inner, visit);
    visit(block);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
}

void forEachProgramBlock(func::FuncOp function, llvm::function_ref<void(Block &)> visit) {
  if (!function.isExternal() && !function->hasAttr(kKernelAttr))
    visitRegion(function.getBody(), visit);
}

void forEachProgramBlock(ModuleOp module, llvm::function_ref<void(Block &)> visit) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    forEachProgramBlock(function, visit);
}

} // namespace millrace::fusion
