// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropPartialScatterWindows.cpp - XLA's out-of-bounds scatter windows ===//
// Input:   "stablehlo.scatter"(%x, %indices, %updates) with windows of size w > 1 along a scattered dimension of size n
// Output:  "stablehlo.scatter"(%x, select(all(0 <= %indices <= n - w), %indices, n), %updates)
// Leaves alone scatters whose windows have size 1 along all scattered dimensions, and dynamic sizes.
//===----------------------------------------------------------------------===//
#include "dialects/stablehlo/Box.h"
#include "passes/xla/Passes.h"

using namespace mlir;

namespace millrace::xla_semantics {
#define GEN_PASS_DEF_DROPPARTIALSCATTERWINDOWSPASS
#include "passes/xla/Passes.h.inc"

namespace {

/// The sizes of the input and of the windows along the scattered dimensions, in the order of the index vector.
struct WindowFit {
  SmallVector<int64_t> inputSizes, lastStarts;
};

/// Returns nullopt if no window can be partly out of bounds, or if sizes are unknown.
std::optional<WindowFit> needsRewrite(stablehlo::ScatterOp op) {
  auto input = dyn_cast<RankedTensorType>(op.getInputs().front().getType());
  auto update = dyn_cast<RankedTensorType>(op.getUpdates().front().getType());
  auto indices = dyn_cast<RankedTensorType>(op.getScatterIndices().getType());
  if (!input || !update || !indices || !input.hasStaticShape() || !update.hasStaticShape() || !indices.hasStaticShape())
    return std::nullopt;
  auto numbers = op.getScatterDimensionNumbers();
  SmallVector<int64_t> window(input.getRank(), 1);
  auto windowDim = numbers.getUpdateWindowDims().begin();
  for (int64_t d = 0; d < input.getRank(); ++d)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) && !llvm::is_contained(numbers.getInputBatchingDims(), d))
      window[d] = update.getDimSize(*windowDim++);
  WindowFit fit;
  bool partial = false;
  for (int64_t d : numbers.getScatterDimsToOperandDims()) {
    fit.inputSizes.push_back(input.getDimSize(d));
    fit.lastStarts.push_back(input.getDimSize(d) - window[d]);
    partial |= window[d] > 1;
  }
  return partial ? std::optional(fit) : std::nullopt;
}

/// Broadcasts `values`, one per component of the index vector, to the shape of `type`.
Value perComponent(OpBuilder &builder, Location loc, RankedTensorType type, int64_t vectorDim, ArrayRef<int64_t> values) {
  auto vector = RankedTensorType::get({int64_t(values.size())}, type.getElementType());
  if (vectorDim == type.getRank()) // an index vector of one element has no dimension of its own
    return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getI64IntegerAttr(values[0])));
  Value constant = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, values));
  return stablehlo::BroadcastInDimOp::create(builder, loc, type, constant, builder.getDenseI64ArrayAttr({vectorDim}));
}

/// Returns a mask in the shape of `mask` that is true where all components along `vectorDim` are true.
Value allComponents(OpBuilder &builder, Location loc, Value mask, int64_t vectorDim) {
  auto type = cast<RankedTensorType>(mask.getType());
  if (vectorDim == type.getRank() || type.getDimSize(vectorDim) == 1)
    return mask;
  Value all;
  for (int64_t k = 0; k < type.getDimSize(vectorDim); ++k) {
    Value one = stablehlo::boxOf(builder, loc, mask, stablehlo::Box::along(type.getShape(), vectorDim, k, k + 1));
    all = all ? Value(stablehlo::AndOp::create(builder, loc, all, one)) : one;
  }
  return stablehlo::BroadcastInDimOp::create(
      builder, loc, type, all, builder.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))));
}

struct DropPartialScatterWindows : impl::DropPartialScatterWindowsPassBase<DropPartialScatterWindows> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::ScatterOp op) {
      if (std::optional<WindowFit> fit = needsRewrite(op))
        rewrite(op, *fit);
    });
  }

  static void rewrite(stablehlo::ScatterOp op, const WindowFit &fit) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    int64_t vectorDim = op.getScatterDimensionNumbers().getIndexVectorDim();
    auto narrow = cast<RankedTensorType>(op.getScatterIndices().getType());
    // 64 bits can represent the size of every dimension; a larger unsigned index becomes negative, which is out of bounds, too.
    auto type = narrow.clone(builder.getI64Type());
    Value start = op.getScatterIndices();
    if (narrow != type)
      start = stablehlo::ConvertOp::create(builder, loc, type, start);
    SmallVector<int64_t> zeros(fit.inputSizes.size(), 0);
    auto compare = [&](ArrayRef<int64_t> bounds, stablehlo::ComparisonDirection direction) -> Value {
      return stablehlo::CompareOp::create(builder, loc, start, perComponent(builder, loc, type, vectorDim, bounds), direction);
    };
    Value inside = stablehlo::AndOp::create(builder, loc, compare(zeros, stablehlo::ComparisonDirection::GE),
                                            compare(fit.lastStarts, stablehlo::ComparisonDirection::LE));
    Value kept = stablehlo::SelectOp::create(builder, loc, allComponents(builder, loc, inside, vectorDim), start,
                                             perComponent(builder, loc, type, vectorDim, fit.inputSizes));
    op.getScatterIndicesMutable().assign(kept);
  }
};

} // namespace
} // namespace millrace::xla_semantics
