// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitDimensions.cpp - Rewrite operations on split dimensions ----------===//
#include "passes/spmd/SplitDimensions.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/sharding/rules/OpRules.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;
using millrace::sharding::DimFactors;
using millrace::sharding::FactorKind;
using millrace::sharding::shapeOf;
using millrace::sharding::TensorFactors;

namespace millrace::spmd {

SmallVector<int64_t> splitShape(const SplitSizes &parts) {
  SmallVector<int64_t> shape;
  for (const auto &sizes : parts)
    llvm::append_range(shape, sizes);
  return shape;
}

bool namesNoSharding(Operation *op) {
  auto isPlain = [](Type type) { return isa<IntegerType, FloatType, ComplexType>(getElementTypeOrSelf(type)); };
  return !op->hasAttr(sdy::shardingAttrName) && !op->hasAttr("mhlo.sharding") && llvm::all_of(op->getOperandTypes(), isPlain) &&
         llvm::all_of(op->getResultTypes(), isPlain);
}

Value reshapeToSplitSizes(OpBuilder &builder, Value value, const SplitSizes &parts) {
  RankedTensorType from = typeOf(value), to = from.clone(splitShape(parts));
  if (from == to)
    return value;
  Operation *made = value.getDefiningOp();
  if (made && !namesNoSharding(made))
    made = nullptr;
  if (auto constant = dyn_cast_or_null<ConstantOp>(made))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()); dense && dense.isSplat())
      return ConstantOp::create(builder, constant.getLoc(), dense.resizeSplat(to));
  if (auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(made)) {
    SplitSizes inner;
    SmallVector<int64_t> dims;
    for (auto [dim, target] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
      int64_t size = typeOf(broadcast.getOperand()).getDimSize(dim), first = 0;
      for (const auto &before : ArrayRef(parts).take_front(target))
        first += before.size();
      bool isWhole = size == from.getDimSize(target);
      inner.push_back(isWhole ? parts[target] : SmallVector<int64_t>(parts[target].size(), 1));
      for (size_t i = 0; i < parts[target].size(); ++i)
        dims.push_back(first + int64_t(i));
    }
    return BroadcastInDimOp::create(builder, broadcast.getLoc(), to, reshapeToSplitSizes(builder, broadcast.getOperand(), inner),
                                    builder.getDenseI64ArrayAttr(dims));
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(made); iota && parts[iota.getIotaDimension()].size() == 1) {
    int64_t dim = splitShape(SplitSizes(ArrayRef(parts).take_front(iota.getIotaDimension()))).size();
    return IotaOp::create(builder, iota.getLoc(), to, uint64_t(dim));
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(made)) {
    value = reshape.getOperand();
    if (value.getType() == to)
      return value;
  }
  return ReshapeOp::create(builder, value.getLoc(), to, value);
}

bool canSplitDimensions(Operation *op, const sharding::Rule &rule, int factor) {
  if (!isElementwise(op) && !isa<BitcastConvertOp, BroadcastInDimOp, ConcatenateOp, DotGeneralOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp, PadOp,
                                 ReduceOp, ReduceWindowOp, ReverseOp, ScatterOp, SliceOp, SortOp, TransposeOp>(op))
    return false;
  FactorKind kind = rule.factors[factor].kind;
  if (kind != FactorKind::PassThrough && kind != FactorKind::Reduction)
    return false;
  for (auto *side : {&rule.operands, &rule.results})
    for (const TensorFactors &tensor : *side)
      for (const DimFactors &dim : tensor)
        if (dim.size() > 1 && llvm::is_contained(dim, factor))
          return false;
  // An update must cover all of the dimension.
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
    for (auto [dim, factors] : llvm::enumerate(rule.operands[0]))
      if (llvm::is_contained(factors, factor) && shapeOf(update.getOperand())[dim] != shapeOf(update.getUpdate())[dim])
        return false;
  // The index vectors say where elements are along these dimensions.
  ArrayRef<int64_t> indexed;
  if (auto gather = dyn_cast<GatherOp>(op))
    indexed = gather.getDimensionNumbers().getStartIndexMap();
  if (auto scatter = dyn_cast<ScatterOp>(op))
    indexed = scatter.getScatterDimensionNumbers().getScatterDimsToOperandDims();
  return llvm::none_of(indexed, [&](int64_t dim) { return llvm::is_contained(rule.operands[0][dim], factor); });
}

namespace {

/// For every dimension, the numbers of the dimensions into which it is split.
using Places = SmallVector<SmallVector<int64_t>>;

Places placesOf(const SplitSizes &parts) {
  Places places;
  int64_t next = 0;
  for (const auto &sizes : parts) {
    places.emplace_back();
    for (size_t i = 0; i < sizes.size(); ++i)
      places.back().push_back(next++);
  }
  return places;
}

SmallVector<int64_t> renumbered(ArrayRef<int64_t> dims, const Places &places) {
  SmallVector<int64_t> result;
  for (int64_t dim : dims)
    llvm::append_range(result, places[dim]);
  return result;
}

/// Returns the first of the dimensions into which `dim` is split; for `dim` = rank, the rank after the split.
int64_t renumbered(int64_t dim, const Places &places) {
  if (dim < int64_t(places.size()))
    return places[dim].front();
  return places.empty() ? 0 : places.back().back() + 1;
}

/// Returns one value per dimension after the split: `other` for dimensions that are split, or their sizes if `other` is negative.
SmallVector<int64_t> spread(ArrayRef<int64_t> values, const SplitSizes &parts, int64_t other) {
  SmallVector<int64_t> result;
  for (auto [value, sizes] : llvm::zip_equal(values, parts))
    for (int64_t size : sizes)
      result.push_back(sizes.size() == 1 ? value : other < 0 ? size : other);
  return result;
}

/// Adapts start indices from operand `first` on: the dimensions into which a dimension is split are read as a whole, from index 0.
void renumberStarts(Operation *op, unsigned first, const SplitSizes &parts) {
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands().take_front(first));
  for (auto [start, sizes] : llvm::zip_equal(op->getOperands().drop_front(first), parts)) {
    if (sizes.size() == 1) {
      operands.push_back(start);
      continue;
    }
    Value zero = ConstantOp::create(builder, op->getLoc(), builder.getZeroAttr(start.getType()));
    operands.append(sizes.size(), zero);
  }
  op->setOperands(operands);
}

/// Adapts a window operation: windows along dimensions that are split have size 1.
void renumberWindows(ReduceWindowOp op, const SplitSizes &parts) {
  auto each = [&](std::optional<ArrayRef<int64_t>> values) {
    return DenseI64ArrayAttr::get(op.getContext(), spread(values ? *values : SmallVector<int64_t>(parts.size(), 1), parts, 1));
  };
  op.setWindowDimensionsAttr(each(op.getWindowDimensions()));
  op.setWindowStridesAttr(each(op.getWindowStrides()));
  op.setBaseDilationsAttr(each(op.getBaseDilations()));
  op.setWindowDilationsAttr(each(op.getWindowDilations()));
  DenseIntElementsAttr padding = op.getPaddingAttr();
  if (!padding)
    return;
  SmallVector<int64_t> edges;
  for (auto [dim, sizes] : llvm::enumerate(parts))
    for (size_t part = 0; part < sizes.size(); ++part)
      for (uint64_t side : {0, 1})
        edges.push_back(sizes.size() == 1 ? padding.getValues<int64_t>()[{uint64_t(dim), side}] : 0);
  auto type = RankedTensorType::get({int64_t(edges.size()) / 2, 2}, IntegerType::get(op.getContext(), 64));
  op.setPaddingAttr(DenseIntElementsAttr::get(type, edges));
}

/// Adapts attributes that name dimensions, and those with an entry per dimension.
void renumberAttributes(Operation *op, ArrayRef<SplitSizes> operands, ArrayRef<SplitSizes> results) {
  SmallVector<Places> in = llvm::map_to_vector(operands, placesOf), out = llvm::map_to_vector(results, placesOf);
  MLIRContext *context = op->getContext();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](BroadcastInDimOp each) { each.setBroadcastDimensions(renumbered(each.getBroadcastDimensions(), out[0])); })
      .Case([&](ConcatenateOp each) { each.setDimension(renumbered(int64_t(each.getDimension()), out[0])); })
      .Case([&](DotGeneralOp each) {
        auto numbers = each.getDotDimensionNumbers();
        each.setDotDimensionNumbersAttr(DotDimensionNumbersAttr::get(
            context, renumbered(numbers.getLhsBatchingDimensions(), in[0]), renumbered(numbers.getRhsBatchingDimensions(), in[1]),
            renumbered(numbers.getLhsContractingDimensions(), in[0]), renumbered(numbers.getRhsContractingDimensions(), in[1])));
      })
      .Case([&](DynamicSliceOp each) {
        each.setSliceSizes(spread(each.getSliceSizes(), operands[0], -1));
        renumberStarts(op, 1, operands[0]);
      })
      .Case([&](DynamicUpdateSliceOp) { renumberStarts(op, 2, operands[0]); })
      .Case([&](ReduceWindowOp each) { renumberWindows(each, operands[0]); })
      .Case([&](GatherOp each) {
        auto numbers = each.getDimensionNumbers();
        SmallVector<int64_t> sizes;
        for (auto [dim, size] : llvm::enumerate(each.getSliceSizes()))
          for (int64_t part : operands[0][dim])
            sizes.push_back(operands[0][dim].size() == 1 ? size : size == 1 ? 1 : part);
        each.setSliceSizes(sizes);
        each.setDimensionNumbersAttr(GatherDimensionNumbersAttr::get(
            context, renumbered(numbers.getOffsetDims(), out[0]), renumbered(numbers.getCollapsedSliceDims(), in[0]),
            renumbered(numbers.getOperandBatchingDims(), in[0]), renumbered(numbers.getStartIndicesBatchingDims(), in[1]),
            renumbered(numbers.getStartIndexMap(), in[0]), renumbered(numbers.getIndexVectorDim(), in[1])));
      })
      .Case([&](PadOp each) {
        each.setEdgePaddingLow(spread(each.getEdgePaddingLow(), operands[0], 0));
        each.setEdgePaddingHigh(spread(each.getEdgePaddingHigh(), operands[0], 0));
        each.setInteriorPadding(spread(each.getInteriorPadding(), operands[0], 0));
      })
      .Case([&](ReduceOp each) { each.setDimensions(renumbered(each.getDimensions(), in[0])); })
      .Case([&](ReverseOp each) { each.setDimensions(renumbered(each.getDimensions(), in[0])); })
      .Case([&](ScatterOp each) {
        auto numbers = each.getScatterDimensionNumbers();
        size_t inputs = each.getInputs().size();
        const Places &indices = in[inputs], &updates = in[inputs + 1];
        each.setScatterDimensionNumbersAttr(ScatterDimensionNumbersAttr::get(
            context, renumbered(numbers.getUpdateWindowDims(), updates), renumbered(numbers.getInsertedWindowDims(), in[0]),
            renumbered(numbers.getInputBatchingDims(), in[0]), renumbered(numbers.getScatterIndicesBatchingDims(), indices),
            renumbered(numbers.getScatterDimsToOperandDims(), in[0]), renumbered(numbers.getIndexVectorDim(), indices)));
      })
      .Case([&](SliceOp each) {
        each.setStartIndices(spread(each.getStartIndices(), operands[0], 0));
        each.setLimitIndices(spread(each.getLimitIndices(), operands[0], -1));
        each.setStrides(spread(each.getStrides(), operands[0], 1));
      })
      .Case([&](SortOp each) {
        int64_t dim = each.getDimension();
        each.setDimension(renumbered(dim < 0 ? dim + int64_t(operands[0].size()) : dim, in[0]));
      })
      .Case([&](TransposeOp each) { each.setPermutation(renumbered(each.getPermutation(), in[0])); });
}

} // namespace

Operation *cloneWithSplitDimensions(Operation *op, const sharding::Rule &rule, ArrayRef<SmallVector<int64_t>> parts) {
  OpBuilder builder(op);
  auto partsOf = [&](ValueRange values, ArrayRef<TensorFactors> tensors) {
    SmallVector<SplitSizes> result;
    for (auto [value, tensor] : llvm::zip_equal(values, tensors)) {
      result.emplace_back();
      for (auto [size, dim] : llvm::zip_equal(shapeOf(value), tensor)) {
        bool isSplit = dim.size() == 1 && !parts[dim.front()].empty();
        result.back().push_back(isSplit ? parts[dim.front()] : SmallVector<int64_t>{size});
      }
    }
    return result;
  };
  SmallVector<SplitSizes> operands = partsOf(op->getOperands(), rule.operands), results = partsOf(op->getResults(), rule.results);
  SmallVector<Value> values;
  for (auto [operand, each] : llvm::zip_equal(op->getOperands(), operands))
    values.push_back(reshapeToSplitSizes(builder, operand, each));
  Operation *made = builder.clone(*op);
  made->setOperands(values);
  for (auto [result, each] : llvm::zip_equal(made->getResults(), results))
    result.setType(typeOf(result).clone(splitShape(each)));
  renumberAttributes(made, operands, results);
  return made;
}

} // namespace millrace::spmd
