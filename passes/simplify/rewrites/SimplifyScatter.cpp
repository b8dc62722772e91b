// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyScatter.cpp - Turn indices that are iotas into batching dimensions, scatters into updates ===//
// Input:   scatter(%x : tensor<1000x256xf32>, concatenate(iota 0 : tensor<1000x64x1xi32>, %i : tensor<1000x64x1xi32>), %u), both dimensions inserted
// Output:  scatter(%x, %i, %u), input_batching_dims = [0], scatter_indices_batching_dims = [0]
//          JAX writes x.at[arange(n)[:, None], i].set(u) and PyTorch put_along_axis this way. Every row is updated by its own updates only, so that
//          threads can share the rows. Likewise gathers, as take_along_axis writes them.
// Leaves alone iotas that are shorter or longer than the operand's dimension, and operations without another index.
//
// Input:   scatter(%x : tensor<200x220xf32>, dense<1> : tensor<2xi32>, %u : tensor<199x219xf32>) { add }
// Output:  dynamic_update_slice(%x, add(slice(%x) [1:200, 1:220], %u), 1, 1)
//          x.at[1:, 1:].add(u): one window at a constant position. Its updates are computed where they are added, in vectors, by all threads.
// Leaves alone windows that are partly outside of %x, combiners of several operations, and small windows, which one kernel updates.
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/sharding/rules/ExplicitBatching.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
namespace {

template <typename IndexedOp>
struct BatchOfIndices : OpRewritePattern<IndexedOp> {
  using OpRewritePattern<IndexedOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(IndexedOp op, PatternRewriter &rewriter) const override {
    rewriter.startOpModification(op);
    if (!sharding::makeBatchingExplicit(op)) {
      rewriter.cancelOpModification(op);
      return rewriter.notifyMatchFailure(op, "no index is an iota along a dimension");
    }
    if constexpr (std::is_same_v<IndexedOp, GatherOp>) {
      // A single index is no vector.
      RankedTensorType indices = typeOf(op.getStartIndices());
      if (int64_t last = indices.getRank() - 1; op.getDimensionNumbers().getIndexVectorDim() == last && indices.getDimSize(last) == 1)
        op.getStartIndicesMutable().assign(ReshapeOp::create(rewriter, op.getLoc(), indices.clone(indices.getShape().drop_back()), op.getStartIndices()).getResult());
    }
    rewriter.finalizeOpModification(op);
    return success();
  }
};

/// Returns the single elementwise operation of `body` that combines both arguments; null if `body` returns the update unchanged.
FailureOr<Operation *> combinerOfElements(Region &body, Type element) {
  Block &block = body.front();
  Value returned = block.getTerminator()->getOperand(0);
  auto isElement = [&](Value value) { return getElementTypeOrSelf(value.getType()) == element; };
  if (block.getNumArguments() != 2 || !llvm::all_of(block.getArguments(), isElement) || !isElement(returned))
    return failure();
  if (returned == block.getArgument(1))
    return static_cast<Operation *>(nullptr);
  Operation *combine = returned.getDefiningOp();
  if (!combine || combine->getBlock() != &block || !combine->hasTrait<OpTrait::Elementwise>() || combine->getNumOperands() != 2 ||
      combine->getOperand(0) == combine->getOperand(1) ||
      !llvm::all_of(combine->getOperands(), [&](Value operand) { return llvm::is_contained(block.getArguments(), operand); }))
    return failure();
  return combine;
}

/// A smaller window with a combiner stays a scatter: reading a slice, combining and updating it costs more. Unit: elements of the window. Source:
/// judgement, not measured alone.
constexpr int64_t kMinUpdatedWindow = 64;

struct WindowOfScatter : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    auto numbers = op.getScatterDimensionNumbers();
    if (op.getInputs().size() != 1)
      return rewriter.notifyMatchFailure(op, "several inputs");
    Value input = op.getInputs()[0], updates = op.getUpdates()[0];
    auto inputType = dyn_cast<RankedTensorType>(input.getType()), updateType = dyn_cast<RankedTensorType>(updates.getType());
    if (!inputType || !updateType || !inputType.hasStaticShape() || !updateType.hasStaticShape() || inputType.getEncoding() ||
        inputType.getElementType() != updateType.getElementType() || op.getResult(0).getType() != inputType)
      return rewriter.notifyMatchFailure(op, "unknown sizes, or other types");
    DenseIntElementsAttr place;
    if (!numbers.getInputBatchingDims().empty() || !matchPattern(op.getScatterIndices(), m_Constant(&place)) ||
        place.getNumElements() != int64_t(numbers.getScatterDimsToOperandDims().size()))
      return rewriter.notifyMatchFailure(op, "not a single window at a constant position");
    FailureOr<Operation *> combine = combinerOfElements(op.getUpdateComputation(), inputType.getElementType());
    if (failed(combine))
      return rewriter.notifyMatchFailure(op, "combines by several operations");
    if (*combine && updateType.getNumElements() < kMinUpdatedWindow)
      return rewriter.notifyMatchFailure(op, "the window is too small to pay");

    SmallVector<int64_t> starts(inputType.getRank(), 0), ends;
    bool isUnsigned = place.getElementType().isUnsignedInteger();
    for (auto [dim, at] : llvm::zip_equal(numbers.getScatterDimsToOperandDims(), place.getValues<APInt>()))
      starts[dim] = isUnsigned ? int64_t(at.getLimitedValue(INT64_MAX)) : at.getSExtValue();
    const int64_t *windowDim = numbers.getUpdateWindowDims().begin();
    int64_t windowSize = 1;
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      int64_t size = llvm::is_contained(numbers.getInsertedWindowDims(), dim) ? 1 : updateType.getDimSize(*windowDim++);
      if (starts[dim] < 0 || starts[dim] > inputType.getDimSize(dim) - size)
        return rewriter.notifyMatchFailure(op, "the window is partly outside");
      ends.push_back(starts[dim] + size);
      windowSize *= size;
    }
    if (windowSize == 0 || windowSize != updateType.getNumElements())
      return rewriter.notifyMatchFailure(op, "no window, or the same one several times");
    SmallVector<int64_t> strides(starts.size(), 1);
    Value old = SliceOp::create(rewriter, op.getLoc(), input, starts, ends, strides);
    Value window = ReshapeOp::create(rewriter, op.getLoc(), old.getType(), updates);
    if (*combine) {
      IRMapping map;
      map.map(op.getUpdateComputation().getArgument(0), old);
      map.map(op.getUpdateComputation().getArgument(1), window);
      Operation *combined = rewriter.clone(**combine, map);
      combined->getResult(0).setType(old.getType());
      window = combined->getResult(0);
    }
    SmallVector<Value> at;
    for (int64_t start : starts)
      at.push_back(ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(RankedTensorType::get({}, rewriter.getI32Type()),
                                                                                   rewriter.getI32IntegerAttr(start))));
    rewriter.replaceOpWithNewOp<DynamicUpdateSliceOp>(op, inputType, input, window, at);
    return success();
  }
};

} // namespace

void populateScatterSimplifications(RewritePatternSet &patterns) { patterns.add<BatchOfIndices<GatherOp>, BatchOfIndices<ScatterOp>, WindowOfScatter>(patterns.getContext()); }

} // namespace millrace::simplify
