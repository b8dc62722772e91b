// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusePoolGradients.cpp - Group gradients of padded max pooling ------===//
// Input:   %p = pad %x with -inf ; %s = select_and_scatter %p, %g ; %0 = slice %s, the elements of %x
// Output:  %0 = call @slice_1(%x, %g): the elements around %x are never stored
// Leaves alone other paddings, other slices, and values with other users.
//===----------------------------------------------------------------------===//
#include "passes/fusion/plan/Outline.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/pooling/PoolGradients.h"
#include "passes/fusion/plan/ProgramBlocks.h"

using namespace mlir;

namespace millrace::fusion {
#define GEN_PASS_DEF_FUSEPOOLGRADIENTSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

struct FusePoolGradients : impl::FusePoolGradientsPassBase<FusePoolGradients> {
  void runOnOperation() override {
    KernelOutliner outliner(getOperation());
    forEachProgramBlock(getOperation(), [&](Block &block) { outliner.outline(findPoolGradients(block)); });
  }
};

} // namespace
} // namespace millrace::fusion
