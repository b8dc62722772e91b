// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PadConvolutions.cpp - Borders as a copy ----------------------------===//
// Input:   stablehlo.convolution(%x, %k), window = {pad = [[1, 1], [1, 1]]}, channels of %x last or
//          one for each window
// Output:  stablehlo.convolution(stablehlo.pad(%x), %k): kernels read what has no borders in place, and the window's last dimension
//          together with the channels, instead of gathering every window's elements. The old padding stays as millrace.borders, so
//          that the arithmetic counted is that of the program.
// Leaves alone windows of one element, other orders, negative padding, dilated inputs.
#include "passes/layout/Layout.h"
#include "passes/layout/Passes.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_PADCONVOLUTIONSPASS
#include "passes/layout/Passes.h.inc"

namespace {

bool shouldPad(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (!hasLayout(op.getLhs()) || !hasLayout(op.getRhs()) || !hasLayout(op.getResult()) || isPointwise(op) ||
      !op.getPaddingAttr())
    return false;
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  if (auto dilation = op.getLhsDilation(); dilation && llvm::any_of(*dilation, [](int64_t d) { return d != 1; }))
    return false;
  if (!isDepthwise(op) && std::max(dims.getInputFeatureDimension(), dims.getInputBatchDimension()) != lhs.getRank() - 1)
    return false;
  bool isAny = false;
  for (const APInt &amount : op.getPaddingAttr().getValues<APInt>()) {
    if (amount.isNegative())
      return false;
    isAny |= !amount.isZero();
  }
  return isAny;
}

void pad(ConvolutionOp op) {
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  SmallVector<int64_t> low(type.getRank(), 0), high = low, interior = low, shape(type.getShape());
  auto amounts = llvm::to_vector(op.getPaddingAttr().getValues<APInt>());
  for (auto [i, dim] : llvm::enumerate(op.getDimensionNumbers().getInputSpatialDimensions())) {
    low[dim] = amounts[2 * i].getSExtValue();
    high[dim] = amounts[2 * i + 1].getSExtValue();
    shape[dim] += low[dim] + high[dim];
  }
  Value zero = ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type.clone(ArrayRef<int64_t>()))));
  op->setOperand(0, PadOp::create(builder, op.getLoc(), type.clone(shape), op.getLhs(), zero, builder.getDenseI64ArrayAttr(low),
                                  builder.getDenseI64ArrayAttr(high), builder.getDenseI64ArrayAttr(interior)));
  op->setAttr(kBordersAttr, op.getPaddingAttr());
  op.removePaddingAttr();
}

struct PadConvolutions : impl::PadConvolutionsPassBase<PadConvolutions> {
  void runOnOperation() override {
    getOperation().walk([](ConvolutionOp op) {
      if (shouldPad(op))
        pad(op);
    });
  }
};

} // namespace
} // namespace millrace::layout
