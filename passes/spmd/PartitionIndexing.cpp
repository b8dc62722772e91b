// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionIndexing.cpp - Indices into a dimension that is split -----===//
// Every device looks up, or writes, what falls into its tile: indices are counted from the tile's beginning. Where a gather
// finds nothing it contributes zeros to a sum, a scatter skips what is out of bounds, a dynamic_update_slice takes from its update
// what falls into the tile.
#include "passes/spmd/Combiners.h"
#include "passes/spmd/Partitioner.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
namespace {

RankedTensorType i64Tensor(OpBuilder &builder, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, builder.getI64Type());
}

Value constant(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  auto type = i64Tensor(builder, shape);
  return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, values));
}

/// Returns the device's row in a table of `width` entries per device.
Value ownRow(OpBuilder &builder, Location loc, ArrayRef<int64_t> table, int64_t width) {
  int64_t devices = table.size() / width;
  Value whole = constant(builder, loc, {devices, width}, table);
  Value id = PartitionIdOp::create(builder, loc, RankedTensorType::get({}, builder.getIntegerType(32, false)));
  Value row = ConvertOp::create(builder, loc, i64Tensor(builder, {}), id), zero = constant(builder, loc, {}, {0});
  Value slice = DynamicSliceOp::create(builder, loc, i64Tensor(builder, {1, width}), whole, ValueRange{row, zero},
                                       builder.getDenseI64ArrayAttr({1, width}));
  return ReshapeOp::create(builder, loc, i64Tensor(builder, {width}), slice);
}

/// Broadcasts one entry per component of an index to all indices.
Value spread(OpBuilder &builder, Location loc, Value components, RankedTensorType type, int64_t vectorDim) {
  if (vectorDim == type.getRank()) {
    Value scalar = ReshapeOp::create(builder, loc, i64Tensor(builder, {}), components);
    return BroadcastInDimOp::create(builder, loc, type, scalar, builder.getDenseI64ArrayAttr({}));
  }
  return BroadcastInDimOp::create(builder, loc, type, components, builder.getDenseI64ArrayAttr({vectorDim}));
}

/// Converts indices to i64, clamped to [0, most] before, so that a large unsigned index does not become negative.
Value widen(OpBuilder &builder, Location loc, Value indices, ArrayRef<int64_t> most, int64_t vectorDim, bool clamp) {
  auto type = cast<RankedTensorType>(indices.getType());
  auto wide = i64Tensor(builder, type.getShape());
  auto element = cast<IntegerType>(type.getElementType());
  if (!clamp) // an index out of bounds stays out of bounds: a wrapped one is negative
    return ConvertOp::create(builder, loc, wide, indices);
  unsigned width = element.getWidth();
  APInt largest = element.isUnsigned() ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  SmallVector<APInt> limits;
  for (int64_t limit : most)
    limits.push_back(largest.ult(uint64_t(limit)) ? largest : APInt(width, limit));
  int64_t components = most.size();
  auto vector = RankedTensorType::get({components}, element);
  auto broadcast = [&](ArrayRef<APInt> values) -> Value {
    Value row = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, values));
    if (vectorDim < type.getRank())
      return BroadcastInDimOp::create(builder, loc, type, row, builder.getDenseI64ArrayAttr({vectorDim}));
    Value scalar = ReshapeOp::create(builder, loc, RankedTensorType::get({}, element), row);
    return BroadcastInDimOp::create(builder, loc, type, scalar, builder.getDenseI64ArrayAttr({}));
  };
  Value low = broadcast(SmallVector<APInt>(components, APInt::getZero(width)));
  Value inside = ClampOp::create(builder, loc, type, low, indices, broadcast(limits));
  return ConvertOp::create(builder, loc, wide, inside);
}

/// Returns a mask that is true where all components of an index are within [0, size of the tile).
Value insideTile(OpBuilder &builder, Location loc, Value indices, ArrayRef<int64_t> sizes, int64_t vectorDim) {
  auto type = cast<RankedTensorType>(indices.getType());
  int64_t components = sizes.size();
  Value zero = spread(builder, loc, constant(builder, loc, {components}, SmallVector<int64_t>(components, 0)), type, vectorDim);
  Value limit = spread(builder, loc, constant(builder, loc, {components}, sizes), type, vectorDim);
  Value low = CompareOp::create(builder, loc, indices, zero, ComparisonDirection::GE);
  Value high = CompareOp::create(builder, loc, indices, limit, ComparisonDirection::LT);
  auto flags = cast<RankedTensorType>(low.getType());
  Value both = AndOp::create(builder, loc, flags, low, high);
  if (vectorDim == type.getRank())
    return both;
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + vectorDim);
  auto scalar = RankedTensorType::get({}, builder.getI1Type());
  Value yes = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, true));
  OperationState state(loc, ReduceOp::getOperationName(), {both, yes}, {RankedTensorType::get(shape, builder.getI1Type())});
  state.addAttribute("dimensions", builder.getDenseI64ArrayAttr({vectorDim}));
  state.addRegion();
  Operation *all = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&all->getRegion(0), {}, {scalar, scalar}, {loc, loc});
  Value and_ = AndOp::create(builder, loc, scalar, block->getArgument(0), block->getArgument(1));
  stablehlo::ReturnOp::create(builder, loc, and_);
  return all->getResult(0);
}

/// Returns the beginning of the tile of each indexed dimension for every device; empty if no indexed dimension is sharded.
SmallVector<int64_t> beginsOf(const Placement &placement, ArrayRef<int64_t> local, ArrayRef<int64_t> indexMap, int64_t devices) {
  SmallVector<int64_t> table;
  if (llvm::all_of(indexMap, [&](int64_t dim) { return placement[dim].isWhole(); }))
    return table;
  for (int64_t device = 0; device < devices; ++device)
    for (int64_t dim : indexMap)
      table.push_back(placement[dim].at(device) * local[dim]);
  return table;
}

} // namespace

/// Makes the gather's indices relative to the tiles' first elements; returns for every result whether its element is in this device's tile.
Value Partitioner::localizeGather(GatherOp op, MutableArrayRef<Value> operands, const Placement &placement) {
  auto numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> map = numbers.getStartIndexMap(), global = sharding::shapeOf(op.getOperand()),
                    local = sharding::shapeOf(operands[0]);
  SmallVector<int64_t> begins = beginsOf(placement, local, map, numDevices);
  if (begins.empty())
    return {};
  Location loc = op.getLoc();
  int64_t vectorDim = numbers.getIndexVectorDim();
  SmallVector<int64_t> most, sizes;
  for (int64_t dim : map) {
    most.push_back(global[dim] - op.getSliceSizes()[dim]);
    sizes.push_back(local[dim]);
  }
  Value indices = widen(builder, loc, operands[1], most, vectorDim, true);
  auto type = cast<RankedTensorType>(indices.getType());
  indices = SubtractOp::create(builder, loc, type, indices,
                               spread(builder, loc, ownRow(builder, loc, begins, map.size()), type, vectorDim));
  operands[1] = indices;
  return insideTile(builder, loc, indices, sizes, vectorDim);
}

/// Replaces elements by zero where `inside` is false, so that the sum over all devices is the value of the device that holds the element.
Value Partitioner::maskGather(GatherOp op, Value result, Value inside) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(op.getDimensionNumbers().getOffsetDims(), dim))
      batch.push_back(dim);
  auto flags = RankedTensorType::get(type.getShape(), builder.getI1Type());
  Value everywhere = BroadcastInDimOp::create(builder, loc, flags, inside, builder.getDenseI64ArrayAttr(batch));
  Value nothing = stablehlo::ConstantOp::create(builder, loc, nothingOf(type));
  return SelectOp::create(builder, loc, type, everywhere, result, nothing);
}

Value Partitioner::startOfSum(ScatterOp op, Value input, const ReplicaGroups &groups) {
  Operation *combiner = combinerOf(op);
  if (isNeutral(input, combiner))
    return input;
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> hasValue(numDevices, 0);
  for (const auto &group : groups)
    hasValue[group.front()] = 1;
  Location loc = op.getLoc();
  Value first = CompareOp::create(builder, loc, resharder.own(builder, loc, hasValue),
                                  resharder.own(builder, loc, SmallVector<int64_t>(numDevices, 1)), ComparisonDirection::EQ);
  bool adds = isa<AddOp>(combiner);
  Value nothing = stablehlo::ConstantOp::create(builder, loc, adds ? nothingOf(type) : ElementsAttr(neutralElement(combiner, type)));
  return SelectOp::create(builder, loc, type, first, input, nothing);
}

void Partitioner::localizeScatter(ScatterOp op, MutableArrayRef<Value> operands, const Placement &placement) {
  auto numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> map = numbers.getScatterDimsToOperandDims();
  SmallVector<int64_t> begins = beginsOf(placement, sharding::shapeOf(operands[0]), map, numDevices);
  if (begins.empty())
    return;
  Location loc = op.getLoc();
  Value &indices = operands[op.getInputs().size()];
  indices = widen(builder, loc, indices, {}, numbers.getIndexVectorDim(), false);
  auto type = cast<RankedTensorType>(indices.getType());
  Value offset = spread(builder, loc, ownRow(builder, loc, begins, map.size()), type, numbers.getIndexVectorDim());
  indices = SubtractOp::create(builder, loc, type, indices, offset);
}

/// Makes an update of one element relative to the tile: along sharded dimensions the element is in one tile or none, and the device that holds it
/// writes it. Returns false if the update has several elements along such a dimension.
bool Partitioner::localizeUpdate(DynamicUpdateSliceOp op, MutableArrayRef<Value> operands, const Placement &placement) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> global = sharding::shapeOf(op.getOperand()), local = sharding::shapeOf(operands[0]);
  Value inside;
  auto scalar = i64Tensor(builder, {});
  SmallVector<Value> starts(operands.drop_front(2).begin(), operands.end());
  bool split = llvm::any_of(llvm::enumerate(placement), [&](auto each) {
    return !each.value().isWhole() && sharding::shapeOf(op.getUpdate())[each.index()] != global[each.index()];
  });
  if (!split)
    return true;
  if (llvm::any_of(llvm::enumerate(placement), [&](auto each) {
        int64_t size = sharding::shapeOf(op.getUpdate())[each.index()];
        return !each.value().isWhole() && size != global[each.index()] && size != 1;
      }))
    return false;
  for (auto [dim, tiles] : llvm::enumerate(placement)) {
    int64_t most = global[dim] - sharding::shapeOf(op.getUpdate())[dim];
    starts[dim] = widen(builder, loc, starts[dim], {most}, 0, true);
    if (tiles.isWhole() || most == 0)
      continue;
    SmallVector<int64_t> begins;
    for (int64_t device = 0; device < numDevices; ++device)
      begins.push_back(tiles.at(device) * local[dim]);
    Value begin = ReshapeOp::create(builder, loc, scalar, ownRow(builder, loc, begins, 1));
    starts[dim] = SubtractOp::create(builder, loc, scalar, starts[dim], begin);
    Value here = insideTile(builder, loc, starts[dim], {local[dim]}, 0);
    inside = inside ? Value(AndOp::create(builder, loc, here.getType(), inside, here)) : here;
  }
  auto type = cast<RankedTensorType>(operands[1].getType());
  Value there = DynamicSliceOp::create(builder, loc, type, operands[0], starts, builder.getDenseI64ArrayAttr(type.getShape()));
  operands[1] = SelectOp::create(builder, loc, type, inside, operands[1], there);
  llvm::copy(starts, operands.begin() + 2);
  return true;
}

/// Emits an update along sharded dimensions, where a tile takes some elements from the update and the others from the operand. The update is
/// replicated: it is padded by the tile's size on both sides and sliced at the tile's beginning; the padding is not used.
Value Partitioner::emitUpdate(DynamicUpdateSliceOp op, ArrayRef<Value> operands, const Placement &placement) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> global = sharding::shapeOf(op.getOperand()), updated = sharding::shapeOf(op.getUpdate());
  auto scalar = i64Tensor(builder, {});
  Value operand = operands[0], update = operands[1], inside;
  SmallVector<Value> starts(operands.drop_front(2));
  for (auto [dim, tiles] : llvm::enumerate(placement)) {
    int64_t most = global[dim] - updated[dim], tile = sharding::shapeOf(operand)[dim];
    starts[dim] = widen(builder, loc, starts[dim], {most}, 0, true);
    if (tiles.isWhole() || most == 0)
      continue;
    // Element i of the tile is element i - start of the update, counted from the tile's beginning.
    SmallVector<int64_t> begins;
    for (int64_t device = 0; device < numDevices; ++device)
      begins.push_back(tiles.at(device) * tile);
    Value begin = ReshapeOp::create(builder, loc, scalar, ownRow(builder, loc, begins, 1));
    Value start = SubtractOp::create(builder, loc, scalar, starts[dim], begin);
    auto type = cast<RankedTensorType>(update.getType());
    SmallVector<int64_t> edges(type.getRank(), 0), none(edges), shape(type.getShape());
    edges[dim] = tile;
    shape[dim] += 2 * tile;
    Value padded = PadOp::create(builder, loc, type.clone(shape), update, zeroOf(builder, loc, update), builder.getDenseI64ArrayAttr(edges),
                                 builder.getDenseI64ArrayAttr(edges), builder.getDenseI64ArrayAttr(none));
    SmallVector<Value> from(type.getRank(), constant(builder, loc, {}, {0}));
    from[dim] = SubtractOp::create(builder, loc, scalar, constant(builder, loc, {}, {tile}), start);
    shape[dim] = tile;
    update = DynamicSliceOp::create(builder, loc, type.clone(shape), padded, from, builder.getDenseI64ArrayAttr(shape));
    auto line = i64Tensor(builder, {tile});
    Value position = IotaOp::create(builder, loc, line, uint64_t(0));
    Value first = BroadcastInDimOp::create(builder, loc, line, start, builder.getDenseI64ArrayAttr({}));
    Value shifted = SubtractOp::create(builder, loc, line, position, first);
    Value here = insideTile(builder, loc, shifted, {updated[dim]}, 1);
    Value flags = BroadcastInDimOp::create(builder, loc, RankedTensorType::get(sharding::shapeOf(operand), builder.getI1Type()), here,
                                           builder.getDenseI64ArrayAttr({int64_t(dim)}));
    inside = inside ? Value(AndOp::create(builder, loc, flags.getType(), inside, flags)) : flags;
    starts[dim] = constant(builder, loc, {}, {0});
  }
  auto type = cast<RankedTensorType>(operand.getType());
  Value written = DynamicUpdateSliceOp::create(builder, loc, type, operand, update, starts);
  return inside ? Value(SelectOp::create(builder, loc, type, inside, written, operand)) : written;
}

} // namespace millrace::spmd
