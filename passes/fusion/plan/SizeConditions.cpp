// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeConditions.cpp - What an operation requires of open sizes -------===//
// Input:   %s = stablehlo.add %a, %b : tensor<?x4xf32>
// Output:  size(%b, 0) = size(%a, 0)
// Leaves alone operations of static shapes, which the verifier has checked, unless they read starts or sizes from operands.
#include "passes/fusion/plan/SizeConditions.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

using Recipe = std::optional<ShapeRecipe>;
using Relation = SizeCondition::Relation;

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }
int64_t sizeIn(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }
Recipe number(int64_t value) { return ShapeRecipe::constant(value); }

class Conditions {
public:
  Conditions(Operation *op, SmallVectorImpl<SizeCondition> &list) : op(op), list(list) {}

  LogicalResult visit();

private:
  void require(const Recipe &size, Relation relation, const Recipe &bound);
  void same(Value a, int64_t dim, Value b, int64_t otherDim) { require(sizeOf(b, otherDim), Relation::Equal, sizeOf(a, dim)); }
  void sameShape(Value a, Value b) {
    for (int64_t d = 0; d < rankOf(a); ++d)
      same(a, d, b, d);
  }
  void sameShapes(ValueRange values) {
    for (Value value : values.drop_front())
      sameShape(values.front(), value);
  }
  /// Sizes that the types of results state are those that follow from the operands.
  void resultsAsComputed() {
    for (OpResult result : op->getResults())
      for (int64_t d = 0; d < rankOf(result); ++d)
        require(computedSizeOf(result, d), Relation::Equal, sizeOf(result, d));
  }
  void notNegative(Value value) {
    for (int64_t d = 0; d < rankOf(value); ++d)
      require(sizeOf(value, d), Relation::AtLeast, number(0));
  }

  void visitElementwise();
  void visit(DynamicBroadcastInDimOp broadcast);
  void visit(RealDynamicSliceOp slice);
  void visitPad(Value operand, Value result);
  void visit(DotGeneralOp dot);
  template <typename Convolution> void visitConvolution(Convolution op);
  void visitGather(GatherDimensionNumbersAttr numbers, Value operand, Value indices, llvm::function_ref<Recipe(int64_t)> sliceSize);
  void visit(ScatterOp scatter);
  void visit(FftOp fft);
  void visit(BitcastConvertOp convert);
  void visit(TriangularSolveOp solve);

  Operation *op;
  SmallVectorImpl<SizeCondition> &list;
  bool isKnown = true;
};

void Conditions::require(const Recipe &size, Relation relation, const Recipe &bound) {
  if (!size || !bound) {
    isKnown = false;
    return;
  }
  std::optional<int64_t> a = size->asConstant(), b = bound->asConstant();
  bool holds = *size == *bound;
  if (a && b)
    holds |= (relation == Relation::AtLeast && *a >= *b) || (relation == Relation::AtMost && *a <= *b) || (relation == Relation::OneOrEqual && *a == 1);
  // The size of an argument is not negative.
  holds |= relation == Relation::AtLeast && b && *b <= 0 && size->terms.size() == 1 && size->terms[0].op == ShapeRecipe::Op::ArgumentDim;
  if (!holds)
    list.push_back({*size, relation, *bound});
}

/// Scalars are broadcast: the predicate of a selection, the limits of a clamp.
void Conditions::visitElementwise() {
  SmallVector<Value> values;
  int64_t rank = rankOf(op->getResult(0));
  for (ValueRange range : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : range)
      if (rankOf(value) == rank)
        values.push_back(value);
  sameShapes(values);
}

void Conditions::visit(DynamicBroadcastInDimOp broadcast) {
  auto listed = [](std::optional<ArrayRef<int64_t>> dims, int64_t dim) { return dims && llvm::is_contained(*dims, dim); };
  Value operand = broadcast.getOperand(), result = broadcast.getResult();
  notNegative(result);
  resultsAsComputed();
  for (auto [i, target] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
    auto dim = static_cast<int64_t>(i);
    if (listed(broadcast.getKnownExpandingDimensions(), dim))
      require(sizeOf(operand, dim), Relation::Equal, number(1));
    else if (listed(broadcast.getKnownNonexpandingDimensions(), dim))
      same(result, target, operand, dim);
    else
      require(sizeOf(operand, dim), Relation::OneOrEqual, sizeOf(result, target));
  }
}

void Conditions::visit(RealDynamicSliceOp slice) {
  Value operand = slice.getOperand(), result = slice.getResult();
  for (int64_t d = 0; d < rankOf(operand); ++d) {
    Recipe start = shapeElementOf(slice.getStartIndices(), d), limit = shapeElementOf(slice.getLimitIndices(), d);
    require(start, Relation::AtLeast, number(0));
    require(limit, Relation::AtMost, sizeOf(operand, d));
    require(limit, Relation::AtLeast, start);
    require(shapeElementOf(slice.getStrides(), d), Relation::AtLeast, number(1));
    require(computedSizeOf(slice->getResult(0), d), Relation::Equal, sizeOf(result, d));
  }
}

void Conditions::visitPad(Value operand, Value result) {
  if (auto pad = dyn_cast<DynamicPadOp>(op))
    for (int64_t d = 0; d < rankOf(operand); ++d)
      require(shapeElementOf(pad.getInteriorPadding(), d), Relation::AtLeast, number(0));
  resultsAsComputed();
  notNegative(result);
}

void Conditions::visit(DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbersAttr();
  for (auto [left, right] : llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
    same(dot.getLhs(), left, dot.getRhs(), right);
  for (auto [left, right] : llvm::zip_equal(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
    same(dot.getLhs(), left, dot.getRhs(), right);
  resultsAsComputed();
}

template <typename Convolution> void Conditions::visitConvolution(Convolution convolution) {
  ConvDimensionNumbersAttr numbers = convolution.getDimensionNumbers();
  Value input = convolution.getLhs(), kernel = convolution.getRhs(), result = convolution.getResult();
  auto featureGroups = static_cast<int64_t>(convolution.getFeatureGroupCount()), batchGroups = static_cast<int64_t>(convolution.getBatchGroupCount());
  auto times = [](const Recipe &size, int64_t factor) -> Recipe {
    return size && factor != 1 ? ShapeRecipe::binary(ShapeRecipe::Op::Mul, *size, ShapeRecipe::constant(factor)) : size;
  };
  require(times(sizeOf(kernel, numbers.getKernelInputFeatureDimension()), featureGroups), Relation::Equal,
          sizeOf(input, numbers.getInputFeatureDimension()));
  // The kernel's features are divided among groups: whether there is a rest has to be known.
  isKnown &= featureGroups * batchGroups == 1 || !ShapedType::isDynamic(sizeIn(kernel, numbers.getKernelOutputFeatureDimension()));
  same(kernel, numbers.getKernelOutputFeatureDimension(), result, numbers.getOutputFeatureDimension());
  require(sizeOf(input, numbers.getInputBatchDimension()), Relation::Equal, times(sizeOf(result, numbers.getOutputBatchDimension()), batchGroups));
  for (int64_t d : numbers.getOutputSpatialDimensions())
    require(computedSizeOf(convolution->getResult(0), d), Relation::Equal, sizeOf(result, d));
}

void Conditions::visitGather(GatherDimensionNumbersAttr numbers, Value operand, Value indices, llvm::function_ref<Recipe(int64_t)> sliceSize) {
  for (int64_t d = 0; d < rankOf(operand); ++d) {
    require(sizeOf(operand, d), Relation::AtLeast, sliceSize(d));
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), d) || llvm::is_contained(numbers.getOperandBatchingDims(), d))
      require(sliceSize(d), Relation::Equal, number(1));
    else
      require(sliceSize(d), Relation::AtLeast, number(0));
  }
  for (auto [mine, other] : llvm::zip_equal(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims()))
    same(indices, other, operand, mine);
  if (numbers.getIndexVectorDim() < rankOf(indices))
    require(sizeOf(indices, numbers.getIndexVectorDim()), Relation::Equal, number(numbers.getStartIndexMap().size()));
  resultsAsComputed();
}

void Conditions::visit(ScatterOp scatter) {
  ScatterDimensionNumbersAttr numbers = scatter.getScatterDimensionNumbers();
  Value input = scatter.getInputs().front(), updates = scatter.getUpdates().front(), indices = scatter.getScatterIndices();
  sameShapes(scatter.getInputs());
  sameShapes(scatter.getUpdates());
  for (Value result : scatter->getResults())
    sameShape(input, result);
  int64_t windowDim = 0, scatterDim = 0;
  SmallVector<int64_t> windowInputDims;
  for (int64_t d = 0; d < rankOf(input); ++d)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) && !llvm::is_contained(numbers.getInputBatchingDims(), d))
      windowInputDims.push_back(d);
  for (int64_t d = 0; d < rankOf(updates); ++d) {
    if (llvm::is_contained(numbers.getUpdateWindowDims(), d)) {
      require(sizeOf(updates, d), Relation::AtMost, sizeOf(input, windowInputDims[windowDim++]));
      continue;
    }
    if (scatterDim == numbers.getIndexVectorDim())
      ++scatterDim;
    same(indices, scatterDim++, updates, d);
  }
  for (auto [mine, other] : llvm::zip_equal(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
    same(input, mine, indices, other);
  if (numbers.getIndexVectorDim() < rankOf(indices))
    require(sizeOf(indices, numbers.getIndexVectorDim()), Relation::Equal, number(numbers.getScatterDimsToOperandDims().size()));
}

void Conditions::visit(FftOp fft) {
  ArrayRef<int64_t> lengths = fft.getFftLength();
  int64_t first = rankOf(fft.getOperand()) - int64_t(lengths.size());
  for (auto [i, length] : llvm::enumerate(lengths)) {
    bool isHalf = fft.getFftType() == FftType::IRFFT && i + 1 == lengths.size() && length > 0;
    require(sizeOf(fft.getOperand(), first + int64_t(i)), Relation::Equal, number(isHalf ? length / 2 + 1 : length));
  }
  resultsAsComputed();
}

void Conditions::visit(BitcastConvertOp convert) {
  Value operand = convert.getOperand(), result = convert.getResult();
  int64_t common = std::min(rankOf(operand), rankOf(result));
  for (int64_t d = 0; d < common; ++d)
    same(operand, d, result, d);
  // The wider element is a row of narrower ones.
  for (Value parts : {operand, result})
    if (rankOf(parts) > common)
      require(sizeOf(parts, common), Relation::Equal, numPartsOf(convert));
}

void Conditions::visit(TriangularSolveOp solve) {
  Value a = solve.getA(), b = solve.getB();
  int64_t rank = rankOf(a), row = rank - 2, column = rank - 1;
  for (int64_t d = 0; d < row; ++d)
    same(a, d, b, d);
  same(a, row, a, column);
  same(a, row, b, solve.getLeftSide() ? row : column);
  sameShape(b, solve->getResult(0));
}

LogicalResult Conditions::visit() {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](RealDynamicSliceOp slice) { visit(slice); })
      .Case([&](DynamicBroadcastInDimOp broadcast) { visit(broadcast); })
      // The machine code takes an open size for the size of the result.
      .Case([&](BroadcastInDimOp broadcast) {
        for (auto [i, target] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          if (ShapedType::isDynamic(sizeIn(broadcast.getOperand(), int64_t(i))))
            same(broadcast.getResult(), target, broadcast.getOperand(), int64_t(i));
      })
      .Case<DynamicReshapeOp, ReshapeOp>([&](auto reshape) {
        if (isa<DynamicReshapeOp>(op)) {
          notNegative(reshape.getResult());
          resultsAsComputed();
        }
        require(numElementsOf(reshape.getResult()), Relation::Equal, numElementsOf(reshape.getOperand()));
      })
      .Case<DynamicIotaOp, RngOp>([&](auto made) {
        notNegative(made.getResult());
        resultsAsComputed();
      })
      .Case<PadOp, DynamicPadOp>([&](auto pad) { visitPad(pad.getOperand(), pad.getResult()); })
      .Case([&](SetDimensionSizeOp set) {
        auto dim = static_cast<int64_t>(set.getDimension());
        Recipe size = shapeElementOf(set.getSize(), 0);
        require(size, Relation::AtLeast, number(0));
        require(size, Relation::AtMost, sizeOf(set.getOperand(), dim));
        if (!ShapedType::isDynamic(sizeIn(set.getResult(), dim)))
          require(sizeOf(set.getOperand(), dim), Relation::Equal, sizeOf(set.getResult(), dim));
        for (int64_t d = 0; d < rankOf(set.getOperand()); ++d)
          if (d != dim)
            same(set.getOperand(), d, set.getResult(), d);
      })
      .Case([&](SliceOp slice) {
        for (auto [d, limit] : llvm::enumerate(slice.getLimitIndices()))
          require(sizeOf(slice.getOperand(), int64_t(d)), Relation::AtLeast, number(limit));
      })
      .Case([&](DynamicSliceOp slice) {
        for (auto [d, size] : llvm::enumerate(slice.getSliceSizes()))
          require(sizeOf(slice.getOperand(), int64_t(d)), Relation::AtLeast, number(size));
      })
      .Case([&](DynamicUpdateSliceOp update) {
        for (int64_t d = 0; d < rankOf(update.getOperand()); ++d)
          require(sizeOf(update.getUpdate(), d), Relation::AtMost, sizeOf(update.getOperand(), d));
        sameShape(update.getOperand(), update.getResult());
      })
      .Case([&](ConcatenateOp concatenate) {
        auto dim = static_cast<int64_t>(concatenate.getDimension());
        for (Value input : concatenate.getInputs().drop_front())
          for (int64_t d = 0; d < rankOf(input); ++d)
            if (d != dim)
              same(concatenate.getInputs().front(), d, input, d);
        resultsAsComputed();
      })
      .Case<ReduceOp, ReduceWindowOp>([&](auto reduce) {
        sameShapes(reduce.getInputs());
        resultsAsComputed();
      })
      .Case([&](SelectAndScatterOp scatter) {
        for (int64_t d = 0; d < rankOf(scatter.getOperand()); ++d)
          require(sizeOf(scatter.getSource(), d), Relation::Equal, numWindowsOf(scatter, d));
        sameShape(scatter.getOperand(), scatter->getResult(0));
      })
      .Case<SortOp, MapOp>([&](auto) {
        sameShapes(op->getOperands());
        for (Value result : op->getResults())
          sameShape(op->getOperand(0), result);
      })
      .Case<ReverseOp>([&](auto) { sameShape(op->getOperand(0), op->getResult(0)); })
      .Case<TransposeOp>([&](auto) { resultsAsComputed(); })
      .Case([&](DotGeneralOp dot) { visit(dot); })
      .Case<ConvolutionOp, DynamicConvOp>([&](auto convolution) { visitConvolution(convolution); })
      .Case([&](GatherOp gather) {
        visitGather(gather.getDimensionNumbers(), gather.getOperand(), gather.getStartIndices(), [&](int64_t d) { return number(gather.getSliceSizes()[d]); });
      })
      .Case([&](DynamicGatherOp gather) {
        visitGather(gather.getDimensionNumbers(), gather.getOperand(), gather.getStartIndices(),
                    [&](int64_t d) { return shapeElementOf(gather.getSliceSizes(), d); });
      })
      .Case([&](ScatterOp scatter) { visit(scatter); })
      .Case([&](FftOp fft) { visit(fft); })
      .Case([&](BitcastConvertOp convert) { visit(convert); })
      .Case([&](TriangularSolveOp solve) { visit(solve); })
      .Case([&](CholeskyOp cholesky) {
        int64_t rank = rankOf(cholesky.getA());
        same(cholesky.getA(), rank - 2, cholesky.getA(), rank - 1);
        sameShape(cholesky.getA(), cholesky->getResult(0));
      })
      .Case<GetDimensionSizeOp, OptimizationBarrierOp>([](auto) {}) // any size is right
      .Default([&](Operation *) {
        if (isElementwise(op))
          visitElementwise();
        else
          isKnown = false;
      });
  return success(isKnown);
}

} // namespace

LogicalResult sizeConditions(Operation *op, SmallVectorImpl<SizeCondition> &conditions) {
  auto isOpen = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  bool hasOpenSizes = llvm::any_of(op->getOperandTypes(), isOpen) || llvm::any_of(op->getResultTypes(), isOpen);
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() || (!hasOpenSizes && !hasShapeOperand(op)))
    return success();
  return Conditions(op, conditions).visit();
}

} // namespace millrace::fusion
