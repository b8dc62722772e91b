// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyElementwise.cpp - Identities of arithmetic -----------------===//
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/APSInt.h"
#include "mlir/IR/Matchers.h"
#include "passes/simplify/Builders.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
namespace {

Type elementOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }

/// Returns the value of all elements if `value` is a float splat.
std::optional<APFloat> floatSplat(Value value) {
  DenseElementsAttr elements;
  if (!isa<FloatType>(elementOf(value)) || !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>();
}
std::optional<APInt> intSplat(Value value) {
  DenseElementsAttr elements;
  if (!isa<IntegerType>(elementOf(value)) || !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>();
}
bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Input:  (x + c1) + c2, c1 and c2 constants     Output: x + (c1 + c2)
/// Applies to integers, booleans, and operations that do not round.
template <typename OpTy>
struct Reassociate : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto inner = op.getLhs().template getDefiningOp<OpTy>();
    if (!inner || !isConstant(op.getRhs()) || !isConstant(inner.getRhs()))
      return rewriter.notifyMatchFailure(op, "not (x op c1) op c2");
    if (isConstant(inner.getLhs())) // (c op c1) op c2 would become c op (c1 op c2), and that, with its constant last, the former
      return rewriter.notifyMatchFailure(op, "all constants, which the folder combines");
    bool rounds = !isa<IntegerType>(elementOf(op)) && !isa<MaxOp, MinOp>(op);
    if (rounds)
      return rewriter.notifyMatchFailure(op, "would round in another order");
    if (op.getType() != inner.getType() || op.getType() != op.getRhs().getType() ||
        op.getType() != inner.getRhs().getType())
      return rewriter.notifyMatchFailure(op, "types differ");
    Value constant = OpTy::create(rewriter, op.getLoc(), op.getType(), inner.getRhs(), op.getRhs());
    rewriter.replaceOpWithNewOp<OpTy>(op, op.getType(), inner.getLhs(), constant);
    return success();
  }
};

/// Input:  divide(x, 2.0)       Output: multiply(x, 0.5)
/// Leaves alone divisors that are no power of two, and those whose reciprocal is not a normal number.
struct DivideByPowerOfTwo : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    std::optional<APFloat> divisor = floatSplat(op.getRhs());
    APFloat inverse(APFloat::IEEEdouble());
    if (!divisor || !divisor->isFiniteNonZero())
      return rewriter.notifyMatchFailure(op, "no constant float divisor");
    inverse = *divisor;
    if (!divisor->getExactInverse(&inverse))
      return rewriter.notifyMatchFailure(op, "the reciprocal is not exact");
    auto type = cast<ShapedType>(op.getRhs().getType());
    Value factor = ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, inverse));
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), factor);
    return success();
  }
};

/// Input:  power(x, n), n in {0, 1, 2, 3, -1}      Output: 1, x, x * x, x * x * x (integers), 1 / x (floats)
struct PowerOfConstant : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    Value x = op.getLhs();
    if (x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "types differ");
    bool isFloat = isa<FloatType>(elementOf(x));
    int64_t exponent;
    if (std::optional<APFloat> value = floatSplat(op.getRhs())) {
      APSInt rounded(8, /*isUnsigned=*/false);
      bool exact;
      if (value->convertToInteger(rounded, APFloat::rmTowardZero, &exact) != APFloat::opOK || !exact)
        return rewriter.notifyMatchFailure(op, "no small integer exponent");
      exponent = rounded.getExtValue();
    } else if (std::optional<APInt> value = intSplat(op.getRhs()); value && value->getActiveBits() < 8) {
      exponent = value->getZExtValue();
    } else {
      return rewriter.notifyMatchFailure(op, "no constant exponent");
    }
    Location loc = op.getLoc();
    if (exponent == 0 && cast<ShapedType>(op.getType()).hasStaticShape()) {
      rewriter.replaceOp(op, constantLike(rewriter, loc, x, 1));
    } else if (exponent == 1) {
      rewriter.replaceOp(op, x);
    } else if (exponent == 2) {
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), x, x);
    } else if (exponent == 3 && !isFloat) {
      Value square = MulOp::create(rewriter, loc, op.getType(), x, x);
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), square, x);
    } else if (exponent == -1 && isFloat) {
      rewriter.replaceOpWithNewOp<DivOp>(op, op.getType(), constantLike(rewriter, loc, x, 1), x);
    } else {
      return rewriter.notifyMatchFailure(op, "no cheaper form");
    }
    return success();
  }
};

/// Input:  power(x, 0.5)     Output: select(x == -inf, inf, abs(sqrt(x)))
/// A root takes one instruction instead of dozens, and its error is smaller. Powers of -0 and -inf are 0 and inf, their roots -0 and NaN.
/// Leaves alone power(x, -0.5): 1 / sqrt(x) rounds twice.
struct PowerOfHalf : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    Value x = op.getLhs();
    if (x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "types differ");
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(elementOf(x)))
      return rewriter.notifyMatchFailure(op, "numbers without infinities, or of types whose roots are not native");
    std::optional<APFloat> exponent = floatSplat(op.getRhs());
    if (!exponent || !exponent->isExactlyValue(0.5))
      return rewriter.notifyMatchFailure(op, "the exponent is not 0.5");
    Location loc = op.getLoc();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value root = AbsOp::create(rewriter, loc, SqrtOp::create(rewriter, loc, x));
    Value isEdge = CompareOp::create(rewriter, loc, x, constantLike(rewriter, loc, x, -infinity), ComparisonDirection::EQ);
    rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), isEdge, constantLike(rewriter, loc, x, infinity), root);
    return success();
  }
};

/// Input:  maximum(x, -inf)     Output: x; for integers the least value; minimum the other way round
template <typename OpTy>
struct ExtremumOfLimit : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    constexpr bool isMax = std::is_same_v<OpTy, MaxOp>;
    if (op.getLhs().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "types differ");
    bool neutral = false;
    if (std::optional<APFloat> value = floatSplat(op.getRhs()))
      neutral = value->isInfinity() && value->isNegative() == isMax;
    else if (std::optional<APInt> value = intSplat(op.getRhs())) {
      bool isUnsigned = elementOf(op).isUnsignedInteger() || elementOf(op).isInteger(1);
      neutral = isMax ? (isUnsigned ? value->isMinValue() : value->isMinSignedValue())
                      : (isUnsigned ? value->isMaxValue() : value->isMaxSignedValue());
    }
    if (!neutral)
      return rewriter.notifyMatchFailure(op, "not the neutral element");
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

/// Input:  abs(negate(x)), abs(abs(x))       Output: abs(x)
/// Leaves alone complex numbers, whose abs has another type.
struct AbsOfSign : OpRewritePattern<AbsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AbsOp op, PatternRewriter &rewriter) const override {
    Operation *inner = op.getOperand().getDefiningOp();
    if (!isa_and_present<AbsOp, NegOp>(inner) || inner->getOperand(0).getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "operand is no abs or negate");
    rewriter.modifyOpInPlace(op, [&] { op.setOperand(inner->getOperand(0)); });
    return success();
  }
};

ComparisonDirection swapped(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::GE: return ComparisonDirection::LE;
  case ComparisonDirection::GT: return ComparisonDirection::LT;
  case ComparisonDirection::LE: return ComparisonDirection::GE;
  case ComparisonDirection::LT: return ComparisonDirection::GT;
  default: return direction;
  }
}
ComparisonDirection inverted(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::EQ: return ComparisonDirection::NE;
  case ComparisonDirection::NE: return ComparisonDirection::EQ;
  case ComparisonDirection::GE: return ComparisonDirection::LT;
  case ComparisonDirection::GT: return ComparisonDirection::LE;
  case ComparisonDirection::LE: return ComparisonDirection::GT;
  case ComparisonDirection::LT: return ComparisonDirection::GE;
  }
  llvm_unreachable("no such direction");
}

/// Input:  compare LT, c, x     Output: compare GT, x, c
struct CompareConstantLeft : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &rewriter) const override {
    if (!isConstant(op.getLhs()) || isConstant(op.getRhs()))
      return rewriter.notifyMatchFailure(op, "no constant on the left alone");
    rewriter.modifyOpInPlace(op, [&] {
      Value constant = op.getLhs();
      op->setOperand(0, op.getRhs());
      op->setOperand(1, constant);
      op.setComparisonDirection(swapped(op.getComparisonDirection()));
    });
    return success();
  }
};

/// Input:  not(compare LT, a, b)      Output: compare GE, a, b
/// Leaves alone LT, LE, GT and GE of floats: with a NaN both the comparison and its inverse are false.
struct NotOfCompare : OpRewritePattern<NotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NotOp op, PatternRewriter &rewriter) const override {
    auto compare = op.getOperand().getDefiningOp<CompareOp>();
    if (!compare || !compare->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no compare of its own");
    ComparisonDirection direction = compare.getComparisonDirection();
    bool isEquality = direction == ComparisonDirection::EQ || direction == ComparisonDirection::NE;
    bool isTotal = compare.getCompareType() == ComparisonType::TOTALORDER || compare.getCompareType() == ComparisonType::WEAKORDER;
    if (!isEquality && !isTotal && !isa<IntegerType>(elementOf(compare.getLhs())))
      return rewriter.notifyMatchFailure(op, "NaN is unordered");
    if (compare.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "types differ");
    rewriter.modifyOpInPlace(compare, [&] { compare.setComparisonDirection(inverted(direction)); });
    rewriter.replaceOp(op, compare);
    return success();
  }
};

/// Returns true if `to` represents every value of `from` exactly.
bool widens(Type from, Type to) {
  if (from == to)
    return true;
  if (auto a = dyn_cast<FloatType>(from), b = dyn_cast<FloatType>(to); a && b)
    return APFloat::isRepresentableBy(a.getFloatSemantics(), b.getFloatSemantics()) &&
           (a.isBF16() || a.isF16() || a.isF32() || a.isF64()) && (b.isF32() || b.isF64());
  auto a = dyn_cast<IntegerType>(from), b = dyn_cast<IntegerType>(to);
  if (!a || !b || a.getWidth() == 1 || b.getWidth() == 1)
    return false;
  return a.isUnsigned() ? b.getWidth() > a.getWidth() : !b.isUnsigned() && b.getWidth() > a.getWidth();
}

/// Input:  convert(convert(x: bf16 -> f32) -> T)     Output: convert(x -> T)
/// The first conversion is exact. Leaves alone changes between integers and floats.
struct ConvertOfWidening : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no second convert");
    Type from = elementOf(inner.getOperand()), middle = elementOf(inner), to = elementOf(op);
    if (!widens(from, middle) || isa<FloatType>(to) != isa<FloatType>(from) || isa<ComplexType>(to))
      return rewriter.notifyMatchFailure(op, "the first convert is not exact");
    if (to.isInteger(1))
      return rewriter.notifyMatchFailure(op, "a conversion to i1 is a comparison");
    if (from == to && inner.getOperand().getType() == op.getType())
      rewriter.replaceOp(op, inner.getOperand());
    else
      rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

/// Returns the scalar whose broadcast `value` is, or null.
Value scalarBehind(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    if (cast<RankedTensorType>(broadcast.getOperand().getType()).getRank() == 0)
      return broadcast.getOperand();
  return {};
}

/// Input:  add(broadcast(a), broadcast(b)), a and b scalars      Output: broadcast(add(a, b))
struct ElementwiseOfScalars : RewritePattern {
  ElementwiseOfScalars(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_present<StablehloDialect>(op->getDialect()) || !op->hasTrait<mlir::OpTrait::Elementwise>() ||
        op->getNumRegions() != 0 || op->getNumResults() != 1 || op->getNumOperands() == 0)
      return rewriter.notifyMatchFailure(op, "not elementwise");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.getRank() == 0 || !type.hasStaticShape() || isa<quant::QuantizedType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "scalar, dynamic or quantized");
    SmallVector<Value> scalars;
    bool anyBroadcast = false;
    for (Value operand : op->getOperands()) {
      Value scalar = scalarBehind(operand);
      DenseElementsAttr elements;
      if (scalar) {
        anyBroadcast = true;
      } else if (matchPattern(operand, m_Constant(&elements)) && elements.isSplat() &&
                 !isa<quant::QuantizedType>(elementOf(operand))) {
        auto scalarType = RankedTensorType::get({}, elementOf(operand));
        scalar = ConstantOp::create(rewriter, op->getLoc(), elements.resizeSplat(scalarType));
      } else {
        return rewriter.notifyMatchFailure(op, "an operand is no scalar everywhere");
      }
      scalars.push_back(scalar);
    }
    if (!anyBroadcast)
      return rewriter.notifyMatchFailure(op, "operands are constants, which the folder combines");
    OperationState state(op->getLoc(), op->getName(), scalars, {RankedTensorType::get({}, type.getElementType())},
                         op->getAttrs());
    Operation *scalar = rewriter.create(state);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, type, scalar->getResult(0), rewriter.getDenseI64ArrayAttr({}));
    return success();
  }
};

} // namespace

void populateElementwiseSimplifications(RewritePatternSet &patterns) {
  patterns.add<AbsOfSign, CompareConstantLeft, ConvertOfWidening, DivideByPowerOfTwo, ElementwiseOfScalars,
               ExtremumOfLimit<MaxOp>, ExtremumOfLimit<MinOp>, NotOfCompare, PowerOfConstant, Reassociate<AddOp>,
               Reassociate<AndOp>, Reassociate<MaxOp>, Reassociate<MinOp>, Reassociate<MulOp>, Reassociate<OrOp>,
               Reassociate<XorOp>>(patterns.getContext());
}

void populatePowerSimplifications(RewritePatternSet &patterns) { patterns.add<PowerOfHalf>(patterns.getContext()); }

} // namespace millrace::simplify
