// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseAttention.cpp - Group attention into kernels -------------------===//
// Input:   %s = dot_general %q, %k ; %p = softmax of %s, written as exponentials over their sums ; %o = dot_general %p, %v
// Output:  %o = call @dot_general_1(%q, %k, %v), whose function has millrace.kernel and millrace.attention: no %s and no %p in memory
//          The same for the gradients of %q, %k and %v. First of all fusion passes: copies of these operations would only be in the way.
// Leaves alone what AttentionPattern.cpp and AttentionGradients.cpp do not match, and what code generation has no emitter for.
//===----------------------------------------------------------------------===//
#include "passes/fusion/attention/AttentionPattern.h"
#include "passes/fusion/plan/Outline.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

using namespace mlir;

namespace millrace::fusion {
#define GEN_PASS_DEF_FUSEATTENTIONPASS
#include "passes/fusion/Passes.h.inc"

namespace {

struct FuseAttention : impl::FuseAttentionPassBase<FuseAttention> {
  FuseAttention() = default;
  explicit FuseAttention(KernelCheck isAttention) : isAttention(std::move(isAttention)) {}

  void runOnOperation() override {
    KernelOutliner outliner(getOperation());
    forEachProgramBlock(getOperation(), [&](Block &block) { outliner.outline(findAttention(block, isAttention)); });
  }

  KernelCheck isAttention;
};

} // namespace

std::unique_ptr<Pass> createFuseAttentionPass(KernelCheck isAttention) { return std::make_unique<FuseAttention>(std::move(isAttention)); }

} // namespace millrace::fusion
