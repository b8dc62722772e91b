// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpRules.cpp - The table of OpRules.h -------------------------------===//
#include "passes/spmd/OpRules.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

/// Collects factors; starts with all dimensions whole.
struct Builder {
  explicit Builder(Operation *op) : op(op) {
    for (Value value : op->getOperands())
      rule.operands.emplace_back(shapeOf(value).size(), -1);
    for (Value value : op->getResults())
      rule.results.emplace_back(shapeOf(value).size(), -1);
  }
  int factor() { return rule.numFactors++; }
  /// One factor for dimension `from` of operand 0 and dimension `to` of result 0.
  void pass(int64_t from, int64_t to) { rule.operands[0][from] = rule.results[0][to] = factor(); }
  /// Dimension `dim` of all operands and results that have the rank of result 0.
  void passAll(int64_t dim) {
    int f = factor();
    for (auto *side : {&rule.operands, &rule.results})
      for (auto &dims : *side)
        if (dims.size() == rule.results[0].size())
          dims[dim] = f;
  }
  int64_t rank() const { return rule.results[0].size(); }

  Operation *op;
  OpRule rule;
};

bool isElementwise(Operation *op) {
  return isa<AbsOp, AddOp, AndOp, Atan2Op, CbrtOp, CeilOp, ClampOp, ClzOp, CompareOp, ComplexOp, ConvertOp, CosineOp,
             DivOp, ExpOp, Expm1Op, FloorOp, ImagOp, IsFiniteOp, Log1pOp, LogOp, LogisticOp, MaxOp, MinOp, MulOp, NegOp,
             NotOp, OrOp, PopulationCountOp, PowOp, RealOp, ReducePrecisionOp, RemOp, RoundNearestEvenOp, RoundOp,
             RsqrtOp, SelectOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, SignOp, SineOp, SqrtOp,
             SubtractOp, TanOp, TanhOp, XorOp, MapOp>(op);
}

/// Groups of dimensions with equal products; of each group the major dimension can be split on both sides.
void reshape(Builder &b) {
  ArrayRef<int64_t> from = shapeOf(b.op->getOperand(0)), to = shapeOf(b.op->getResult(0));
  if (llvm::is_contained(from, 0))
    return;
  size_t i = 0, j = 0;
  while (true) {
    while (i < from.size() && from[i] == 1)
      ++i;
    while (j < to.size() && to[j] == 1)
      ++j;
    if (i == from.size() || j == to.size())
      return;
    b.pass(i, j);
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
  }
}

void dot(Builder &b, DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  int64_t next = 0;
  OpRule &rule = b.rule;
  for (auto [l, r] : llvm::zip(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
    rule.operands[0][l] = rule.operands[1][r] = rule.results[0][next++] = b.factor();
  for (auto [l, r] : llvm::zip(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
    rule.reduced.push_back(rule.operands[0][l] = rule.operands[1][r] = b.factor());
  for (int side : {0, 1})
    for (int &dim : rule.operands[side])
      if (dim == -1)
        dim = rule.results[0][next++] = b.factor();
}

void convolution(Builder &b, ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  if (op.getBatchGroupCount() == 1)
    b.pass(numbers.getInputBatchDimension(), numbers.getOutputBatchDimension());
  if (op.getBatchGroupCount() == 1 && op.getFeatureGroupCount() == 1)
    b.rule.operands[1][numbers.getKernelOutputFeatureDimension()] =
        b.rule.results[0][numbers.getOutputFeatureDimension()] = b.factor();
}

void reduce(Builder &b, ReduceOp op) {
  int64_t inputs = op.getInputs().size(), next = 0, rank = shapeOf(op.getInputs()[0]).size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool gone = llvm::is_contained(op.getDimensions(), dim);
    int f = b.factor();
    if (gone)
      b.rule.reduced.push_back(f);
    for (int64_t i = 0; i < inputs; ++i) {
      b.rule.operands[i][dim] = f;
      if (!gone)
        b.rule.results[i][next] = f;
    }
    next += !gone;
  }
}

void gather(Builder &b, GatherOp op) {
  auto numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> operandShape = shapeOf(op.getOperand());
  int64_t vectorDim = numbers.getIndexVectorDim(), nextIndex = 0;
  // Dimensions of the result are offsets or positions in the indices.
  SmallVector<int64_t> windowDims;
  for (int64_t dim = 0; dim < int64_t(operandShape.size()); ++dim)
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      windowDims.push_back(dim);
  for (int64_t dim = 0; dim < b.rank(); ++dim) {
    auto *offset = llvm::find(numbers.getOffsetDims(), dim);
    if (offset != numbers.getOffsetDims().end()) {
      int64_t window = windowDims[offset - numbers.getOffsetDims().begin()];
      if (op.getSliceSizes()[window] == operandShape[window] && !llvm::is_contained(numbers.getStartIndexMap(), window))
        b.pass(window, dim);
      continue;
    }
    if (nextIndex == vectorDim)
      ++nextIndex;
    int f = b.rule.operands[1][nextIndex] = b.rule.results[0][dim] = b.factor();
    auto *batch = llvm::find(numbers.getStartIndicesBatchingDims(), nextIndex);
    if (batch != numbers.getStartIndicesBatchingDims().end())
      b.rule.operands[0][numbers.getOperandBatchingDims()[batch - numbers.getStartIndicesBatchingDims().begin()]] = f;
    ++nextIndex;
  }
}

void scatter(Builder &b, ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  int64_t inputs = op.getInputs().size(), next = 0;
  ArrayRef<int64_t> operandShape = shapeOf(op.getInputs()[0]), updateShape = shapeOf(op.getUpdates()[0]);
  for (int64_t dim = 0; dim < int64_t(operandShape.size()); ++dim) {
    if (llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
        llvm::is_contained(numbers.getInputBatchingDims(), dim))
      continue;
    int64_t window = numbers.getUpdateWindowDims()[next++];
    if (updateShape[window] != operandShape[dim] || llvm::is_contained(numbers.getScatterDimsToOperandDims(), dim))
      continue;
    int f = b.factor();
    for (int64_t i = 0; i < inputs; ++i)
      b.rule.operands[i][dim] = b.rule.operands[inputs + 1 + i][window] = b.rule.results[i][dim] = f;
  }
}

/// Windows of one element that do not move: dimensions that the operation does not touch.
template <typename Op> bool isPlain(Op op, int64_t dim) {
  auto at = [&](std::optional<ArrayRef<int64_t>> list, int64_t otherwise) { return list ? (*list)[dim] : otherwise; };
  if (op.getPadding()) {
    auto padding = op.getPadding()->template getValues<int64_t>();
    if (padding[{uint64_t(dim), 0}] != 0 || padding[{uint64_t(dim), 1}] != 0)
      return false;
  }
  return at(op.getWindowDimensions(), 1) == 1 && at(op.getWindowStrides(), 1) == 1;
}

/// The user's rule for an operation we know nothing about: pass-through factors that are whole dimensions.
void custom(Builder &b, sdy::OpShardingRuleAttr attr) {
  llvm::SmallDenseMap<int64_t, int> factors;
  auto isPassThrough = [&](int64_t factor) {
    return !llvm::is_contained(attr.getReductionFactors(), factor) &&
           !llvm::is_contained(attr.getNeedReplicationFactors(), factor) &&
           !llvm::is_contained(attr.getPermutationFactors(), factor);
  };
  // A factor that is only part of a dimension somewhere is left alone everywhere.
  llvm::SmallDenseSet<int64_t> compound;
  for (auto mappings : {attr.getOperandMappings(), attr.getResultMappings()})
    for (sdy::TensorMappingAttr mapping : mappings)
      for (sdy::DimMappingAttr dim : mapping.getDimMappings())
        if (dim.getFactorIndices().size() != 1)
          compound.insert(dim.getFactorIndices().begin(), dim.getFactorIndices().end());
  auto assign = [&](ArrayRef<sdy::TensorMappingAttr> mappings, auto &side) {
    for (auto [mapping, dims] : llvm::zip(mappings, side))
      for (auto [dim, f] : llvm::zip(mapping.getDimMappings(), dims)) {
        int64_t factor = dim.getFactorIndices().front();
        if (dim.getFactorIndices().size() != 1 || !isPassThrough(factor) || compound.contains(factor))
          continue;
        f = factors.try_emplace(factor, b.rule.numFactors).first->second;
        b.rule.numFactors = std::max(b.rule.numFactors, f + 1);
      }
  };
  assign(attr.getOperandMappings(), b.rule.operands);
  assign(attr.getResultMappings(), b.rule.results);
}

} // namespace

OpRule ruleOf(Operation *op) {
  Builder b(op);
  auto passWhere = [&](auto condition) {
    for (int64_t dim = 0; dim < b.rank(); ++dim)
      if (condition(dim))
        b.passAll(dim);
  };
  if (auto attr = op->getAttrOfType<sdy::OpShardingRuleAttr>(sdy::shardingRuleAttrName)) {
    custom(b, attr);
    return b.rule;
  }
  if (isElementwise(op)) {
    passWhere([](int64_t) { return true; });
    return b.rule;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](BroadcastInDimOp each) {
        ArrayRef<int64_t> from = shapeOf(each.getOperand()), to = shapeOf(each.getResult());
        for (auto [dim, target] : llvm::enumerate(each.getBroadcastDimensions()))
          if (from[dim] == to[target])
            b.pass(dim, target);
        // Dimensions that the broadcast makes have no operand to come from, so nobody asks for them to be split.
      })
      .Case([&](TransposeOp each) {
        for (auto [to, from] : llvm::enumerate(each.getPermutation()))
          b.pass(from, to);
      })
      .Case([&](ReshapeOp) { reshape(b); })
      .Case([&](DotGeneralOp each) { dot(b, each); })
      .Case([&](ConvolutionOp each) { convolution(b, each); })
      .Case([&](ReduceOp each) { reduce(b, each); })
      .Case([&](GatherOp each) { gather(b, each); })
      .Case([&](ScatterOp each) { scatter(b, each); })
      .Case([&](ConcatenateOp each) { passWhere([&](int64_t dim) { return dim != int64_t(each.getDimension()); }); })
      .Case([&](SliceOp each) {
        passWhere([&](int64_t dim) { return shapeOf(each.getOperand())[dim] == shapeOf(each.getResult())[dim]; });
      })
      .Case([&](DynamicSliceOp each) {
        passWhere([&](int64_t dim) { return shapeOf(each.getOperand())[dim] == shapeOf(each.getResult())[dim]; });
      })
      .Case([&](DynamicUpdateSliceOp each) {
        passWhere([&](int64_t dim) { return shapeOf(each.getOperand())[dim] == shapeOf(each.getUpdate())[dim]; });
      })
      .Case([&](PadOp each) {
        passWhere([&](int64_t dim) {
          return each.getEdgePaddingLow()[dim] == 0 && each.getEdgePaddingHigh()[dim] == 0 &&
                 each.getInteriorPadding()[dim] == 0;
        });
      })
      .Case([&](ReverseOp each) {
        passWhere([&](int64_t dim) { return !llvm::is_contained(each.getDimensions(), dim); });
      })
      .Case([&](SortOp each) {
        int64_t rank = b.rank(), sorted = each.getDimension();
        passWhere([&](int64_t dim) { return dim != (sorted < 0 ? sorted + rank : sorted); });
      })
      .Case([&](ReduceWindowOp each) {
        auto dilated = [&](std::optional<ArrayRef<int64_t>> list, int64_t dim) { return list && (*list)[dim] != 1; };
        passWhere([&](int64_t dim) {
          return isPlain(each, dim) && !dilated(each.getBaseDilations(), dim) && !dilated(each.getWindowDilations(), dim);
        });
      })
      .Case([&](SelectAndScatterOp each) { passWhere([&](int64_t dim) { return isPlain(each, dim); }); })
      .Case([&](FftOp each) {
        passWhere([&](int64_t dim) { return dim < b.rank() - int64_t(each.getFftLength().size()); });
      })
      .Case([&](CholeskyOp) { passWhere([&](int64_t dim) { return dim < b.rank() - 2; }); })
      .Case([&](TriangularSolveOp each) {
        passWhere([&](int64_t dim) { return dim < b.rank() - 2; });
        int64_t free = each.getLeftSide() ? b.rank() - 1 : b.rank() - 2;
        b.rule.operands[1][free] = b.rule.results[0][free] = b.factor();
      })
      .Case([&](BitcastConvertOp each) {
        if (b.rule.operands[0].size() == b.rule.results[0].size())
          passWhere([](int64_t) { return true; });
      })
      .Default([](Operation *) {});
  return b.rule;
}

void localizeAttributes(Operation *local) {
  auto i64s = [&](ArrayRef<int64_t> values) { return DenseI64ArrayAttr::get(local->getContext(), values); };
  llvm::TypeSwitch<Operation *>(local)
      .Case([&](SliceOp op) {
        // A split dimension was taken in full.
        ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
        SmallVector<int64_t> limits(op.getLimitIndices());
        for (auto [dim, limit] : llvm::enumerate(limits))
          if (from[dim] == to[dim])
            limit = from[dim];
        op.setLimitIndicesAttr(i64s(limits));
      })
      .Case([&](DynamicSliceOp op) { op.setSliceSizesAttr(i64s(shapeOf(op.getResult()))); })
      .Case([&](GatherOp op) {
        auto numbers = op.getDimensionNumbers();
        SmallVector<int64_t> sizes(op.getSliceSizes());
        int64_t next = 0;
        for (auto [dim, size] : llvm::enumerate(sizes))
          if (!llvm::is_contained(numbers.getCollapsedSliceDims(), int64_t(dim)) &&
              !llvm::is_contained(numbers.getOperandBatchingDims(), int64_t(dim)))
            size = shapeOf(op.getResult())[numbers.getOffsetDims()[next++]];
        op.setSliceSizesAttr(i64s(sizes));
      })
      .Default([](Operation *) {});
}

} // namespace millrace::spmd
