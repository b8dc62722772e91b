// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SpreadWindows.cpp - Replace interior padding by base dilation -------===//
// Input:   %p = stablehlo.pad %g, 0, low = [0, 1, 1, 0], high = [0, 2, 2, 0], interior = [0, 1, 1, 0]
//          %r = reduce_window(%p, 0) {add}, window 1x3x3x1: the gradient of mean pooling
// Output:  %r = reduce_window(%g, 0) {add}, the same window, base_dilations 1x2x2x1, padding [[0, 0], [1, 2], [1, 2], [0, 0]]
// Leaves alone pads without interior padding, padding values other than the reduction's initial value, windows along the last dimension and windows
// with dilations (their kernels read rows in place), dynamic shapes.
#include "passes/Remarks.h"
#include "passes/fusion/VectorShapes.h"
#include "passes/layout/Layout.h"
#include "passes/layout/Passes.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_SPREADWINDOWSPASS
#include "passes/layout/Passes.h.inc"

namespace {

bool isOnes(std::optional<ArrayRef<int64_t>> values) {
  return !values || llvm::all_of(*values, [](int64_t by) { return by == 1; });
}

/// Returns true if combining with the initial value `start` once more changes nothing.
bool isNeutral(ReduceWindowOp op, Attribute start) {
  Operation *step = combinerOf(op.getBody());
  if (isa_and_nonnull<MaxOp, MinOp>(step))
    return true;
  auto number = dyn_cast<FloatAttr>(start);
  return isa_and_nonnull<AddOp>(step) && number && number.getValue().isPosZero();
}

bool isZeros(ArrayRef<int64_t> interior) {
  return llvm::all_of(interior, [](int64_t by) { return by == 0; });
}

/// Returns the contiguous elements of a window position: the product of the last dimensions that neither the window nor the padding covers.
int64_t channelsOf(ReduceWindowOp op, PadOp pad) {
  ArrayRef<int64_t> shape = typeOf(pad.getOperand()).getShape(), result = typeOf(op.getResult(0)).getShape();
  int64_t channels = 1;
  for (size_t dim = shape.size(); dim > 0; --dim) {
    size_t d = dim - 1;
    if (op.getWindowDimensions()[d] != 1 || shape[d] != result[d] || pad.getEdgePaddingLow()[d] != 0 || pad.getInteriorPadding()[d] != 0)
      break;
    channels *= shape[d];
  }
  return channels;
}

/// Padding before `op` that puts something between elements.
PadOp spreadInput(ReduceWindowOp op) {
  auto pad = op.getInputs().size() == 1 ? op.getInputs()[0].getDefiningOp<PadOp>() : PadOp();
  return pad && !isZeros(pad.getInteriorPadding()) ? pad : PadOp();
}

/// Why windows cannot pass over `pad`, or should not; empty if they do.
StringRef whyNotPassOver(ReduceWindowOp op, PadOp pad) {
  if (!typeOf(pad.getOperand()).hasStaticShape() || !typeOf(op.getResult(0)).hasStaticShape())
    return "sizes are not known";
  // A window with dilations of its own would need products of dilations, which is not supported.
  if (!isOnes(op.getBaseDilations()) || !isOnes(op.getWindowDilations()))
    return "its windows have distances of their own";
  // A padding cannot be merged with another one that removes its elements, or that pads where it removes elements.
  if (auto own = op.getPadding())
    for (auto [i, by] : llvm::enumerate(own->getValues<APInt>())) {
      int64_t first = (i % 2 ? pad.getEdgePaddingHigh() : pad.getEdgePaddingLow())[i / 2];
      if (by.isNegative() || (first < 0 && !by.isZero()))
        return "one padding cuts off what the other one adds";
    }
  DenseElementsAttr between, start;
  if (!matchPattern(pad.getPaddingValue(), m_Constant(&between)) || !matchPattern(op.getInitValues()[0], m_Constant(&start)) || between != start ||
      !isNeutral(op, start.getSplatValue<Attribute>()))
    return "what is put between elements is not what the reduction begins with";
  return channelsOf(op, pad) >= fusion::kLanesOfLongest ? "" : "too few elements follow each other in memory for a vector";
}

void passOver(ReduceWindowOp op, PadOp pad) {
  Builder b(op.getContext());
  size_t rank = pad.getInteriorPadding().size();
  SmallVector<int64_t> padding(2 * rank, 0), spread;
  if (auto own = op.getPadding())
    for (auto [i, value] : llvm::enumerate(own->getValues<APInt>()))
      padding[i] = value.getSExtValue();
  for (size_t d = 0; d < rank; ++d) {
    padding[2 * d] += pad.getEdgePaddingLow()[d];
    padding[2 * d + 1] += pad.getEdgePaddingHigh()[d];
    spread.push_back(pad.getInteriorPadding()[d] + 1);
  }
  op.getInputsMutable().assign(pad.getOperand());
  op.setBaseDilationsAttr(b.getDenseI64ArrayAttr(spread));
  op.setPaddingAttr(DenseIntElementsAttr::get(RankedTensorType::get({int64_t(rank), 2}, b.getI64Type()), padding));
  if (pad->use_empty())
    pad->erase();
}

struct SpreadWindows : impl::SpreadWindowsPassBase<SpreadWindows> {
  void runOnOperation() override {
    getOperation().walk([](ReduceWindowOp op) {
      PadOp pad = spreadInput(op);
      if (!pad)
        return;
      if (StringRef why = whyNotPassOver(op, pad); !why.empty())
        remarkMissed(op, "xla-spread-windows", why);
      else
        passOver(op, pad);
    });
  }
};

} // namespace
} // namespace millrace::layout
