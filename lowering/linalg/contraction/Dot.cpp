// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dot.cpp - dot_general, dot, einsum, unary_einsum to linalg ---------===//
// Input:   %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : bf16
// Output:  %f = linalg.fill(0.0) : f32; %c = linalg.generic, iterators [batch.., lhs free.., rhs free.. | contracting..],
//          body: acc + ext(a) * ext(b) in f32; %r = linalg.generic trunc(%c)
// The contraction emitter recognizes this form. The accumulator is f32 for floats narrower than f32, the widest of operands and result for other
// floats, and the result type for integers and complex numbers. A dot algorithm with one component per operand rounds the operands to its precision
// types; with more components the operands are not rounded.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/contraction/Contractions.h"
#include "lowering/linalg/PatternKinds.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::lowering {

Type contractionAccumulator(Type lhs, Type rhs, Type result) {
  auto resultFloat = dyn_cast<FloatType>(result);
  if (!resultFloat)
    return result;
  unsigned width = std::max(32u, resultFloat.getWidth());
  for (Type operand : {lhs, rhs})
    if (auto floatType = dyn_cast<FloatType>(operand))
      width = std::max(width, floatType.getWidth());
  return width > 32 ? Type(Float64Type::get(result.getContext())) : Type(Float32Type::get(result.getContext()));
}

Value emitContraction(LoopBuilder &l, const Contraction &c) {
  Value init = l.fill(l.zero(storageElementType(c.accumulator)), l.empty(c.sizes, storageElementType(c.accumulator)));
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    LoopBuilder in(b, loc);
    Value acc = toCompute(b, loc, args.back(), c.accumulator);
    Value product;
    for (auto [arg, element, rounding] : llvm::zip(args.drop_back(), c.elements, c.roundTo)) {
      Value value = toCompute(b, loc, arg, element);
      Type from = element;
      if (rounding && rounding != element) {
        value = roundToElement(b, loc, convertElement(in, value, element, rounding), rounding);
        from = rounding;
      }
      value = convertElement(in, value, from, c.accumulator);
      product = product ? multiplyElements(in, product, value, c.accumulator) : value;
    }
    Value sum = addElements(in, acc, product, c.accumulator);
    linalg::YieldOp::create(b, loc, toStorage(b, loc, sum, c.accumulator));
  };
  return linalg::GenericOp::create(l.b, l.loc, init.getType(), c.operands, init, c.maps, c.iterators, body).getResult(0);
}

namespace {

AffineMap mapTo(ArrayRef<int64_t> loops, size_t loopCount, MLIRContext *context) {
  SmallVector<AffineExpr> exprs;
  for (int64_t loop : loops)
    exprs.push_back(getAffineDimExpr(loop, context));
  return AffineMap::get(loopCount, 0, exprs, context);
}

Value lowerDotGeneral(LoopBuilder &l, Value lhs, Value rhs, Type lhsElement, Type rhsElement, RankedTensorType stablehloResult,
                      ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                      ArrayRef<int64_t> rhsContract, stablehlo::DotAlgorithmAttr algorithm) {
  int64_t lhsRank = cast<RankedTensorType>(lhs.getType()).getRank(), rhsRank = cast<RankedTensorType>(rhs.getType()).getRank();
  Contraction c;
  SmallVector<int64_t> lhsLoops(lhsRank, -1), rhsLoops(rhsRank, -1), resultLoops;
  int64_t next = 0;
  auto parallel = [&](OpFoldResult size) {
    c.sizes.push_back(size);
    c.iterators.push_back(utils::IteratorType::parallel);
    resultLoops.push_back(next);
    return next++;
  };
  for (auto [l0, r0] : llvm::zip(lhsBatch, rhsBatch)) {
    bool lhsKnows = !cast<RankedTensorType>(lhs.getType()).isDynamicDim(l0);
    lhsLoops[l0] = rhsLoops[r0] = parallel(lhsKnows ? l.foldedDim(lhs, l0) : l.foldedDim(rhs, r0));
  }
  for (int64_t d = 0; d < lhsRank; ++d)
    if (lhsLoops[d] < 0 && !llvm::is_contained(lhsContract, d))
      lhsLoops[d] = parallel(l.foldedDim(lhs, d));
  for (int64_t d = 0; d < rhsRank; ++d)
    if (rhsLoops[d] < 0 && !llvm::is_contained(rhsContract, d))
      rhsLoops[d] = parallel(l.foldedDim(rhs, d));
  for (auto [l0, r0] : llvm::zip(lhsContract, rhsContract)) {
    c.iterators.push_back(utils::IteratorType::reduction);
    lhsLoops[l0] = rhsLoops[r0] = next++;
  }
  MLIRContext *context = l.b.getContext();
  Type resultElement = stablehloResult.getElementType();
  c.operands = {lhs, rhs};
  c.elements = {lhsElement, rhsElement};
  c.roundTo = {Type(), Type()};
  c.accumulator = contractionAccumulator(lhsElement, rhsElement, resultElement);
  if (algorithm && isa<FloatType>(resultElement)) {
    // There is no tf32 arithmetic here; f32 is at least as precise.
    auto rounding = [&](Type precision, int64_t components, Type element) -> Type {
      auto floatType = dyn_cast<FloatType>(precision);
      auto operand = dyn_cast<FloatType>(element);
      if (components != 1 || !floatType || !operand || isa<FloatTF32Type>(precision))
        return Type();
      return floatType.getWidth() < operand.getWidth() ? precision : Type();
    };
    c.roundTo = {rounding(algorithm.getLhsPrecisionType(), algorithm.getLhsComponentCount(), lhsElement),
                 rounding(algorithm.getRhsPrecisionType(), algorithm.getRhsComponentCount(), rhsElement)};
    if (algorithm.getAccumulationType().isF64())
      c.accumulator = algorithm.getAccumulationType();
  }
  c.maps = {mapTo(lhsLoops, next, context), mapTo(rhsLoops, next, context), mapTo(resultLoops, next, context)};
  return convertTensor(l, emitContraction(l, c), c.accumulator, resultElement);
}

struct DotGeneralPattern : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    auto numbers = op.getDotDimensionNumbers();
    Value result = lowerDotGeneral(
        l, adaptor.getLhs(), adaptor.getRhs(), getElementTypeOrSelf(op.getLhs().getType()),
        getElementTypeOrSelf(op.getRhs().getType()), cast<RankedTensorType>(op.getType()), numbers.getLhsBatchingDimensions(),
        numbers.getRhsBatchingDimensions(), numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions(),
        op.getAlgorithm().value_or(stablehlo::DotAlgorithmAttr()));
    rewriter.replaceOp(op, l.cast(result, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

struct DotPattern : OpConversionPattern<stablehlo::DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DotOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    int64_t lhsRank = cast<RankedTensorType>(adaptor.getLhs().getType()).getRank();
    Value result = lowerDotGeneral(l, adaptor.getLhs(), adaptor.getRhs(), getElementTypeOrSelf(op.getLhs().getType()),
                                   getElementTypeOrSelf(op.getRhs().getType()), cast<RankedTensorType>(op.getType()), {}, {},
                                   {lhsRank - 1}, {0}, {});
    rewriter.replaceOp(op, l.cast(result, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

/// Returns the labels of one operand of an einsum equation. `...` stands for the leading dimensions without a letter; their labels are numbers from
/// 256 on, counted from the right so that operands of different ranks agree.
FailureOr<SmallVector<int>> parseLabels(StringRef text, int64_t rank) {
  SmallVector<int> labels;
  size_t letters = llvm::count_if(text, llvm::isAlpha);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...")) {
      int64_t missing = rank < 0 ? -rank - 1 : rank - static_cast<int64_t>(letters);
      for (int64_t d = missing; d > 0; --d)
        labels.push_back(255 + d);
      i += 2;
    } else if (llvm::isAlpha(text[i])) {
      labels.push_back(text[i]);
    } else if (text[i] != ' ') {
      return failure();
    }
  }
  if (rank >= 0 && static_cast<int64_t>(labels.size()) != rank)
    return failure();
  return labels;
}

FailureOr<Value> lowerEinsum(LoopBuilder &l, StringRef config, ValueRange operands, ArrayRef<Type> elements, Type resultElement) {
  auto [left, right] = config.split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != operands.size())
    return failure();
  SmallVector<SmallVector<int>> labels;
  int64_t ellipsis = 0;
  for (auto [part, operand] : llvm::zip(parts, operands)) {
    auto parsed = parseLabels(part.trim(), cast<RankedTensorType>(operand.getType()).getRank());
    if (failed(parsed))
      return failure();
    labels.push_back(*parsed);
    ellipsis = std::max<int64_t>(ellipsis, llvm::count_if(*parsed, [](int label) { return label > 255; }));
  }
  auto resultLabels = parseLabels(right.trim(), -1 - ellipsis);
  if (failed(resultLabels))
    return failure();

  Contraction c;
  SmallVector<int> order(*resultLabels);
  for (ArrayRef<int> operandLabels : labels)
    for (int label : operandLabels)
      if (!llvm::is_contained(order, label))
        order.push_back(label);
  auto loopsOf = [&](ArrayRef<int> of) {
    SmallVector<int64_t> loops;
    for (int label : of)
      loops.push_back(llvm::find(order, label) - order.begin());
    return mapTo(loops, order.size(), l.b.getContext());
  };
  for (auto [position, label] : llvm::enumerate(order)) {
    bool isResult = position < resultLabels->size();
    c.iterators.push_back(isResult ? utils::IteratorType::parallel : utils::IteratorType::reduction);
    if (!isResult)
      continue;
    bool found = false;
    for (auto [operand, operandLabels] : llvm::zip(operands, labels))
      if (auto it = llvm::find(operandLabels, label); !found && it != operandLabels.end()) {
        c.sizes.push_back(l.foldedDim(operand, it - operandLabels.begin()));
        found = true;
      }
    if (!found)
      return failure();
  }
  for (ArrayRef<int> operandLabels : labels)
    c.maps.push_back(loopsOf(operandLabels));
  c.maps.push_back(loopsOf(*resultLabels));
  c.operands = llvm::to_vector(operands);
  c.elements = llvm::to_vector(elements);
  c.roundTo.assign(operands.size(), Type());
  c.accumulator = contractionAccumulator(elements.front(), elements.back(), resultElement);
  return convertTensor(l, emitContraction(l, c), c.accumulator, resultElement);
}

template <typename Op> struct EinsumPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    SmallVector<Type> elements;
    for (Value operand : op->getOperands())
      elements.push_back(getElementTypeOrSelf(operand.getType()));
    auto result = lowerEinsum(l, op.getEinsumConfig(), adaptor.getOperands(), elements, getElementTypeOrSelf(op.getType()));
    if (failed(result))
      return rewriter.notifyMatchFailure(op, "einsum equation does not fit the operands");
    rewriter.replaceOp(op, l.cast(*result, this->getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void populateDotPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DotGeneralPattern, DotPattern, EinsumPattern<stablehlo::EinsumOp>, EinsumPattern<stablehlo::UnaryEinsumOp>>(
      converter, patterns.getContext());
}

} // namespace millrace::lowering
