// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyIndices.cpp - Narrow index arithmetic -----------------------===//
// Random bits are computed from 64-bit positions, of which a vector register holds half as many as of 32-bit ones. Where only the low 32 bits of a
// position are used, it is computed in 32 bits, and a high half that is always zero becomes a constant.
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Ops.h"
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

} // namespace

void populateIndexSimplifications(RewritePatternSet &patterns) {
  patterns.add<CountInNarrowIntegers, DropEmptyHighHalf, ComparePositions>(patterns.getContext());
}

} // namespace millrace::simplify
