// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyDataMovement.cpp - Compositions of shape operations --------===//
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

bool isComponent(SliceOp op) {
  constexpr int64_t most = 8;
  RankedTensorType whole = typeOf(op.getOperand());
  return whole.hasStaticShape() && !whole.getEncoding() && whole.getRank() >= 2 && whole.getShape().back() > 1 && whole.getShape().back() <= most &&
         typeOf(op).getShape().back() == 1;
}

namespace {

/// Input:  broadcast_in_dim that only adds dimensions of size one, in order      Output: reshape
struct BroadcastToReshape : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
    if (from == to || !from.hasStaticShape() || !to.hasStaticShape() || from.getNumElements() != to.getNumElements() ||
        isa<quant::QuantizedType>(from.getElementType()))
      return rewriter.notifyMatchFailure(op, "repeats elements, dynamic or quantized");
    if (!llvm::is_sorted(op.getBroadcastDimensions()))
      return rewriter.notifyMatchFailure(op, "permutes");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, op.getOperand());
    return success();
  }
};

/// Input:  broadcast_in_dim that permutes and repeats nothing       Output: transpose
struct BroadcastToTranspose : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
    if (!from.hasStaticShape() || from.getRank() != to.getRank() || from.getNumElements() != to.getNumElements())
      return rewriter.notifyMatchFailure(op, "changes the rank or repeats elements");
    SmallVector<int64_t> permutation(to.getRank());
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
      permutation[target] = dim;
    rewriter.replaceOpWithNewOp<TransposeOp>(op, to, op.getOperand(), rewriter.getDenseI64ArrayAttr(permutation));
    return success();
  }
};

/// Input:  broadcast_in_dim(reshape(x)), the reshape adds unit dimensions     Output: broadcast_in_dim(x)
struct BroadcastOfReshape : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return rewriter.notifyMatchFailure(op, "no reshape");
    RankedTensorType from = typeOf(reshape.getOperand()), middle = typeOf(reshape);
    if (!from.hasStaticShape() || !middle.hasStaticShape() || isa<quant::QuantizedType>(from.getElementType()))
      return rewriter.notifyMatchFailure(op, "dynamic or quantized");
    auto map = addedUnits(from.getShape(), middle.getShape());
    if (!map)
      return rewriter.notifyMatchFailure(op, "the reshape does more than add unit dimensions");
    SmallVector<int64_t> dims;
    for (int64_t dim : *map)
      dims.push_back(op.getBroadcastDimensions()[dim]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), reshape.getOperand(),
                                                  rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// Input:  transpose(broadcast_in_dim(x))      Output: broadcast_in_dim(x)
struct TransposeOfBroadcast : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!broadcast || !broadcast->hasOneUse() || !typeOf(op).hasStaticShape() ||
        isa<quant::QuantizedType>(typeOf(op).getElementType()))
      return rewriter.notifyMatchFailure(op, "no broadcast of its own");
    SmallVector<int64_t> dims;
    for (int64_t dim : broadcast.getBroadcastDimensions())
      dims.push_back(llvm::find(op.getPermutation(), dim) - op.getPermutation().begin());
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), broadcast.getOperand(),
                                                  rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// Input:  transpose that moves only dimensions of size one      Output: reshape
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
    if (!from.hasStaticShape() || from == to || isa<quant::QuantizedType>(from.getElementType()))
      return rewriter.notifyMatchFailure(op, "dynamic, quantized, or moves nothing");
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getPermutation())
      if (from.getDimSize(dim) != 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(op, "moves elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, op.getOperand());
    return success();
  }
};

/// Input:  reshape(broadcast_in_dim(scalar))    Output: broadcast_in_dim(scalar)
struct ReshapeOfScalarBroadcast : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!broadcast || typeOf(broadcast.getOperand()).getRank() != 0 || !typeOf(op).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "no broadcast of a scalar");
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), broadcast.getOperand(),
                                                  rewriter.getDenseI64ArrayAttr({}));
    return success();
  }
};

/// Input:  reshape(broadcast_in_dim(x: 16x1x100 to 16x1x3x100)) to 16x3x100      Output: broadcast_in_dim(x) to 16x3x100
struct ReshapeOfBroadcast : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!broadcast || !broadcast->hasOneUse() || !to || !to.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "no broadcast of its own");
    auto from = dyn_cast<RankedTensorType>(broadcast.getType());
    if (!from || !from.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic shapes");
    std::optional<SmallVector<int64_t>> kept = addedUnits(to.getShape(), from.getShape());
    if (!kept)
      return rewriter.notifyMatchFailure(op, "not only dimensions of size one disappear");
    SmallVector<int64_t> dims, lost;
    for (auto [i, d] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
      const int64_t *at = llvm::find(*kept, d);
      dims.push_back(at == kept->end() ? -1 : at - kept->begin());
      if (at == kept->end())
        lost.push_back(int64_t(i));
    }
    // A unit dimension of the operand may become a neighbouring dimension that the broadcast adds.
    for (int64_t i : lost) {
      int64_t behind = llvm::lower_bound(*kept, broadcast.getBroadcastDimensions()[i]) - kept->begin();
      for (int64_t d : {behind, behind - 1})
        if (dims[i] < 0 && d >= 0 && d < to.getRank() && !llvm::is_contained(dims, d))
          dims[i] = d;
      if (dims[i] < 0)
        return rewriter.notifyMatchFailure(op, "no place for a dimension of the operand");
    }
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, to, broadcast.getOperand(), rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// Input:  slice(slice(x)), slice(concatenate(a, b, c)) that touches only b, slice(broadcast_in_dim(x)) where x is repeated
/// Output: slice(x), slice(b), broadcast_in_dim(x), smaller; of one position of a short last dimension also broadcast_in_dim(slice(x))
/// Leaves alone slices of several pieces, and slices of other dimensions of a broadcast's operand.
struct SliceOfMoved : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Operation *moved = op.getOperand().getDefiningOp();
    Box box = Box::of(op);
    if (!isa_and_nonnull<SliceOp, ConcatenateOp, BroadcastInDimOp>(moved) || typeOf(op.getOperand()).clone(box.shape()) != op.getType())
      return rewriter.notifyMatchFailure(op, "no slice, concatenation or broadcast");
    std::optional<SmallVector<Box>> read = boxesRead(moved, box);
    if (!read)
      return rewriter.notifyMatchFailure(op, "dynamic, quantized or empty");
    if (isa<ConcatenateOp>(moved) && llvm::count_if(*read, [](const Box &own) { return !own.isEmpty(); }) != 1)
      return rewriter.notifyMatchFailure(op, "touches several pieces");
    RankedTensorType source = typeOf(moved->getOperand(0));
    if (isa<BroadcastInDimOp>(moved) && !read->front().isWhole(source) &&
        (!isComponent(op) || source.getNumElements() == typeOf(op.getOperand()).getNumElements()))
      return rewriter.notifyMatchFailure(op, "cuts the operand of the broadcast");
    rewriter.replaceOp(op, sliceBefore(rewriter, op));
    return success();
  }
};

/// Input:  pad with negative or zero edges only       Output: slice
struct NegativePadToSlice : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    auto positive = [](int64_t amount) { return amount > 0; };
    auto zero = [](int64_t amount) { return amount == 0; };
    RankedTensorType from = typeOf(op.getOperand());
    if (!from.hasStaticShape() || llvm::any_of(op.getEdgePaddingLow(), positive) ||
        llvm::any_of(op.getEdgePaddingHigh(), positive) || !llvm::all_of(op.getInteriorPadding(), zero))
      return rewriter.notifyMatchFailure(op, "adds elements, or dynamic");
    if (llvm::all_of(op.getEdgePaddingLow(), zero) && llvm::all_of(op.getEdgePaddingHigh(), zero))
      return rewriter.notifyMatchFailure(op, "the identity is the folder's business");
    SmallVector<int64_t> start, limit, strides(from.getRank(), 1);
    for (int64_t i = 0; i != from.getRank(); ++i) {
      start.push_back(-op.getEdgePaddingLow()[i]);
      limit.push_back(from.getDimSize(i) + op.getEdgePaddingHigh()[i]);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getOperand(), rewriter.getDenseI64ArrayAttr(start),
                                         rewriter.getDenseI64ArrayAttr(limit), rewriter.getDenseI64ArrayAttr(strides));
    return success();
  }
};

/// Input:  concatenate(slice(x, a:b), slice(x, b:c))    Output: slice(x, a:c)
struct ConcatenateOfSlices : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatenateOp op, PatternRewriter &rewriter) const override {
    int64_t dim = op.getDimension();
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      auto slice = input.getDefiningOp<SliceOp>();
      auto before = inputs.empty() ? SliceOp() : inputs.back().getDefiningOp<SliceOp>();
      if (!slice || !before || !adjacent(before, slice, dim)) {
        inputs.push_back(input);
        continue;
      }
      SmallVector<int64_t> limit(before.getLimitIndices()), shape(typeOf(before).getShape());
      limit[dim] = slice.getLimitIndices()[dim];
      shape[dim] += typeOf(slice).getDimSize(dim);
      inputs.back() = SliceOp::create(rewriter, op.getLoc(), typeOf(before).clone(shape), before.getOperand(),
                                      before.getStartIndicesAttr(), rewriter.getDenseI64ArrayAttr(limit),
                                      before.getStridesAttr());
    }
    if (inputs.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "no adjacent slices");
    if (inputs.size() == 1 && inputs[0].getType() == op.getType())
      rewriter.replaceOp(op, inputs[0]);
    else
      rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), inputs, op.getDimension());
    return success();
  }

private:
  static bool adjacent(SliceOp a, SliceOp b, int64_t dim) {
    if (a.getOperand() != b.getOperand() || !typeOf(a).hasStaticShape() || !typeOf(b).hasStaticShape())
      return false;
    for (int64_t i = 0, e = typeOf(a).getRank(); i != e; ++i) {
      if (i == dim) {
        if (a.getStrides()[i] != 1 || b.getStrides()[i] != 1 || a.getLimitIndices()[i] != b.getStartIndices()[i])
          return false;
      } else if (a.getStartIndices()[i] != b.getStartIndices()[i] || a.getLimitIndices()[i] != b.getLimitIndices()[i] ||
                 a.getStrides()[i] != b.getStrides()[i]) {
        return false;
      }
    }
    return true;
  }
};

/// Input:  reverse(reverse(x))     Output: reverse over the dimensions that only one of them has
struct ReverseOfReverse : OpRewritePattern<ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReverseOp>();
    if (!inner || inner.getOperand().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "no inner reverse");
    SmallVector<int64_t> dims;
    for (int64_t dim = 0, e = typeOf(op).getRank(); dim != e; ++dim)
      if (llvm::is_contained(op.getDimensions(), dim) != llvm::is_contained(inner.getDimensions(), dim))
        dims.push_back(dim);
    rewriter.replaceOpWithNewOp<ReverseOp>(op, op.getType(), inner.getOperand(), rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

/// Input:  gather of one slice at constant indices      Output: reshape(slice), indices clamped as gather does
struct GatherToSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    RankedTensorType from = typeOf(op.getOperand()), indices = typeOf(op.getStartIndices());
    SmallVector<int64_t> index;
    if (!from.hasStaticShape() || !typeOf(op).hasStaticShape() || isa<quant::QuantizedType>(from.getElementType()))
      return rewriter.notifyMatchFailure(op, "dynamic or quantized");
    if (!indices.hasStaticShape() || !numbers.getOperandBatchingDims().empty() ||
        indices.getNumElements() != int64_t(numbers.getStartIndexMap().size()) ||
        failed(matchInts(op.getStartIndices(), index)))
      return rewriter.notifyMatchFailure(op, "not one constant index");
    SmallVector<int64_t> start(from.getRank(), 0), limit, strides(from.getRank(), 1);
    for (auto [value, dim] : llvm::zip_equal(index, numbers.getStartIndexMap()))
      start[dim] = std::clamp<int64_t>(value, 0, from.getDimSize(dim) - op.getSliceSizes()[dim]);
    for (int64_t dim = 0; dim != from.getRank(); ++dim)
      limit.push_back(start[dim] + op.getSliceSizes()[dim]);
    Value slice = SliceOp::create(rewriter, op.getLoc(), from.clone(op.getSliceSizes()), op.getOperand(),
                                  rewriter.getDenseI64ArrayAttr(start), rewriter.getDenseI64ArrayAttr(limit),
                                  rewriter.getDenseI64ArrayAttr(strides));
    // Offset dimensions stay in order; everything else has size one.
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
    return success();
  }
};

} // namespace

void populateDataMovementSimplifications(RewritePatternSet &patterns) {
  patterns.add<BroadcastOfReshape, BroadcastToReshape, BroadcastToTranspose, ConcatenateOfSlices, GatherToSlice, NegativePadToSlice, ReshapeOfBroadcast,
               ReshapeOfScalarBroadcast, ReverseOfReverse, SliceOfMoved, TransposeOfBroadcast,
               TransposeToReshape>(patterns.getContext());
}

} // namespace millrace::simplify
