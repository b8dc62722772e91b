// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpRules.cpp - Which factors of an operation can be computed in parts -===//
#include "passes/spmd/OpRules.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/spmd/Combiners.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace millrace::stablehlo;
using millrace::sharding::DimFactors;
using millrace::sharding::Factor;
using millrace::sharding::FactorKind;
using millrace::sharding::Rule;
using millrace::sharding::shapeOf;
using millrace::sharding::TensorFactors;

namespace millrace::spmd {
namespace {

/// Returns a rule without factors.
Rule wholeRule(Operation *op) {
  Rule rule;
  auto add = [&](ValueRange values, auto &tensors) {
    for (Value value : values) {
      TensorFactors &tensor = tensors.emplace_back();
      for (int64_t size : shapeOf(value)) {
        tensor.push_back({int(rule.factors.size())});
        rule.factors.push_back({size, FactorKind::NeedReplication, true});
      }
    }
  };
  add(op->getOperands(), rule.operands);
  add(op->getResults(), rule.results);
  return rule;
}

bool has(const TensorFactors &tensor, int factor) {
  return llvm::any_of(tensor, [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
}

/// Returns true for windows of one element with stride 1 along `dim`, a dimension that the operation does not change.
template <typename Op> bool isPlain(Op op, int64_t dim) {
  auto at = [&](std::optional<ArrayRef<int64_t>> list, int64_t otherwise) { return list ? (*list)[dim] : otherwise; };
  if (op.getPadding()) {
    auto padding = op.getPadding()->template getValues<int64_t>();
    if (padding[{uint64_t(dim), 0}] != 0 || padding[{uint64_t(dim), 1}] != 0)
      return false;
  }
  return at(op.getWindowDimensions(), 1) == 1 && at(op.getWindowStrides(), 1) == 1;
}

/// Returns the dimensions of operand 0 that stay whole although the rule shares their factors with others: a window at an index may overlap several
/// tiles, but a single element is in one (PartitionIndexing.cpp).
SmallVector<int64_t> wholeDims(Operation *op) {
  SmallVector<int64_t> dims;
  auto where = [&](auto condition) {
    for (int64_t dim = 0; dim < int64_t(shapeOf(op->getOperand(0)).size()); ++dim)
      if (condition(dim))
        dims.push_back(dim);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](GatherOp each) {
        auto numbers = each.getDimensionNumbers();
        where([&](int64_t dim) {
          return llvm::is_contained(numbers.getStartIndexMap(), dim) && each.getSliceSizes()[dim] != 1;
        });
      })
      .Case([&](ScatterOp each) {
        auto numbers = each.getScatterDimensionNumbers();
        where([&](int64_t dim) {
          return llvm::is_contained(numbers.getScatterDimsToOperandDims(), dim) &&
                 !llvm::is_contained(numbers.getInsertedWindowDims(), dim);
        });
      })
      .Default([](Operation *) {});
  return dims;
}

/// Returns true if devices can compute tiles of the result with halos from their neighbours.
bool canMove(Operation *op, int64_t dim) {
  auto isEmpty = [](Value value) { return llvm::is_contained(shapeOf(value), 0); };
  // Some operands of a concatenation may be empty.
  if (llvm::any_of(op->getResults(), isEmpty) || (!isa<ConcatenateOp>(op) && llvm::any_of(op->getOperands(), isEmpty)))
    return false;
  auto select = dyn_cast<SelectAndScatterOp>(op);
  if (!select)
    return true;
  // Windows beyond the source must add nothing.
  Operation *combine = combinerOf(select.getScatter());
  if (!combine || !isNeutral(select.getInitValue(), combine))
    return false;
  if (!select.getPadding() || llvm::all_of(select.getPadding()->getValues<int64_t>(), [](int64_t each) { return each == 0; }))
    return true;
  // Padding must never be selected: only minus infinity is less than the lowest finite value.
  Block &body = select.getSelect().front();
  auto compare = dyn_cast<CompareOp>(body.front());
  auto type = dyn_cast<FloatType>(cast<RankedTensorType>(select.getOperand().getType()).getElementType());
  return type && APFloat::semanticsHasInf(type.getFloatSemantics()) && compare && llvm::hasNItems(body, 2) &&
         compare.getComparisonDirection() == ComparisonDirection::GE && compare.getLhs() == body.getArgument(0) &&
         compare.getRhs() == body.getArgument(1);
}

/// Returns true if every dimension with the factor has no other: the padding of the last tiles is then at the dimension's end.
bool isAlone(const Rule &rule, int factor) {
  for (auto *side : {&rule.operands, &rule.results})
    for (const TensorFactors &tensor : *side)
      for (const DimFactors &dim : tensor)
        if (llvm::is_contained(dim, factor) &&
            llvm::any_of(dim, [&](int other) { return other != factor && rule.factors[other].size > 1; }))
          return false;
  return true;
}

/// Policy: each device scatters some of the updates if the results, which have to be summed, are not larger than all updates.
bool shouldSum(ScatterOp op) {
  auto elements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  return elements(op.getInputs()[0]) <= elements(op.getUpdates()[0]);
}

/// Returns true if the devices' partial results can be combined by a reduction that is known.
bool canSum(Operation *op, const Rule &rule, int factor) {
  if (isa<DotGeneralOp, ReduceOp>(op))
    return true;
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return combinerOf(scatter) && shouldSum(scatter);
  // One device holds the element, and the others add zeros.
  if (auto gather = dyn_cast<GatherOp>(op))
    return llvm::any_of(gather.getDimensionNumbers().getStartIndexMap(),
                        [&](int64_t dim) { return llvm::is_contained(rule.operands[0][dim], factor); });
  // Input features are reduction factors; positions within windows are not.
  auto convolution = dyn_cast<ConvolutionOp>(op);
  return convolution &&
         llvm::is_contained(rule.operands[0][convolution.getDimensionNumbers().getInputFeatureDimension()], factor);
}

/// Returns true if a custom call on a shard computes the shard of its result, because the user's rule says so, or along batching dimensions of known
/// calls.
bool canSplitCall(CustomCallOp op, const Rule &rule, int factor) {
  if (op->hasAttr(sdy::shardingRuleAttrName) ||
      llvm::is_contained({"annotate_device_placement", "MoveToDevice", "MoveToHost", "mhlo.erf"}, op.getCallTargetName()))
    return true;
  if (op.getCallTargetName() == "mhlo.topk")
    return has(rule.results[0], factor);
  int64_t batches = int64_t(shapeOf(op->getOperand(0)).size()) - 2;
  for (int64_t dim = 0; dim < batches; ++dim)
    if (llvm::is_contained(rule.operands[0][dim], factor))
      return llvm::all_of(rule.results, [&](const TensorFactors &result) { return has(result, factor); });
  return false;
}

} // namespace

SmallVector<int64_t> movingDims(Operation *op) {
  SmallVector<int64_t> dims;
  if (op->getNumOperands() == 0)
    return dims;
  auto where = [&](auto condition) {
    for (int64_t dim = 0; dim < int64_t(shapeOf(op->getOperand(0)).size()); ++dim)
      if (condition(dim))
        dims.push_back(dim);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](SliceOp each) {
        where([&](int64_t dim) { return shapeOf(each.getOperand())[dim] != shapeOf(each.getResult())[dim]; });
      })
      .Case([&](ConcatenateOp each) { dims.push_back(each.getDimension()); })
      .Case([&](ReverseOp each) { llvm::append_range(dims, each.getDimensions()); })
      .Case([&](PadOp each) {
        where([&](int64_t dim) {
          return each.getEdgePaddingLow()[dim] != 0 || each.getEdgePaddingHigh()[dim] != 0 ||
                 each.getInteriorPadding()[dim] != 0;
        });
      })
      .Case([&](ReduceWindowOp each) {
        auto dilated = [&](std::optional<ArrayRef<int64_t>> list, int64_t dim) { return list && (*list)[dim] != 1; };
        where([&](int64_t dim) {
          return !isPlain(each, dim) || dilated(each.getBaseDilations(), dim) || dilated(each.getWindowDilations(), dim);
        });
      })
      .Case([&](SelectAndScatterOp each) { where([&](int64_t dim) { return !isPlain(each, dim); }); })
      .Case([&](ConvolutionOp each) { llvm::append_range(dims, each.getDimensionNumbers().getInputSpatialDimensions()); })
      .Default([](Operation *) {});
  return dims;
}

SplitRule splitRuleOf(Operation *op) {
  auto found = sharding::ruleOf(op);
  // Halos extend the source, too.
  if (auto select = dyn_cast<SelectAndScatterOp>(op); select && found)
    found = sharding::windowsRule(select);
  SplitRule result{found ? *found : wholeRule(op), {}, {}, {}};
  const Rule &rule = result.rule;
  for (auto [factor, each] : llvm::enumerate(rule.factors))
    result.splittable.push_back(each.size > 1 && (each.kind == FactorKind::PassThrough ||
                                                  (each.kind == FactorKind::Reduction && canSum(op, rule, factor))));
  // A factor of only operands or only results orders elements in a way that the other side does not have; broadcasts repeat elements.
  auto isIn = [&](ArrayRef<TensorFactors> tensors, int factor) {
    return llvm::any_of(tensors, [&](const TensorFactors &tensor) { return has(tensor, factor); });
  };
  for (size_t factor = 0; factor < rule.factors.size(); ++factor)
    if (rule.factors[factor].kind == FactorKind::PassThrough &&
        (!isIn(rule.results, factor) || (!isIn(rule.operands, factor) && !isa<BroadcastInDimOp, BroadcastOp>(op))))
      result.splittable[factor] = false;
  // Each device generates all bits, and the same ones.
  if (isa<RngBitGeneratorOp>(op))
    result.splittable.assign(rule.factors.size(), false);
  if (auto call = dyn_cast<CustomCallOp>(op))
    for (size_t factor = 0; factor < rule.factors.size(); ++factor)
      result.splittable[factor] = result.splittable[factor] && !result.isReduced(factor) && canSplitCall(call, rule, factor);
  if (op->getNumOperands() > 0)
    for (int64_t dim : wholeDims(op))
      for (int factor : rule.operands[0][dim])
        result.splittable[factor] = false;
  result.moving.assign(rule.factors.size(), false);
  for (int64_t dim : movingDims(op))
    for (int factor : rule.operands[0][dim])
      if (rule.factors[factor].kind != FactorKind::Reduction) {
        result.moving[factor] = true;
        result.splittable[factor] = rule.factors[factor].size > 1 && has(rule.results[0], factor) && canMove(op, dim);
      }
  // The columns of the right-hand side are independent systems.
  if (auto solve = dyn_cast<TriangularSolveOp>(op)) {
    int64_t rank = shapeOf(solve.getB()).size();
    result.splittable[rule.results[0][solve.getLeftSide() ? rank - 1 : rank - 2].front()] = true;
  }
  for (size_t factor = 0; factor < rule.factors.size(); ++factor)
    result.canFillUp.push_back(result.moving[factor] || (!isa<CustomCallOp>(op) && isAlone(rule, factor)));
  return result;
}

//===-- Tiles of factors --------------------------------------------------===//

/// Groups `tiles` into `count` tiles.
static Tiles grouped(const Tiles &tiles, int64_t count) {
  Tiles result{count, tiles.of};
  for (int32_t &tile : result.of)
    tile /= tiles.count / count;
  return count == 1 ? Tiles() : result;
}

SmallVector<std::pair<int, Tiles>> tilesOfFactors(const Placement &placement, const TensorFactors &dims,
                                                  ArrayRef<Factor> factors) {
  SmallVector<std::pair<int, Tiles>> result;
  for (auto [tiles, dim] : llvm::zip_equal(placement, dims)) {
    Tiles rest = tiles;
    for (auto [i, factor] : llvm::enumerate(dim)) {
      if (rest.isWhole())
        break;
      int64_t size = factors[factor].size;
      // A permutation factor takes all remaining tiles, whatever remains of the dimension within it.
      bool takesAll = i + 1 == dim.size() || factors[factor].kind == FactorKind::Permutation;
      int64_t count = takesAll ? rest.count : std::gcd(size, rest.count);
      Tiles mine = grouped(rest, count);
      if (!mine.isWhole())
        result.push_back({factor, mine});
      rest = within(rest, mine);
      if (count != size)
        break;
    }
  }
  return result;
}

std::optional<Placement> placementOfFactors(const TensorFactors &dims, ArrayRef<Factor> factors,
                                            ArrayRef<const Tiles *> assigned) {
  Placement placement;
  for (const DimFactors &dim : dims) {
    Tiles tiles;
    bool ended = false;
    for (int factor : dim) {
      const Tiles *mine = assigned[factor];
      if (mine && ended)
        return std::nullopt;
      if (mine)
        tiles = compose(tiles, *mine);
      ended |= (mine ? mine->count : 1) != factors[factor].size;
    }
    placement.push_back(tiles);
  }
  return placement;
}

//===-- Attributes --------------------------------------------------------===//

void localizeAttributes(Operation *local) {
  auto i64s = [&](ArrayRef<int64_t> values) { return DenseI64ArrayAttr::get(local->getContext(), values); };
  llvm::TypeSwitch<Operation *>(local)
      .Case([&](SliceOp op) {
        // The slice takes all of a sharded dimension.
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
      .Case([&](ConvolutionOp op) {
        // The groups may be sharded.
        auto numbers = op.getDimensionNumbers();
        ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()), out = shapeOf(op.getResult());
        Builder builder(op.getContext());
        if (op.getFeatureGroupCount() > 1)
          op.setFeatureGroupCountAttr(builder.getI64IntegerAttr(lhs[numbers.getInputFeatureDimension()] /
                                                                rhs[numbers.getKernelInputFeatureDimension()]));
        if (op.getBatchGroupCount() > 1)
          op.setBatchGroupCountAttr(builder.getI64IntegerAttr(lhs[numbers.getInputBatchDimension()] /
                                                              out[numbers.getOutputBatchDimension()]));
      })
      .Default([](Operation *) {});
}

} // namespace millrace::spmd
