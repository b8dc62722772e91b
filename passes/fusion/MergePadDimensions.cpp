// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MergePadDimensions.cpp - Borders of images with few channels -------===//
// Input:   %0 = stablehlo.pad %x, low = [0, 2, 3, 0], high = [0, 2, 3, 0] : tensor<8x99x101x3xui8> -> tensor<8x103x107x3xui8>
// Output:  the same of %x as tensor<8x99x303xui8>, low = [0, 2, 9], high = [0, 2, 9], and its result as an image: three channels are no
//          vector, a row of them is.
// Leaves alone many channels, borders between elements, and what is computed or used in the pad's own kernel: reshapes would be in the way.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_MERGEPADDIMENSIONSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

bool isStep(Operation *op) { return !op || classify(op) == OpRole::TopLevel || op->hasTrait<OpTrait::IsTerminator>(); }

void mergePad(PadOp pad) {
  // Images with more channels are copied pixel by pixel in pieces that are long enough. Unit: channels. Source: judgement, not measured alone; commit
  // 9a33cd8 has the figures of the whole change.
  constexpr int64_t kMaxPadChannels = 16;
  auto type = cast<RankedTensorType>(pad.getType()), from = cast<RankedTensorType>(pad.getOperand().getType());
  if (!type.hasStaticShape() || !from.hasStaticShape() || !isStep(pad.getOperand().getDefiningOp()) || !llvm::all_of(pad->getUsers(), isStep))
    return;
  SmallVector<int64_t> low(pad.getEdgePaddingLow()), high(pad.getEdgePaddingHigh()), interior(pad.getInteriorPadding());
  size_t kept = low.size(); // dimensions that get a border, and those between them
  int64_t channels = 1;
  while (kept > 0 && low[kept - 1] == 0 && high[kept - 1] == 0 && interior[kept - 1] == 0)
    channels *= from.getDimSize(--kept);
  if (kept == 0 || channels < 2 || channels > kMaxPadChannels || interior[kept - 1] != 0)
    return;
  auto merge = [&](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> merged(sizes.take_front(kept));
    merged.back() *= channels;
    return merged;
  };
  OpBuilder b(pad);
  interior.resize(kept);
  Value row = ReshapeOp::create(b, pad.getLoc(), from.clone(merge(from.getShape())), pad.getOperand());
  Value wide = PadOp::create(b, pad.getLoc(), type.clone(merge(type.getShape())), row, pad.getPaddingValue(), b.getDenseI64ArrayAttr(merge(low)),
                             b.getDenseI64ArrayAttr(merge(high)), b.getDenseI64ArrayAttr(interior));
  pad.replaceAllUsesWith(ReshapeOp::create(b, pad.getLoc(), type, wide).getResult());
  pad.erase();
}

struct MergePadDimensions : impl::MergePadDimensionsPassBase<MergePadDimensions> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      for (Operation &op : llvm::make_early_inc_range(block))
        if (auto pad = dyn_cast<PadOp>(op))
          mergePad(pad);
    });
  }
};

} // namespace
} // namespace millrace::fusion
