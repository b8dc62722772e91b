// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PoolGradients.cpp - Find gradients of padded pooling in a block -----===//
// JAX pads the operand of max pooling with -inf before it takes the gradient, and cuts the result back: two copies that cost more than
// the rest. As one kernel the elements around the operand are never stored.
#include "passes/fusion/pooling/PoolGradients.h"

#include "passes/fusion/plan/FusionPolicy.h"

using namespace mlir;

namespace millrace::fusion {

bool isPaddedAround(stablehlo::SelectAndScatterOp scatter, stablehlo::PadOp pad, stablehlo::SliceOp slice) {
  if (scatter.getOperand() != pad.getResult() || slice.getOperand() != scatter.getResult())
    return false;
  auto isNonzero = [](int64_t value) { return value != 0; };
  if (scatter.getPadding() && llvm::any_of(scatter.getPadding()->getValues<int64_t>(), isNonzero))
    return false;
  auto type = dyn_cast<RankedTensorType>(pad.getOperand().getType());
  if (!type || !type.hasStaticShape() || slice.getType() != type || llvm::any_of(pad.getInteriorPadding(), isNonzero))
    return false;
  auto isNegative = [](int64_t value) { return value < 0; };
  if (llvm::any_of(pad.getEdgePaddingLow(), isNegative) || llvm::any_of(pad.getEdgePaddingHigh(), isNegative))
    return false;
  return slice.getStartIndices() == pad.getEdgePaddingLow() && llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; });
}

std::vector<Cluster> findPoolGradients(Block &block) {
  std::vector<Cluster> found;
  for (auto scatter : block.getOps<stablehlo::SelectAndScatterOp>()) {
    auto pad = scatter.getOperand().getDefiningOp<stablehlo::PadOp>();
    if (!pad || pad->getBlock() != &block || !pad->hasOneUse() || !scatter->hasOneUse())
      continue;
    auto slice = dyn_cast<stablehlo::SliceOp>(*scatter->getUsers().begin());
    Operation *padding = pad.getPaddingValue().getDefiningOp();
    if (!slice || slice->getBlock() != &block || !padding || classify(padding) != OpRole::Duplicated || !isPaddedAround(scatter, pad, slice))
      continue;
    Cluster cluster;
    cluster.ops = {pad, scatter, slice};
    found.push_back(std::move(cluster));
  }
  return found;
}

} // namespace millrace::fusion
