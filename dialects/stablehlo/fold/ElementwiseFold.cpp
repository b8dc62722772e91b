// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementwiseFold.cpp - Cheap folds of elementwise ops ---------------===//
// Contains only folds that need no evaluation of tensors. A fold yields a value of exactly the result type, so that no fact about a dimension is
// lost. Float identities are folded only if they hold bit for bit: x + 0 is not folded (-0 + 0 is +0).
#include "dialects/stablehlo/ElementwiseOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

/// Returns the value of a splat of integers or booleans.
static std::optional<APInt> splatInt(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>();
}

static bool isSplatZero(Attribute attr) {
  auto value = splatInt(attr);
  return value && value->isZero();
}
static bool isSplatOne(Attribute attr) {
  auto value = splatInt(attr);
  return value && value->isOne();
}
/// Returns true for a splat of 1 in floats: x * 1 and x / 1 are x for zeros, infinities, subnormal numbers and quiet NaNs, too.
static bool isFloatOne(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  return elements && elements.isSplat() && elements.getSplatValue<APFloat>().isExactlyValue(1.0);
}
static bool isSplatAllOnes(Attribute attr) {
  auto value = splatInt(attr);
  return value && value->isAllOnes();
}

static bool isBoolTensor(Type type) { return getElementTypeOrSelf(type).isInteger(1); }
static bool isIntTensor(Type type) { return isa<IntegerType>(getElementTypeOrSelf(type)); }

/// Returns `value` if it has exactly the result type.
static OpFoldResult as(Value value, Type type) { return value.getType() == type ? OpFoldResult(value) : nullptr; }
/// Returns `attr` if it has exactly the result type.
static OpFoldResult as(Attribute attr, Type type) {
  return attr && cast<ElementsAttr>(attr).getType() == type ? OpFoldResult(attr) : nullptr;
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}

OpFoldResult BitcastConvertOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<BitcastConvertOp>();
  return inner && inner.getOperand().getType() == getType() ? OpFoldResult(inner.getOperand()) : nullptr;
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<NegOp>();
  return inner && !isa<quant::QuantizedType>(getElementTypeOrSelf(getType())) ? as(inner.getOperand(), getType())
                                                                                : nullptr;
}

OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<NotOp>();
  return inner ? as(inner.getOperand(), getType()) : nullptr;
}

OpFoldResult RealOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto complex = getOperand().getDefiningOp<ComplexOp>();
  return complex ? as(complex.getLhs(), getType()) : nullptr;
}

OpFoldResult ImagOp::fold(FoldAdaptor) {
  auto complex = getOperand().getDefiningOp<ComplexOp>();
  return complex ? as(complex.getRhs(), getType()) : nullptr;
}

OpFoldResult ComplexOp::fold(FoldAdaptor) {
  auto real = getLhs().getDefiningOp<RealOp>();
  auto imag = getRhs().getDefiningOp<ImagOp>();
  return real && imag && real.getOperand() == imag.getOperand() ? as(real.getOperand(), getType()) : nullptr;
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // Also for booleans, whose addition is "or".
  if (isSplatZero(adaptor.getRhs()))
    return as(getLhs(), getType());
  if (isSplatZero(adaptor.getLhs()))
    return as(getRhs(), getType());
  return {};
}

OpFoldResult SubtractOp::fold(FoldAdaptor adaptor) {
  if (isSplatZero(adaptor.getRhs()))
    return as(getLhs(), getType());
  auto type = cast<ShapedType>(getType());
  if (getLhs() == getRhs() && isIntTensor(type) && type.hasStaticShape() && getLhs().getType() == type)
    return DenseElementsAttr::get(type, APInt::getZero(type.getElementTypeBitWidth()));
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplatOne(adaptor.getRhs()) || isFloatOne(adaptor.getRhs()))
    return as(getLhs(), getType());
  if (isSplatOne(adaptor.getLhs()) || isFloatOne(adaptor.getLhs()))
    return as(getRhs(), getType());
  if (isSplatZero(adaptor.getRhs()))
    return as(adaptor.getRhs(), getType());
  if (isSplatZero(adaptor.getLhs()))
    return as(adaptor.getLhs(), getType());
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return isSplatOne(adaptor.getRhs()) || isFloatOne(adaptor.getRhs()) ? as(getLhs(), getType()) : nullptr;
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplatAllOnes(adaptor.getRhs()))
    return as(getLhs(), getType());
  if (isSplatAllOnes(adaptor.getLhs()))
    return as(getRhs(), getType());
  if (isSplatZero(adaptor.getRhs()))
    return as(adaptor.getRhs(), getType());
  if (isSplatZero(adaptor.getLhs()))
    return as(adaptor.getLhs(), getType());
  return {};
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplatZero(adaptor.getRhs()))
    return as(getLhs(), getType());
  if (isSplatZero(adaptor.getLhs()))
    return as(getRhs(), getType());
  if (isSplatAllOnes(adaptor.getRhs()))
    return as(adaptor.getRhs(), getType());
  if (isSplatAllOnes(adaptor.getLhs()))
    return as(adaptor.getLhs(), getType());
  return {};
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (isSplatZero(adaptor.getRhs()))
    return as(getLhs(), getType());
  if (isSplatZero(adaptor.getLhs()))
    return as(getRhs(), getType());
  auto type = cast<ShapedType>(getType());
  if (getLhs() == getRhs() && type.hasStaticShape() && getLhs().getType() == type)
    return DenseElementsAttr::get(type, APInt::getZero(type.getElementTypeBitWidth()));
  return {};
}

// This holds for floats, too, because a NaN keeps its bits.
OpFoldResult MaxOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? as(getLhs(), getType()) : nullptr; }
OpFoldResult MinOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? as(getLhs(), getType()) : nullptr; }

OpFoldResult ShiftLeftOp::fold(FoldAdaptor adaptor) {
  return isSplatZero(adaptor.getRhs()) ? as(getLhs(), getType()) : nullptr;
}
OpFoldResult ShiftRightArithmeticOp::fold(FoldAdaptor adaptor) {
  return isSplatZero(adaptor.getRhs()) ? as(getLhs(), getType()) : nullptr;
}
OpFoldResult ShiftRightLogicalOp::fold(FoldAdaptor adaptor) {
  return isSplatZero(adaptor.getRhs()) ? as(getLhs(), getType()) : nullptr;
}

OpFoldResult CompareOp::fold(FoldAdaptor) {
  auto type = cast<ShapedType>(getType());
  // This does not hold for floats, because NaN differs from itself.
  if (getLhs() != getRhs() || !isIntTensor(getLhs().getType()) || !type.hasStaticShape())
    return {};
  ComparisonDirection direction = getComparisonDirection();
  bool holds = direction == ComparisonDirection::EQ || direction == ComparisonDirection::GE ||
               direction == ComparisonDirection::LE;
  return DenseElementsAttr::get(type, holds);
}

//===-- select ------------------------------------------------------------===//

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return as(getOnTrue(), getType());
  if (auto pred = splatInt(adaptor.getPred()))
    return as(pred->isZero() ? getOnFalse() : getOnTrue(), getType());
  return {};
}

namespace {
/// select(not p, a, b) -> select(p, b, a)
struct SelectOfNot : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto inverted = op.getPred().getDefiningOp<NotOp>();
    if (!inverted)
      return rewriter.notifyMatchFailure(op, "predicate is not inverted");
    rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), inverted.getOperand(), op.getOnFalse(), op.getOnTrue());
    return success();
  }
};

/// select(p, true, false) -> p
struct SelectOfPred : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    if (!isBoolTensor(op.getType()) || op.getPred().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "not a boolean result with a predicate of the same type");
    DenseIntElementsAttr onTrue, onFalse;
    if (!matchPattern(op.getOnTrue(), m_Constant(&onTrue)) || !matchPattern(op.getOnFalse(), m_Constant(&onFalse)) ||
        !isSplatAllOnes(onTrue) || !isSplatZero(onFalse))
      return rewriter.notifyMatchFailure(op, "branches are not true and false");
    rewriter.replaceOp(op, op.getPred());
    return success();
  }
};
} // namespace

void SelectOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<SelectOfNot, SelectOfPred>(context);
}

} // namespace millrace::stablehlo
