// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PadConvolutions.cpp - Copy convolution operands with their padding --===//
// Input:   stablehlo.convolution(%x, %k), window = {pad = [[1, 1], [1, 1]]}, channels of %x last or
//          one for each window
// Output:  stablehlo.convolution(stablehlo.pad(%x), %k): kernels read an operand without padding in place, and the window's last dimension
//          together with the channels, instead of gathering the elements of every window. The attribute millrace.borders keeps the padding for
//          the count of floating-point operations.
//          With groups of several channels, the copy has the groups outermost and the convolution has them in its batch (batch_group_count): the
//          operand of one group is contiguous and fits into the level 1 cache, whereas the pixels of the whole image would share few sets of it.
// Leaves alone pointwise convolutions, other orders, negative padding, dilated inputs, most depthwise convolutions.
#include "passes/Remarks.h"
#include "passes/fusion/VectorShapes.h"
#include "passes/layout/Layout.h"
#include "passes/layout/Passes.h"

#include "dialects/stablehlo/TensorTypes.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_PADCONVOLUTIONSPASS
#include "passes/layout/Passes.h.inc"

namespace {

/// The channels of a group are copied together from this number on: groups of one channel are depthwise convolutions. Unit: channels of a group.
/// Source: judgement, not measured alone; commit 44a97c7 has the figures of the whole change.
constexpr int64_t kMinChannelsOfGroup = 2;
/// With more channels each pixel of a group fills cache lines, so that the operand is not copied. Unit: channels of a group. Source: judgement, not
/// measured alone; commit 44a97c7 has the figures of the whole change.
constexpr int64_t kMaxChannelsOfGroup = 64;
/// With at most so many channels, those of a colour image, rows of pixels and channels are copied as one. Unit: channels. Source: judgement, not
/// measured alone; chosen in commit f7caa64.
constexpr int64_t kMaxImageChannels = 4;
/// Fewer windows in a row share too few elements. Unit: windows of a row. Source: judgement, not measured alone; commit 58a7193 has the figures of
/// the whole change.
constexpr int64_t kMinWindowsOfRow = 4;

int64_t channelsOfGroup(ConvolutionOp op) {
  return typeOf(op.getLhs()).getDimSize(op.getDimensionNumbers().getInputFeatureDimension()) / int64_t(op.getFeatureGroupCount());
}

bool shouldMoveGroups(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  return op.getFeatureGroupCount() > 1 && op.getBatchGroupCount() == 1 && dims.getInputBatchDimension() == 0 &&
         dims.getInputFeatureDimension() == typeOf(op.getLhs()).getRank() - 1 && channelsOfGroup(op) >= kMinChannelsOfGroup &&
         channelsOfGroup(op) <= kMaxChannelsOfGroup;
}

/// A depthwise convolution whose kernel loads each element of an image row once for all windows along it (RowBlocks.cpp): handling the padding there
/// costs less than a copy (8x14x14x480 by 5x5: 0.67 to 0.41 ms, 4x57x57x144 by 3x3 with stride 2: 0.85 to 0.35).
bool readsBorderOnce(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType image = typeOf(op.getLhs()), kernel = typeOf(op.getRhs());
  int64_t last = image.getRank() - 1, window = kernel.getDimSize(dims.getKernelSpatialDimensions().back());
  int64_t step = op.getWindowStrides() ? op.getWindowStrides()->back() : 1;
  return isDepthwise(op) && dims.getInputFeatureDimension() == last && dims.getOutputFeatureDimension() == last &&
         dims.getInputSpatialDimensions().back() == last - 1 && dims.getOutputSpatialDimensions().back() == last - 1 &&
         image.getDimSize(last) >= fusion::kLanesOfLongest && window > step && window <= kMaxWindowInRegisters &&
         (!op.getRhsDilation() || op.getRhsDilation()->back() == 1) && typeOf(op.getResult()).getDimSize(last - 1) >= kMinWindowsOfRow;
}

/// Why borders, and groups, stay with the convolution; empty if they become a copy.
StringRef whyNotPad(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (isPointwise(op))
    return "its windows have one element";
  if (auto dilation = op.getLhsDilation(); dilation && llvm::any_of(*dilation, [](int64_t d) { return d != 1; }))
    return "its input is dilated";
  if (!isDepthwise(op) && std::max(dims.getInputFeatureDimension(), dims.getInputBatchDimension()) != typeOf(op.getLhs()).getRank() - 1)
    return "neither channels nor the batch are the last dimension of its input";
  if (readsBorderOnce(op))
    return "its kernel loads each element of a row once for all windows, which costs less than a copy";
  if (op.getPaddingAttr() && llvm::any_of(op.getPaddingAttr().getValues<APInt>(), [](const APInt &amount) { return amount.isNegative(); }))
    return "negative padding cuts elements off";
  return "";
}

/// There is something to copy: a border, or groups that are to be outermost.
bool hasBorder(ConvolutionOp op) {
  if (!hasLayout(op.getLhs()) || !hasLayout(op.getRhs()) || !hasLayout(op.getResult()))
    return false;
  return shouldMoveGroups(op) ||
         (op.getPaddingAttr() && llvm::any_of(op.getPaddingAttr().getValues<APInt>(), [](const APInt &amount) { return !amount.isZero(); }));
}

/// Returns `op`'s operand with the groups of its channels as the outermost part of the batch, and with its padding.
Value groupsFirst(OpBuilder &builder, ConvolutionOp op, ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value zero) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getLhs());
  int64_t rank = type.getRank(), channels = channelsOfGroup(op);
  auto groups = static_cast<int64_t>(op.getFeatureGroupCount());
  SmallVector<int64_t> split(type.getShape().drop_back()), lowSplit(low), highSplit(high), interior(rank + 1, 0), order{rank - 1};
  split.append({groups, channels});
  lowSplit.push_back(0);
  highSplit.push_back(0);
  Value value = ReshapeOp::create(builder, loc, type.clone(split), op.getLhs());
  for (auto [size, before, after] : llvm::zip(split, lowSplit, highSplit))
    size += before + after;
  if (zero)
    value = PadOp::create(builder, loc, type.clone(split), value, zero, builder.getDenseI64ArrayAttr(lowSplit),
                          builder.getDenseI64ArrayAttr(highSplit), builder.getDenseI64ArrayAttr(interior));
  for (int64_t dim = 0; dim <= rank; ++dim)
    if (dim != rank - 1)
      order.push_back(dim);
  value = transpose(builder, loc, value, order);
  SmallVector<int64_t> merged(typeOf(value).getShape().drop_front());
  merged.front() *= groups;
  return ReshapeOp::create(builder, loc, type.clone(merged), value);
}

/// Returns `value` padded by `low` and `high` elements. Few channels are padded together with the dimension before them, since they fill no vector.
Value withBorder(OpBuilder &builder, Location loc, Value value, SmallVector<int64_t> low, SmallVector<int64_t> high, Value zero) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, before, after] : llvm::zip(shape, low, high))
    size += before + after;
  int64_t channels = type.getShape().back();
  bool together = type.getRank() > 2 && channels > 1 && channels <= kMaxImageChannels && low.back() == 0 && high.back() == 0;
  auto merge = [&](SmallVector<int64_t> sizes) {
    sizes.pop_back();
    sizes.back() *= channels;
    return sizes;
  };
  SmallVector<int64_t> padded = together ? merge(shape) : shape;
  if (together) {
    value = ReshapeOp::create(builder, loc, type.clone(merge(SmallVector<int64_t>(type.getShape()))), value);
    low = merge(low);
    high = merge(high);
  }
  SmallVector<int64_t> interior(low.size(), 0);
  value = PadOp::create(builder, loc, type.clone(padded), value, zero, builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
                        builder.getDenseI64ArrayAttr(interior));
  return together ? Value(ReshapeOp::create(builder, loc, type.clone(shape), value)) : value;
}

void pad(ConvolutionOp op) {
  OpBuilder builder(op);
  RankedTensorType type = typeOf(op.getLhs());
  SmallVector<int64_t> low(type.getRank(), 0), high = low;
  Value zero;
  if (op.getPaddingAttr()) {
    auto amounts = llvm::to_vector(op.getPaddingAttr().getValues<APInt>());
    for (auto [i, dim] : llvm::enumerate(op.getDimensionNumbers().getInputSpatialDimensions())) {
      low[dim] = amounts[2 * i].getSExtValue();
      high[dim] = amounts[2 * i + 1].getSExtValue();
    }
    zero = ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type.clone(ArrayRef<int64_t>()))));
    op->setAttr(kBordersAttr, op.getPaddingAttr());
    op.removePaddingAttr();
  }
  if (shouldMoveGroups(op)) {
    op->setOperand(0, groupsFirst(builder, op, low, high, zero));
    op.setBatchGroupCount(op.getFeatureGroupCount());
    op.setFeatureGroupCount(1);
    return;
  }
  op->setOperand(0, withBorder(builder, op.getLoc(), op.getLhs(), low, high, zero));
}

struct PadConvolutions : impl::PadConvolutionsPassBase<PadConvolutions> {
  void runOnOperation() override {
    getOperation().walk([](ConvolutionOp op) {
      if (!hasBorder(op))
        return;
      if (StringRef why = whyNotPad(op); !why.empty())
        remarkMissed(op, "xla-pad-convolutions", why);
      else
        pad(op);
    });
  }
};

} // namespace
} // namespace millrace::layout
