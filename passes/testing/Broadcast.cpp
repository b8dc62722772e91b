// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Broadcast.cpp - Operands in their common shape ----------------------===//
// Input:   "hlo_test_broadcast.numpy_broadcast"(%a, %b) : (tensor<?x1xf32, bounds<10, ?>>, tensor<5xf32>) -> T
// Output:  stablehlo.custom_call @numpy_broadcasted(%a broadcast to ?x5 with the bound 10, %b broadcast to 10x5 and given
//          the size that %a has)
// Leaves alone operands whose shapes do not fit, with an error.
//===----------------------------------------------------------------------===//
#include "passes/testing/Passes.h"

#include "dialects/stablehlo/Compat.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace millrace::testing {
#define GEN_PASS_DEF_HLOTESTBROADCASTPASS
#include "passes/testing/Passes.h.inc"

namespace {

/// The size of a dimension. If the dimension is bounded, `size` is the bound, and dimension `sourceDim` of `source` has the run-time size.
struct Extent {
  int64_t size = 1;
  Value source;
  int64_t sourceDim = 0;
  bool bounded() const { return bool(source); }
};
using Extents = SmallVector<Extent>;

FailureOr<Extents> extentsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return emitError(value.getLoc(), "expected ranked tensor type for broadcast inputs");
  ArrayRef<int64_t> bounds = stablehlo::encodingToBounds(type.getEncoding());
  Extents extents;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    if (type.isDynamicDim(dim) && !bounds.empty())
      extents.push_back({bounds[dim], value, dim});
    else
      extents.push_back({type.getDimSize(dim), Value(), 0});
  }
  return extents;
}

/// Merges `more` into `common` by NumPy's broadcasting rule: dimensions are aligned from the last one on, and sizes of 1 are expanded.
LogicalResult mergeExtents(Extents &common, const Extents &more, Location loc) {
  if (common.size() < more.size())
    common.insert(common.begin(), more.size() - common.size(), Extent());
  for (size_t i = 0; i != more.size(); ++i) {
    Extent &a = common[common.size() - 1 - i];
    const Extent &b = more[more.size() - 1 - i];
    if (a.size == 1) {
      a = b;
      continue;
    }
    if (b.size == 1)
      continue;
    if (a.size != b.size)
      return emitError(loc, "incompatible shapes for broadcasting ") << a.size << " and " << b.size;
    if (a.bounded() != b.bounded())
      return emitError(loc, "cannot mix bounded and static dimensions in broadcast");
  }
  return success();
}

RankedTensorType typeOf(ArrayRef<Extent> extents, Type element) {
  SmallVector<int64_t> shape, bounds;
  for (const Extent &extent : extents) {
    shape.push_back(extent.bounded() ? ShapedType::kDynamic : extent.size);
    bounds.push_back(extent.bounded() ? extent.size : ShapedType::kDynamic);
  }
  bool any = llvm::any_of(extents, [](const Extent &extent) { return extent.bounded(); });
  return RankedTensorType::get(shape, element,
                               any ? stablehlo::TypeExtensionsAttr::get(element.getContext(), bounds) : Attribute());
}

/// Broadcasts `value` to the shape `target`: dimension i of `value` becomes dimension dimensions[i] of the result.
FailureOr<Value> broadcastTo(OpBuilder &builder, Value value, const Extents &target, ArrayRef<int64_t> dimensions) {
  Location loc = value.getLoc();
  FailureOr<Extents> own = extentsOf(value);
  if (failed(own))
    return failure();
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  RankedTensorType wanted = typeOf(target, element);
  if (value.getType() == wanted)
    return value;
  if (own->size() != dimensions.size())
    return emitError(loc, "expected one broadcast dimension per dimension of the input, got ")
           << dimensions.size() << " for a rank of " << own->size();
  // The broadcast is dynamic only along bounded dimensions of the value itself. Along others it has the bound as its size, until
  // set_dimension_size gives it the run-time size.
  Extents padded = target;
  for (Extent &extent : padded)
    extent.source = Value();
  for (auto [extent, dim] : llvm::zip_equal(*own, dimensions)) {
    if (dim < 0 || dim >= int64_t(target.size()) || (extent.size != 1 && extent.size != target[dim].size))
      return emitError(loc, "Cannot broadcast input: ") << value.getType() << " to target shape " << wanted;
    if (extent.bounded())
      padded[dim].source = target[dim].source;
  }
  Value result = stablehlo::BroadcastInDimOp::create(builder, loc, typeOf(padded, element), value,
                                                     builder.getDenseI64ArrayAttr(dimensions));
  for (auto [dim, extent] : llvm::enumerate(target)) {
    if (!extent.bounded() || padded[dim].bounded())
      continue;
    Value size = stablehlo::GetDimensionSizeOp::create(builder, loc, RankedTensorType::get({}, builder.getI32Type()),
                                                       extent.source, builder.getI64IntegerAttr(extent.sourceDim));
    padded[dim].source = extent.source;
    result = stablehlo::SetDimensionSizeOp::create(builder, loc, typeOf(padded, element), result, size,
                                                   builder.getI64IntegerAttr(dim));
  }
  return result;
}

struct NumpyBroadcast : RewritePattern {
  explicit NumpyBroadcast(MLIRContext *context) : RewritePattern("hlo_test_broadcast.numpy_broadcast", 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() == 0)
      return emitError(op->getLoc(), "requires at least one operand to broadcast");
    Extents common;
    for (Value operand : op->getOperands()) {
      FailureOr<Extents> own = extentsOf(operand);
      if (failed(own) || failed(mergeExtents(common, *own, operand.getLoc())))
        return failure();
    }
    OperationState state(op->getLoc(), stablehlo::CustomCallOp::getOperationName(), {}, op->getResultTypes());
    for (Value operand : op->getOperands()) {
      int64_t rank = cast<RankedTensorType>(operand.getType()).getRank(), all = common.size();
      FailureOr<Value> wide = broadcastTo(rewriter, operand, common, llvm::to_vector(llvm::seq<int64_t>(all - rank, all)));
      if (failed(wide))
        return failure();
      state.operands.push_back(*wide);
    }
    state.addAttribute("call_target_name", rewriter.getStringAttr("numpy_broadcasted"));
    state.addAttribute("has_side_effect", rewriter.getBoolAttr(true));
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct BroadcastIfNeeded : RewritePattern {
  explicit BroadcastIfNeeded(MLIRContext *context)
      : RewritePattern("hlo_test_broadcast.broadcast_if_needed", 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "expects one operand and one result");
    FailureOr<Extents> target = extentsOf(op->getResult(0));
    if (failed(target))
      return failure();
    ArrayRef<int64_t> dimensions;
    if (auto named = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions"))
      dimensions = named.asArrayRef();
    FailureOr<Value> wide = broadcastTo(rewriter, op->getOperand(0), *target, dimensions);
    if (failed(wide))
      return failure();
    rewriter.replaceOp(op, *wide);
    return success();
  }
};

struct HloTestBroadcast : impl::HloTestBroadcastPassBase<HloTestBroadcast> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NumpyBroadcast, BroadcastIfNeeded>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::testing
