// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitDilatedConvolutions.cpp - Split convolutions by dilation phase -===//
// Input:   stablehlo.convolution(%x, %k), window = {lhs_dilate = [2, 2]}: gradients of strided convolutions, transposed ones
// Output:  for each phase p of a dilated dimension (positions p, p + 2, ... of the result) a convolution of the undilated input with those elements
//          of the kernel that meet input elements, stride 1; then the phases are interleaved (concatenate, reshape)
// With o = p + d q and w = w0 + d t, where w0 is the first w with p + w r = low (mod d), result element o reads input element
// (o + w r - low) / d = q + r t + (p + w0 r - low) / d.
// Leaves alone strided convolutions, kernels whose own dilation r shares a factor with d, dynamic shapes.
#include "passes/Remarks.h"
#include "passes/layout/Layout.h"
#include "passes/layout/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/PatternMatch.h"

#include <numeric>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_SPLITDILATEDCONVOLUTIONSPASS
#include "passes/layout/Passes.h.inc"

namespace {

SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> values, size_t count) {
  return values ? SmallVector<int64_t>(*values) : SmallVector<int64_t>(count, 1);
}

int64_t floorMod(int64_t a, int64_t b) { return ((a % b) + b) % b; }
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Splitter {
public:
  explicit Splitter(ConvolutionOp op) : op(op), builder(op), dims(op.getDimensionNumbers()) {
    size_t spatial = dims.getInputSpatialDimensions().size();
    stride = orOnes(op.getWindowStrides(), spatial);
    lhsDilation = orOnes(op.getLhsDilation(), spatial);
    rhsDilation = orOnes(op.getRhsDilation(), spatial);
    reversal.assign(spatial, false);
    if (auto given = op.getWindowReversal())
      llvm::copy(*given, reversal.begin());
    padding.assign(2 * spatial, 0);
    if (auto given = op.getPaddingAttr())
      for (auto [i, value] : llvm::enumerate(given.getValues<APInt>()))
        padding[i] = value.getSExtValue();
  }

  bool isDilated() const {
    return llvm::any_of(lhsDilation, [](int64_t d) { return d != 1; });
  }

  /// Why the dilation stays; empty if it can be split.
  StringRef whyNot() {
    if (!hasLayout(op.getLhs()) || !hasLayout(op.getRhs()) || !hasLayout(op.getResult()))
      return "sizes are not known";
    for (auto [d, s, r] : llvm::zip(lhsDilation, stride, rhsDilation)) {
      if (d != 1 && s != 1)
        return "its windows have strides where the input is dilated";
      if (d != 1 && std::gcd(d, r) != 1)
        return "dilations of its input and its window have a common divisor";
    }
    return "";
  }

  void split() {
    Phase whole;
    whole.lhs = op.getLhs();
    whole.limits.assign(typeOf(op.getRhs()).getShape().begin(), typeOf(op.getRhs()).getShape().end());
    whole.starts.assign(whole.limits.size(), 0);
    whole.steps.assign(whole.limits.size(), 1);
    whole.dilation = lhsDilation;
    whole.padding = padding;
    op.getResult().replaceAllUsesWith(make(whole, 0));
    op.erase();
  }

private:
  /// The convolution of one phase of each dimension that was split so far.
  struct Phase {
    Value lhs;
    SmallVector<int64_t> starts, limits, steps; ///< the elements of the kernel that meet it
    SmallVector<int64_t> dilation, padding;
    bool isEmpty = false; ///< no element of the kernel meets an element of the input
    SmallVector<int64_t> sizes; ///< of the result, for the dimensions split
  };

  /// Returns the result of `phase`, whose dimensions from `dim` on are not split yet.
  Value make(const Phase &phase, size_t dim) {
    if (dim == lhsDilation.size())
      return convolution(phase);
    int64_t kernelDim = dims.getKernelSpatialDimensions()[dim], resultDim = dims.getOutputSpatialDimensions()[dim];
    int64_t outputs = typeOf(op.getResult()).getDimSize(resultDim), d = lhsDilation[dim];
    if (d == 1) {
      Phase next = phase;
      next.sizes.push_back(outputs);
      return make(next, dim + 1);
    }
    int64_t window = typeOf(op.getRhs()).getDimSize(kernelDim), r = rhsDilation[dim], low = padding[2 * dim];
    int64_t inputs = typeOf(op.getLhs()).getDimSize(dims.getInputSpatialDimensions()[dim]), count = ceilDiv(outputs, d);
    SmallVector<Value> parts;
    for (int64_t p = 0; p < std::min(d, outputs); ++p) {
      int64_t first = 0;
      while (first < d && floorMod(p + first * r - low, d))
        ++first;
      Phase next = phase;
      next.sizes.push_back(count);
      next.dilation[dim] = 1;
      int64_t taps = first < window ? ceilDiv(window - first, d) : 0;
      if (taps == 0) {
        next.isEmpty = true;
      } else {
        // A reversed window indexes the kernel from its end.
        int64_t start = reversal[dim] ? window - 1 - first - d * (taps - 1) : first;
        next.starts[kernelDim] = start;
        next.limits[kernelDim] = start + d * (taps - 1) + 1;
        next.steps[kernelDim] = taps == 1 ? 1 : d;
        int64_t before = -((p + first * r - low) / d);
        next.padding[2 * dim] = before;
        next.padding[2 * dim + 1] = count + r * (taps - 1) - before - inputs;
      }
      parts.push_back(make(next, dim + 1));
    }
    return interleaved(parts, resultDim, outputs);
  }

  Value convolution(const Phase &phase) {
    SmallVector<int64_t> shape(typeOf(op.getResult()).getShape());
    for (auto [dim, size] : llvm::zip(dims.getOutputSpatialDimensions(), phase.sizes))
      shape[dim] = size;
    RankedTensorType type = typeOf(op.getResult()).clone(shape);
    if (phase.isEmpty)
      return ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type)));
    Value kernel = boxOf(builder, op.getLoc(), op.getRhs(), {phase.starts, phase.limits, phase.steps});
    auto copy = cast<ConvolutionOp>(builder.clone(*op.getOperation()));
    copy->setOperands({phase.lhs, kernel});
    copy.setLhsDilationAttr(builder.getDenseI64ArrayAttr(phase.dilation));
    auto rows = RankedTensorType::get({int64_t(phase.sizes.size()), 2}, builder.getI64Type());
    copy.setPaddingAttr(DenseIntElementsAttr::get(rows, phase.padding));
    copy.getResult().setType(type);
    return copy.getResult();
  }

  /// Returns a value whose `dim` holds parts[p][.., q, ..] at position p + q * parts.size(), cut to `size` positions.
  Value interleaved(ArrayRef<Value> parts, int64_t dim, int64_t size) {
    if (parts.size() == 1)
      return cut(parts[0], dim, size);
    RankedTensorType type = typeOf(parts[0]);
    SmallVector<int64_t> wide(type.getShape());
    wide.insert(wide.begin() + dim + 1, 1);
    SmallVector<Value> widened;
    for (Value part : parts)
      widened.push_back(ReshapeOp::create(builder, op.getLoc(), type.clone(wide), part));
    wide[dim + 1] = parts.size();
    Value joined = ConcatenateOp::create(builder, op.getLoc(), type.clone(wide), widened, dim + 1);
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] *= parts.size();
    return cut(ReshapeOp::create(builder, op.getLoc(), type.clone(shape), joined), dim, size);
  }

  /// Returns the first `size` positions of `dim`.
  Value cut(Value value, int64_t dim, int64_t size) {
    return boxOf(builder, op.getLoc(), value, Box::along(typeOf(value).getShape(), dim, 0, size));
  }

  ConvolutionOp op;
  OpBuilder builder;
  ConvDimensionNumbersAttr dims;
  SmallVector<int64_t> stride, lhsDilation, rhsDilation, padding;
  SmallVector<bool> reversal;
};

struct SplitDilatedConvolutions : impl::SplitDilatedConvolutionsPassBase<SplitDilatedConvolutions> {
  void runOnOperation() override {
    SmallVector<ConvolutionOp> found;
    getOperation().walk([&](ConvolutionOp op) { found.push_back(op); });
    for (ConvolutionOp op : found)
      if (Splitter splitter(op); splitter.isDilated()) {
        if (StringRef why = splitter.whyNot(); !why.empty())
          remarkMissed(op, "xla-split-dilated-convolutions", why);
        else
          splitter.split();
      }
  }
};

} // namespace
} // namespace millrace::layout
