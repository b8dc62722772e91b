// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeStructural.cpp - Constants, top_k, mulhi, scan, ragged_dot -===//
#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Box.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/chlo/Expr.h"
#include "passes/chlo/Passes.h"

using namespace mlir;
namespace millrace::chlo {
namespace {

struct ConvertConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op.getType(), op.getValue());
    return success();
  }
};

struct ConvertConstantLike : OpRewritePattern<ConstantLikeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantLikeOp op, PatternRewriter &rewriter) const override {
    Value result = constantLike(rewriter, op.getLoc(), op.getValue(), op.getOperand());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, op.getType()));
    return success();
  }
};

//===-- top_k -------------------------------------------------------------===//

/// Expands to a stable sort of (value, position), of which the first k are kept.
struct ConvertTopK : OpRewritePattern<TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TopKOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "operand has dynamic dimensions");
    if (isa<ComplexType, quant::QuantizedType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "elements have no order");
    int64_t last = type.getRank() - 1;
    Type positions = type.clone(rewriter.getI32Type());
    Value iota = stablehlo::IotaOp::create(rewriter, loc, positions, last);
    auto sort = stablehlo::SortOp::create(rewriter, loc, ValueRange{op.getOperand(), iota}, last, /*is_stable=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      Type value = RankedTensorType::get({}, type.getElementType());
      Type position = RankedTensorType::get({}, rewriter.getI32Type());
      Block *body = rewriter.createBlock(&sort.getComparator(), {}, TypeRange{value, value, position, position},
                                         {loc, loc, loc, loc});
      // TOTALORDER orders NaNs.
      auto kind = isa<FloatType>(type.getElementType()) ? stablehlo::ComparisonType::TOTALORDER
                                                        : stablehlo::ComparisonType::NOTYPE;
      auto direction =
          op.getLargest() ? stablehlo::ComparisonDirection::GT : stablehlo::ComparisonDirection::LT;
      Value before = stablehlo::CompareOp::create(rewriter, loc, body->getArgument(0), body->getArgument(1),
                                                  direction, kind);
      stablehlo::ReturnOp::create(rewriter, loc, before);
    }
    stablehlo::Box first = stablehlo::Box::along(type.getShape(), type.getRank() - 1, 0, op.getK());
    SmallVector<Value> results;
    for (auto [sorted, result] : llvm::zip(sort.getResults(), op.getResults())) {
      results.push_back(castTo(rewriter, loc, stablehlo::boxOf(rewriter, loc, sorted, first), result.getType()));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

//===-- mulhi -------------------------------------------------------------===//

struct ConvertMulhi : OpRewritePattern<MulhiOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulhiOp op, PatternRewriter &rewriter) const override {
    Expr lhs(rewriter, op.getLoc(), op.getLhs()), rhs(rewriter, op.getLoc(), op.getRhs());
    auto type = cast<IntegerType>(lhs.getElementType());
    unsigned width = type.getWidth();
    auto shift = [](Expr value, int64_t bits) {
      return value.binary<stablehlo::ShiftRightLogicalOp>(value.constant(static_cast<double>(bits)));
    };
    Expr result = lhs;
    if (width < 64) {
      // The product fits twice the width.
      auto wide = IntegerType::get(op.getContext(), 2 * width, type.getSignedness());
      result = shift(lhs.convert(wide) * rhs.convert(wide), width).convert(type);
    } else {
      // The product is the sum of four products of halves, with the operands as unsigned integers.
      Type word = IntegerType::get(op.getContext(), 64, IntegerType::Unsigned);
      Expr a = lhs.convert(word), b = rhs.convert(word);
      Expr mask = a.with(constantLike(rewriter, op.getLoc(), IntegerAttr::get(word, APInt(64, 0xffffffffu)), a.get()));
      Expr a0 = a & mask, a1 = shift(a, 32), b0 = b & mask, b1 = shift(b, 32);
      Expr middle = a1 * b0 + shift(a0 * b0, 32);
      Expr low = a0 * b1 + (middle & mask);
      result = (a1 * b1 + shift(middle, 32) + shift(low, 32)).convert(type);
      // As an unsigned integer, a negative operand is larger by 2^64.
      if (!type.isUnsigned()) {
        result = result - select(lhs < 0.0, rhs, rhs.constant(0));
        result = result - select(rhs < 0.0, lhs, lhs.constant(0));
      }
    }
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result.get(), op.getType()));
    return success();
  }
};

//===-- scan --------------------------------------------------------------===//

/// Expands to a loop over the positions of the dimension; it carries position, inputs, carries and outputs.
struct ConvertScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t dim = op.getDimension();
    auto isStatic = [](Type type) { return cast<ShapedType>(type).hasStaticShape(); };
    if (!llvm::all_of(op->getOperandTypes(), isStatic) || !llvm::all_of(op->getResultTypes(), isStatic))
      return rewriter.notifyMatchFailure(op, "dynamic dimensions");
    if (op.getInputs().empty())
      return rewriter.notifyMatchFailure(op, "no input says how often the body runs");
    int64_t count = cast<RankedTensorType>(op.getInputs()[0].getType()).getDimSize(dim);
    size_t numInputs = op.getInputs().size(), numCarries = op.getInits().size(), numOutputs = op.getOutputs().size();
    auto index = [&](int64_t value) -> Value {
      auto type = RankedTensorType::get({}, rewriter.getI64Type());
      return stablehlo::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(type, value));
    };
    SmallVector<Value> operands{index(0)};
    llvm::append_range(operands, op.getInputs());
    llvm::append_range(operands, op.getInits());
    for (Type type : op.getOutputs().getTypes()) {
      auto shaped = cast<RankedTensorType>(type);
      operands.push_back(stablehlo::ConstantOp::create(rewriter, loc, zeros(shaped)));
    }
    SmallVector<Type> types(ValueRange(operands).getTypes());
    SmallVector<Location> locs(types.size(), loc);
    auto loop = stablehlo::WhileOp::create(rewriter, loc, types, operands);
    OpBuilder::InsertionGuard guard(rewriter);
    Block *cond = rewriter.createBlock(&loop.getCond(), {}, types, locs);
    Value more = stablehlo::CompareOp::create(rewriter, loc, cond->getArgument(0), index(count),
                                              stablehlo::ComparisonDirection::LT);
    stablehlo::ReturnOp::create(rewriter, loc, more);

    Block *body = rewriter.createBlock(&loop.getBody(), {}, types, locs);
    Value step = body->getArgument(0), position = step, zero = index(0);
    if (op.getIsReverse())
      position = stablehlo::SubtractOp::create(rewriter, loc, index(count - 1), step);
    auto startsFor = [&](RankedTensorType type) {
      SmallVector<Value> starts(type.getRank(), zero);
      starts[dim] = position;
      return starts;
    };
    Block &inner = op.getBody().front();
    SmallVector<Value> arguments;
    for (size_t i = 0; i < numInputs; ++i) {
      auto type = cast<RankedTensorType>(op.getInputs()[i].getType());
      SmallVector<int64_t> sizes(type.getShape());
      sizes[dim] = 1;
      Value slice = stablehlo::DynamicSliceOp::create(rewriter, loc, body->getArgument(1 + i), startsFor(type),
                                                      rewriter.getDenseI64ArrayAttr(sizes));
      arguments.push_back(stablehlo::ReshapeOp::create(rewriter, loc, inner.getArgument(i).getType(), slice));
    }
    for (size_t i = 0; i < numCarries; ++i)
      arguments.push_back(body->getArgument(1 + numInputs + i));
    Operation *terminator = inner.getTerminator();
    SmallVector<Value> returned(terminator->getOperands());
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(inner.getArguments(), arguments))
      mapping.map(argument, value);
    for (Operation &nested : inner.without_terminator())
      rewriter.clone(nested, mapping);
    SmallVector<Value> next{stablehlo::AddOp::create(rewriter, loc, step, index(1))};
    for (size_t i = 0; i < numInputs; ++i)
      next.push_back(body->getArgument(1 + i));
    for (size_t i = 0; i < numCarries; ++i)
      next.push_back(mapping.lookupOrDefault(returned[numOutputs + i]));
    for (size_t i = 0; i < numOutputs; ++i) {
      Value target = body->getArgument(1 + numInputs + numCarries + i);
      auto type = cast<RankedTensorType>(target.getType());
      SmallVector<int64_t> sizes(type.getShape());
      sizes[dim] = 1;
      Value update = stablehlo::ReshapeOp::create(rewriter, loc, RankedTensorType::get(sizes, type.getElementType()),
                                                  mapping.lookupOrDefault(returned[i]));
      next.push_back(stablehlo::DynamicUpdateSliceOp::create(rewriter, loc, target, update, startsFor(type)));
    }
    stablehlo::ReturnOp::create(rewriter, loc, next);
    SmallVector<Value> results(loop.getResults().drop_front(1 + numInputs + numCarries));
    llvm::append_range(results, loop.getResults().slice(1 + numInputs, numCarries));
    rewriter.replaceOp(op, results);
    return success();
  }

  static DenseElementsAttr zeros(RankedTensorType type) {
    Type elementType = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(elementType)) {
      APFloat part = APFloat::getZero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
      return DenseElementsAttr::get(type, std::complex<APFloat>(part, part));
    }
    if (auto floating = dyn_cast<FloatType>(elementType))
      return DenseElementsAttr::get(type, APFloat::getZero(floating.getFloatSemantics()));
    return DenseElementsAttr::get(type, APInt::getZero(elementType.getIntOrFloatBitWidth()));
  }
};

//===-- ragged_dot --------------------------------------------------------===//

/// Expands to one dot_general per group, in which the elements of other groups are masked.
struct ConvertRaggedDot : OpRewritePattern<RaggedDotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RaggedDotOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto lhsType = cast<RankedTensorType>(op.getLhs().getType()), rhsType = cast<RankedTensorType>(op.getRhs().getType());
    auto groupsType = cast<RankedTensorType>(op.getGroupSizes().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    if (!lhsType.hasStaticShape() || !rhsType.hasStaticShape() || !groupsType.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic dimensions");
    RaggedDotDimensionNumbersAttr dims = op.getRaggedDotDimensionNumbers();
    int64_t ragged = dims.getLhsRaggedDimensions()[0];
    ArrayAttr precision;
    if (auto config = op.getPrecisionConfig()) {
      SmallVector<Attribute> list;
      for (Attribute attr : *config)
        list.push_back(stablehlo::PrecisionAttr::get(
            op.getContext(), static_cast<stablehlo::Precision>(cast<PrecisionAttr>(attr).getValue())));
      precision = rewriter.getArrayAttr(list);
    }
    auto dot = [&](Value lhs, Value rhs, ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> rhsContract, Type type) -> Value {
      auto numbers =
          stablehlo::DotDimensionNumbersAttr::get(op.getContext(), dims.getLhsBatchingDimensions(), rhsBatch,
                                                  dims.getLhsContractingDimensions(), rhsContract);
      return stablehlo::DotGeneralOp::create(rewriter, loc, type, lhs, rhs, numbers, precision,
                                             stablehlo::DotAlgorithmAttr());
    };
    // A ragged batching dimension changes nothing.
    if (llvm::is_contained(dims.getLhsBatchingDimensions(), ragged)) {
      rewriter.replaceOp(op, dot(op.getLhs(), op.getRhs(), dims.getRhsBatchingDimensions(),
                                 dims.getRhsContractingDimensions(), resultType));
      return success();
    }
    if (groupsType.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "group sizes per batch");
    int64_t count = groupsType.getDimSize(0);
    bool contracting = llvm::is_contained(dims.getLhsContractingDimensions(), ragged);
    Type indexType = rewriter.getI64Type();
    // The lhs is masked if the ragged dimension is contracted, else the result of a group.
    SmallVector<int64_t> partShape(resultType.getShape().drop_front(contracting ? 1 : 0));
    auto partType = RankedTensorType::get(partShape, resultType.getElementType());
    RankedTensorType maskedType = contracting ? lhsType : partType;
    int64_t maskedDim = ragged;
    if (!contracting) {
      maskedDim = dims.getLhsBatchingDimensions().size();
      for (int64_t d = 0; d < ragged; ++d)
        if (!llvm::is_contained(dims.getLhsBatchingDimensions(), d) &&
            !llvm::is_contained(dims.getLhsContractingDimensions(), d))
          ++maskedDim;
    }
    auto indicesType = RankedTensorType::get(maskedType.getShape(), indexType);
    Value positions = stablehlo::IotaOp::create(rewriter, loc, indicesType, maskedDim);
    Value zeroTensor = stablehlo::ConstantOp::create(rewriter, loc, ConvertScan::zeros(maskedType));
    Value sizes = stablehlo::ConvertOp::create(rewriter, loc, op.getGroupSizes(), indexType);
    auto scalarType = RankedTensorType::get({}, indexType);
    Value start = stablehlo::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(scalarType, int64_t(0)));
    auto list = [&](ArrayRef<int64_t> values) { return rewriter.getDenseI64ArrayAttr(values); };
    Value sum;
    SmallVector<Value> parts;
    for (int64_t group = 0; group < count; ++group) {
      Value size = stablehlo::SliceOp::create(rewriter, loc, sizes, list({group}), list({group + 1}), list({1}));
      size = stablehlo::ReshapeOp::create(rewriter, loc, scalarType, size);
      Value end = stablehlo::AddOp::create(rewriter, loc, start, size);
      auto spread = [&](Value scalar) -> Value {
        return stablehlo::BroadcastInDimOp::create(rewriter, loc, indicesType, scalar, list({}));
      };
      Value mask = stablehlo::AndOp::create(
          rewriter, loc,
          stablehlo::CompareOp::create(rewriter, loc, positions, spread(start), stablehlo::ComparisonDirection::GE),
          stablehlo::CompareOp::create(rewriter, loc, positions, spread(end), stablehlo::ComparisonDirection::LT));
      start = end;
      if (contracting) {
        Value lhs = stablehlo::SelectOp::create(rewriter, loc, mask, op.getLhs(), zeroTensor);
        Value part = dot(lhs, op.getRhs(), dims.getRhsBatchingDimensions(), dims.getRhsContractingDimensions(), partType);
        SmallVector<int64_t> shape{1};
        llvm::append_range(shape, partShape);
        parts.push_back(stablehlo::ReshapeOp::create(
            rewriter, loc, RankedTensorType::get(shape, resultType.getElementType()), part));
        continue;
      }
      // The rhs of this group, without the group dimension.
      int64_t groupDim = dims.getRhsGroupDimensions()[0];
      Value rhs = stablehlo::boxOf(rewriter, loc, op.getRhs(), stablehlo::Box::along(rhsType.getShape(), groupDim, group, group + 1));
      SmallVector<int64_t> rhsShape(rhsType.getShape());
      rhsShape.erase(rhsShape.begin() + groupDim);
      rhs = stablehlo::ReshapeOp::create(rewriter, loc, RankedTensorType::get(rhsShape, rhsType.getElementType()), rhs);
      auto without = [&](ArrayRef<int64_t> dimensions) {
        return llvm::to_vector(
            llvm::map_range(dimensions, [&](int64_t d) { return d > groupDim ? d - 1 : d; }));
      };
      Value part = dot(op.getLhs(), rhs, without(dims.getRhsBatchingDimensions()),
                       without(dims.getRhsContractingDimensions()), partType);
      part = stablehlo::SelectOp::create(rewriter, loc, mask, part, sum ? sum : zeroTensor);
      sum = part;
    }
    if (contracting)
      sum = stablehlo::ConcatenateOp::create(rewriter, loc, parts, 0);
    rewriter.replaceOp(op, sum);
    return success();
  }
};
} // namespace

void populateStructuralPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertConstant, ConvertConstantLike, ConvertTopK, ConvertMulhi, ConvertScan, ConvertRaggedDot>(
      patterns.getContext());
}

} // namespace millrace::chlo
