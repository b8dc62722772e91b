// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MarkInPlace.cpp - Kernels that update an operand's buffer ----------===//
// Input:   func.func private @k(%a, %u, %i) {millrace.kernel} { %0 = dynamic_update_slice %a, %u, %i ; return %0 }
// Output:  the same with millrace.in_place = [array<i64: 0, 0>]
// Leaves alone an update of a value computed in the kernel: it has no buffer of its own to keep.
//===----------------------------------------------------------------------===//
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ScalarLoopPolicy.h"

#include "dialects/stablehlo/Ops.h"

using namespace mlir;

namespace millrace::fusion {
#define GEN_PASS_DEF_MARKINPLACEPASS
#include "passes/fusion/Passes.h.inc"

SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(func::FuncOp kernel) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  if (auto attr = kernel->getAttrOfType<ArrayAttr>(kInPlaceAttr))
    for (auto pair : attr.getAsRange<DenseI64ArrayAttr>())
      pairs.push_back({(unsigned)pair[0], (unsigned)pair[1]});
  return pairs;
}

namespace {

struct MarkInPlace : impl::MarkInPlacePassBase<MarkInPlace> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr))
        mark(kernel);
  }

  static void mark(func::FuncOp kernel) {
    OpBuilder builder(kernel.getContext());
    SmallVector<Attribute> pairs;
    llvm::SmallDenseSet<unsigned> taken;
    auto ret = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
    for (OpOperand &returned : ret->getOpOperands()) {
      Value updated;
      if (auto update = returned.get().getDefiningOp<stablehlo::DynamicUpdateSliceOp>())
        updated = update.getOperand();
      else if (auto scatter = returned.get().getDefiningOp<stablehlo::ScatterOp>())
        updated = scatter.getInputs()[cast<OpResult>(returned.get()).getResultNumber()];
      else if (auto loop = returned.get().getDefiningOp<stablehlo::WhileOp>(); loop && !isFewScalars(returned.get().getType()))
        updated = loop->getOperand(cast<OpResult>(returned.get()).getResultNumber());
      auto argument = dyn_cast_or_null<BlockArgument>(updated);
      if (!argument || argument.getOwner() != &kernel.getBody().front())
        continue;
      // Returned twice, the second result would need a buffer that differs from the first.
      if (!returned.get().hasOneUse() || argument.getType() != returned.get().getType())
        continue;
      if (!taken.insert(argument.getArgNumber()).second)
        continue;
      pairs.push_back(builder.getDenseI64ArrayAttr({argument.getArgNumber(), returned.getOperandNumber()}));
    }
    if (!pairs.empty())
      kernel->setAttr(kInPlaceAttr, builder.getArrayAttr(pairs));
  }
};

} // namespace
} // namespace millrace::fusion
