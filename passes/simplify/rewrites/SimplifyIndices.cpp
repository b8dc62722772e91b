// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyIndices.cpp - Narrow index arithmetic -----------------------===//
// Random bits are computed from 64-bit positions, of which a vector register holds half as many as of 32-bit ones. Where only the low 32 bits of a
// position are used, it is computed in 32 bits, and a high half that is always zero becomes a constant. Tables of positions get 32 bits for the same
// reason. What is gathered at its own positions is no gather.
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
namespace {

/// Depth of the search for the largest value of an index. Unit: operations. Source: judgement, not measured alone; commit 77dbba3 has the figures of
/// the whole change.
constexpr unsigned kMaxIndexDepth = 4;

unsigned widthOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }
bool isOfIntegers(Value value) { return isa<IntegerType>(getElementTypeOrSelf(value.getType())); }

/// Returns the largest value of an expression of iotas and nonnegative constants, or none if it is unknown or may exceed its type.
std::optional<APInt> greatest(Value value, unsigned depth = kMaxIndexDepth) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0 || !isOfIntegers(value))
    return std::nullopt;
  APInt limit = APInt::getSignedMaxValue(widthOf(value)).zext(160);
  auto within = [&](const APInt &bound) { return bound.ule(limit) ? std::optional(bound) : std::nullopt; };
  if (auto iota = value.getDefiningOp<IotaOp>())
    return within(APInt(160, type.getDimSize(iota.getIotaDimension()) - 1));
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat() ? within(elements.getSplatValue<APInt>().zext(160)) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (depth && isa_and_nonnull<BroadcastInDimOp, ReshapeOp>(op))
    return greatest(op->getOperand(0), depth - 1);
  if (!depth || !isa_and_nonnull<AddOp, MulOp>(op))
    return std::nullopt;
  std::optional<APInt> a = greatest(op->getOperand(0), depth - 1), b = greatest(op->getOperand(1), depth - 1);
  if (!a || !b)
    return std::nullopt;
  return within(isa<AddOp>(op) ? *a + *b : *a * *b);
}

/// Input:  convert(iota : 64 bits) : 32 bits, convert(x + y)     Output: iota : 32 bits, convert(x) + convert(y)
/// Applies to iotas and expressions of them only: the results of other operations may be needed in both widths.
struct CountInNarrowIntegers : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    Value from = op.getOperand();
    if (!isOfIntegers(from) || !isOfIntegers(op.getResult()) || widthOf(op.getResult()) < 8 || widthOf(op.getResult()) >= widthOf(from))
      return rewriter.notifyMatchFailure(op, "not to fewer bits");
    std::optional<APInt> bound = greatest(from);
    if (!bound || bound->ugt(APInt::getSignedMaxValue(widthOf(op.getResult())).zext(160)))
      return rewriter.notifyMatchFailure(op, "not an expression of iotas and constants, or its values exceed the narrow type");
    if (auto iota = from.getDefiningOp<IotaOp>()) {
      rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), iota.getIotaDimension());
      return success();
    }
    Operation *sum = from.getDefiningOp();
    if (!isa<AddOp, MulOp>(sum))
      return rewriter.notifyMatchFailure(op, "a constant");
    Type element = getElementTypeOrSelf(op.getType());
    Value a = ConvertOp::create(rewriter, op.getLoc(), sum->getOperand(0), element);
    Value b = ConvertOp::create(rewriter, op.getLoc(), sum->getOperand(1), element);
    if (isa<AddOp>(sum))
      rewriter.replaceOpWithNewOp<AddOp>(op, a, b);
    else
      rewriter.replaceOpWithNewOp<MulOp>(op, a, b);
    return success();
  }
};

/// Input:  shift_right_logical x, 32 with positions x below 2^32     Output: 0
struct DropEmptyHighHalf : OpRewritePattern<ShiftRightLogicalOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ShiftRightLogicalOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr by;
    if (!matchPattern(op.getRhs(), m_Constant(&by)) || !by.isSplat() || op.getLhs().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the shift amount is not a splat");
    APInt shift = by.getSplatValue<APInt>();
    std::optional<APInt> bound = greatest(op.getLhs());
    if (!bound || (shift.ult(widthOf(op.getResult())) && bound->getActiveBits() > shift.getZExtValue()))
      return rewriter.notifyMatchFailure(op, "the result is not known to be zero");
    rewriter.replaceOpWithNewOp<ConstantOp>(op, cast<ElementsAttr>(rewriter.getZeroAttr(op.getType())));
    return success();
  }
};

/// Input:  gather from x at a constant of 64 bits, whose values are below 2^31      Output: the same at a constant of 32 bits
struct GatherAtNarrowConstants : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    DenseIntElementsAttr table;
    if (!matchPattern(op.getStartIndices(), m_Constant(&table)) || !isOfIntegers(op.getStartIndices()) || widthOf(op.getStartIndices()) <= 32)
      return rewriter.notifyMatchFailure(op, "not at constants of 64 bits");
    if (llvm::any_of(table.getValues<APInt>(), [](const APInt &position) { return position.getActiveBits() > 31; }))
      return rewriter.notifyMatchFailure(op, "a position is negative or needs more than 31 bits");
    Type narrow = rewriter.getIntegerType(32);
    DenseElementsAttr positions = table.mapValues(narrow, [](const APInt &position) { return position.trunc(32); });
    rewriter.modifyOpInPlace(op, [&] {
      op.getStartIndicesMutable().assign(ConstantOp::create(rewriter, op.getLoc(), positions));
    });
    return success();
  }
};

/// Input:  compare LT, x, 0 with positions x     Output: false; GE: true
/// JAX writes this comparison to let negative indices count from the end.
struct ComparePositions : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &rewriter) const override {
    bool isLess = op.getComparisonDirection() == ComparisonDirection::LT;
    Value bound = op.getRhs();
    if (auto broadcast = bound.getDefiningOp<BroadcastInDimOp>())
      bound = broadcast.getOperand();
    DenseElementsAttr zero;
    if ((!isLess && op.getComparisonDirection() != ComparisonDirection::GE) || !isOfIntegers(op.getLhs()) || !matchPattern(bound, m_Constant(&zero)) ||
        !zero.isSplat() || !zero.getSplatValue<APInt>().isZero())
      return rewriter.notifyMatchFailure(op, "not with zero");
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape() || !greatest(op.getLhs()))
      return rewriter.notifyMatchFailure(op, "not an expression of iotas and constants");
    rewriter.replaceOpWithNewOp<ConstantOp>(op, cast<ElementsAttr>(DenseElementsAttr::get(type, !isLess)));
    return success();
  }
};

/// Returns the dimension of `value` along which its elements are their own positions: of an iota that is widened, reshaped or repeated.
std::optional<int64_t> dimOfPositions(Value value, unsigned depth = kMaxIndexDepth) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto iota = value.getDefiningOp<IotaOp>())
    return greatest(value) ? std::optional<int64_t>(iota.getIotaDimension()) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!depth || !isa_and_nonnull<BroadcastInDimOp, ReshapeOp, ConvertOp>(op) || !isOfIntegers(op->getOperand(0)))
    return std::nullopt;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  std::optional<int64_t> dim = from.hasStaticShape() && type.hasStaticShape() ? dimOfPositions(op->getOperand(0), depth - 1) : std::nullopt;
  if (!dim)
    return std::nullopt;
  if (isa<ConvertOp>(op))
    return widthOf(value) >= widthOf(op->getOperand(0)) ? dim : std::nullopt;
  const int64_t size = from.getDimSize(*dim);
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    const int64_t repeated = broadcast.getBroadcastDimensions()[*dim];
    return type.getDimSize(repeated) == size ? std::optional(repeated) : std::nullopt;
  }
  // As many elements are before and behind the dimension.
  int64_t outside = 1, before = 1;
  for (int64_t each : from.getShape().take_front(*dim))
    outside *= each;
  for (auto [place, each] : llvm::enumerate(type.getShape())) {
    if (before == outside && each == size)
      return int64_t(place);
    before *= each;
  }
  return std::nullopt;
}

/// Input:  gather of x[i, j] with positions i of dimension 0 and j of dimension 2 of the indices     Output: broadcast_in_dim x, dims = [0, 2]
/// Masks of attention are written so, as functions of positions.
struct GatherAtOwnPositions : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    auto from = dyn_cast<RankedTensorType>(op.getOperand().getType()), at = dyn_cast<RankedTensorType>(op.getStartIndices().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !at || !type || !from.hasStaticShape() || !at.hasStaticShape() || !type.hasStaticShape() || type.getNumElements() == 0 ||
        !numbers.getOperandBatchingDims().empty() || isa<quant::QuantizedType>(from.getElementType()))
      return rewriter.notifyMatchFailure(op, "dynamic, empty, quantized, or with batching dimensions");
    const int64_t vectorDim = numbers.getIndexVectorDim();
    SmallVector<Value> components;
    auto stack = op.getStartIndices().getDefiningOp<ConcatenateOp>();
    if (numbers.getStartIndexMap().size() == 1)
      components.push_back(op.getStartIndices());
    else if (stack && int64_t(stack.getDimension()) == vectorDim && stack.getInputs().size() == numbers.getStartIndexMap().size())
      components.append(stack.getInputs().begin(), stack.getInputs().end());
    else
      return rewriter.notifyMatchFailure(op, "indices that are no stack of components");
    // Dimensions of the result that are those of the indices, and of the operand.
    SmallVector<int64_t> ofIndices, dims(from.getRank(), -1);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(numbers.getOffsetDims(), dim))
        ofIndices.push_back(dim);
    for (auto [component, dim] : llvm::zip_equal(components, numbers.getStartIndexMap())) {
      if (stack && components.size() > 1 && cast<RankedTensorType>(component.getType()).getDimSize(vectorDim) != 1)
        return rewriter.notifyMatchFailure(op, "operands of the stack that are no single components");
      std::optional<int64_t> counted = dimOfPositions(component);
      if (!llvm::is_contained(numbers.getCollapsedSliceDims(), dim) || !counted || *counted == vectorDim || at.getDimSize(*counted) != from.getDimSize(dim))
        return rewriter.notifyMatchFailure(op, "a component that is no position, or not one of the same size");
      const int64_t place = ofIndices[*counted - (*counted > vectorDim)];
      if (llvm::is_contained(dims, place))
        return rewriter.notifyMatchFailure(op, "a diagonal");
      dims[dim] = place;
    }
    auto offsets = numbers.getOffsetDims().begin();
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      if (dims[dim] < 0) {
        if (llvm::is_contained(numbers.getCollapsedSliceDims(), dim) || op.getSliceSizes()[dim] != from.getDimSize(dim))
          return rewriter.notifyMatchFailure(op, "a part of a dimension without indices");
        dims[dim] = *offsets++;
      }
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), op.getOperand(), rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

} // namespace

void populateIndexSimplifications(RewritePatternSet &patterns) {
  patterns.add<CountInNarrowIntegers, DropEmptyHighHalf, ComparePositions, GatherAtNarrowConstants, GatherAtOwnPositions>(patterns.getContext());
}

} // namespace millrace::simplify
