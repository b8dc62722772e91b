// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyUnitDimensions.cpp - Give operations that can share a kernel one shape ===//
// Operations whose shapes differ only by unit dimensions, or by a component that is sliced from a short last dimension, get one shape here: what is
// computed twice in two such shapes is computed once, and gathers and slices share kernels with their readers.
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
namespace {

/// Input:  divide(reshape(x: 512 -> 512x1), c)      Output: reshape(divide(x, c)), for operations with any number of such operands
/// Operations on a reduction that keeps its reduced dimensions (the mean of a row) so have the shape of the reduction until it is broadcast.
struct ElementwiseOfUnitReshapes : RewritePattern {
  ElementwiseOfUnitReshapes(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_present<StablehloDialect>(op->getDialect()) || !op->hasTrait<mlir::OpTrait::Elementwise>() ||
        op->getNumRegions() != 0 || op->getNumResults() != 1 || op->getNumOperands() == 0)
      return rewriter.notifyMatchFailure(op, "not elementwise");
    RankedTensorType type = typeOf(op->getResult(0));
    if (!type.hasStaticShape() || isa<quant::QuantizedType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "dynamic or quantized");
    std::optional<SmallVector<int64_t>> shape;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr number;
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      if (typeOf(operand).getShape() != type.getShape() || isa<quant::QuantizedType>(typeOf(operand).getElementType()))
        return rewriter.notifyMatchFailure(op, "an operand of another shape or quantized");
      if (reshape) {
        ArrayRef<int64_t> from = typeOf(reshape.getOperand()).getShape();
        if (from.size() >= type.getShape().size() || !addedUnits(from, type.getShape()) || (shape && ArrayRef(*shape) != from))
          return rewriter.notifyMatchFailure(op, "a reshape that does more than add unit dimensions, or others than another operand's");
        shape = SmallVector<int64_t>(from);
      } else if (!matchPattern(operand, m_Constant(&number)) || !number.isSplat()) {
        return rewriter.notifyMatchFailure(op, "an operand is neither a reshape nor a splat");
      }
      operands.push_back(reshape ? reshape.getOperand() : operand);
    }
    if (!shape)
      return rewriter.notifyMatchFailure(op, "operands are constants, which the folder combines");
    for (Value &operand : operands)
      if (DenseElementsAttr number; matchPattern(operand, m_Constant(&number)) && typeOf(operand).getShape() != ArrayRef(*shape))
        operand = ConstantOp::create(rewriter, op->getLoc(), number.resizeSplat(typeOf(operand).clone(*shape)));
    OperationState state(op->getLoc(), op->getName(), operands, {type.clone(*shape)}, op->getAttrs());
    Operation *small = rewriter.create(state);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, small->getResult(0));
    return success();
  }
};

/// Input:  reduce(x: 512x1) across dimension 1 by add from c        Output: add(broadcast(c), reshape(x))
struct ReduceOfUnits : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 1 || !typeOf(op.getInputs()[0]).hasStaticShape() || isa<quant::QuantizedType>(typeOf(op.getInputs()[0]).getElementType()))
      return rewriter.notifyMatchFailure(op, "several inputs, dynamic or quantized");
    RankedTensorType from = typeOf(op.getInputs()[0]), to = typeOf(op.getResult(0));
    if (llvm::any_of(op.getDimensions(), [&](int64_t dim) { return from.getDimSize(dim) != 1; }))
      return rewriter.notifyMatchFailure(op, "reduces several elements");
    Operation *step = combinerOf(op.getBody());
    Value left = op.getBody().getArgument(0);
    if (!step || !step->hasTrait<mlir::OpTrait::Elementwise>() || step->getResult(0).getType() != left.getType() ||
        typeOf(left).getElementType() != from.getElementType() || to.getElementType() != from.getElementType())
      return rewriter.notifyMatchFailure(op, "not one operation on elements");
    Value init = BroadcastInDimOp::create(rewriter, op.getLoc(), to, op.getInitValues()[0], rewriter.getDenseI64ArrayAttr({}));
    Value element = ReshapeOp::create(rewriter, op.getLoc(), to, op.getInputs()[0]);
    bool inOrder = step->getOperand(0) == left;
    OperationState state(op.getLoc(), step->getName(), {inOrder ? init : element, inOrder ? element : init}, {to}, step->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// Input:  slice(reshape(x: 16x1024 -> 16x1024x1)): PyTorch slices the gates of an LSTM this way
///         slice(reshape(x: 2x8x20 -> 16x20x1)), which only a reshape to 2x8x15 reads: PyTorch cuts off the steps behind a causal convolution this way
///         slices of op(a, b), its only users, each one index of a short last dimension (x and y of the corners of boxes, say)
/// Output: reshape(slice(x)); op(slice(a), slice(b)): vectors hold one component instead of interleaved ones, and op's result is not stored
struct SliceOfComputed : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Operation *made = op.getOperand().getDefiningOp();
    if (!made || !(isa<ReshapeOp>(made) || isElementwise(made)))
      return rewriter.notifyMatchFailure(op, "not of a reshape, or of an elementwise operation on one shape");
    std::optional<SmallVector<Box>> read = boxesRead(made, Box::of(op));
    if (!read)
      return rewriter.notifyMatchFailure(op, "its elements are no slice of the operands");
    if (isa<ReshapeOp>(made) && !addedUnits(typeOf(made->getOperand(0)).getShape(), typeOf(op.getOperand()).getShape())) {
      auto after = op->hasOneUse() ? dyn_cast<ReshapeOp>(*op->user_begin()) : ReshapeOp();
      if (!after || typeOf(after.getResult()).getShape() != ArrayRef(read->front().shape()))
        return rewriter.notifyMatchFailure(op, "the reshape does more than add unit dimensions, and none behind the slice undoes it");
    }
    if (!isa<ReshapeOp>(made)) {
      if (!isComponent(op))
        return rewriter.notifyMatchFailure(op, "no short last dimension of known size");
      int64_t taken = 0;
      for (Operation *user : made->getUsers()) {
        auto slice = dyn_cast<SliceOp>(user);
        if (!slice || typeOf(slice).getShape().back() != 1)
          return rewriter.notifyMatchFailure(op, "a user reads more than one component");
        taken += typeOf(slice).getNumElements();
      }
      if (taken > typeOf(op.getOperand()).getNumElements())
        return rewriter.notifyMatchFailure(op, "a component would be computed several times");
    }
    rewriter.replaceOp(op, sliceBefore(rewriter, op));
    return success();
  }
};

/// Input:  gather at a reshape that only adds the dimension of its one index per position     Output: gather without that dimension
struct GatherOfUnitReshape : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    RankedTensorType indices = typeOf(op.getStartIndices());
    int64_t last = indices.getRank() - 1;
    auto reshape = op.getStartIndices().getDefiningOp<ReshapeOp>();
    if (!reshape || numbers.getIndexVectorDim() != last || typeOf(reshape.getOperand()).getShape() != indices.getShape().drop_back() ||
        indices.getDimSize(last) != 1)
      return rewriter.notifyMatchFailure(op, "indices without a last dimension of their own");
    rewriter.modifyOpInPlace(op, [&] { op.getStartIndicesMutable().assign(reshape.getOperand()); });
    return success();
  }
};

} // namespace

void populateUnitDimensionSimplifications(RewritePatternSet &patterns) {
  patterns.add<ElementwiseOfUnitReshapes, GatherOfUnitReshape, ReduceOfUnits, SliceOfComputed>(patterns.getContext());
}

} // namespace millrace::simplify
