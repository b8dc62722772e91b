// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalToLocalIndexing.cpp - Indices into parts of dimensions -------===//
#include "passes/spmd/Combiners.h"
#include "passes/spmd/GlobalToLocal.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

LogicalResult GlobalToLocal::convertDynamicSlice(DynamicSliceOp op) {
  const Info &from = opInfos[op].operands[0], &to = opInfos[op].results[0];
  SmallVector<int64_t> sizes(op.getSliceSizes());
  for (int64_t dim = 0; dim < from.type.getRank(); ++dim) {
    if (from.parts(dim) == 1 && to.parts(dim) == 1)
      continue;
    if (from.type.getDimSize(dim) != to.type.getDimSize(dim) || from.axes(dim) != to.axes(dim))
      return refuse(op, dim, "a slice of it is taken");
    sizes[dim] = to.localSize(dim);
  }
  op.setSliceSizes(sizes);
  return success();
}

/// Converts an update: each device pads its shard with margins that receive the elements outside of the shard.
LogicalResult GlobalToLocal::convertUpdate(DynamicUpdateSliceOp op) {
  const Info &operand = opInfos[op].operands[0], &update = opInfos[op].operands[1];
  Location loc = op.getLoc();
  int64_t rank = operand.type.getRank();
  SmallVector<int64_t> margins(rank, 0);
  SmallVector<Value> starts(op.getStartIndices());
  auto scalarType = RankedTensorType::get({}, builder.getI64Type());
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = operand.type.getDimSize(dim), width = update.type.getDimSize(dim);
    if (operand.parts(dim) == 1 && update.parts(dim) == 1)
      continue;
    if (operand.axes(dim) == update.axes(dim) && size == width)
      continue;
    if (update.parts(dim) != 1)
      return refuse(op, dim, "a split update moves");
    margins[dim] = width;
    SmallVector<int64_t> shifts = MeshPositions(operand.mesh).partOfDevice(operand.axes(dim));
    for (int64_t &shift : shifts)
      shift = width - shift * operand.localSize(dim);
    Value start = ConvertOp::create(builder, loc, scalarType, starts[dim]);
    start = ClampOp::create(builder, loc, scalarType, scalar(loc, builder.getI64Type(), 0), start,
                            scalar(loc, builder.getI64Type(), size - width));
    Value shift = ConvertOp::create(builder, loc, scalarType, own(loc, shifts));
    starts[dim] = AddOp::create(builder, loc, scalarType, start, shift);
  }
  if (llvm::all_of(margins, [](int64_t margin) { return margin == 0; }))
    return success();
  for (Value &start : starts)
    if (start.getType() != scalarType)
      start = ConvertOp::create(builder, loc, scalarType, start);
  RankedTensorType local = operand.local();
  SmallVector<int64_t> shape, limits, none(rank, 0), ones(rank, 1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    shape.push_back(local.getDimSize(dim) + 2 * margins[dim]);
    limits.push_back(local.getDimSize(dim) + margins[dim]);
  }
  auto element = RankedTensorType::get({}, local.getElementType());
  Value zero = ConstantOp::create(builder, loc, element, cast<ElementsAttr>(builder.getZeroAttr(element)));
  Value wide = PadOp::create(builder, loc, local.clone(shape), op.getOperand(), zero, margins, margins, none);
  wide = DynamicUpdateSliceOp::create(builder, loc, wide.getType(), wide, op.getUpdate(), starts);
  replace(op, SliceOp::create(builder, loc, local, wide, margins, limits, ones));
  return success();
}

LogicalResult GlobalToLocal::convertGather(GatherOp op) {
  const Info &operand = opInfos[op].operands[0];
  auto numbers = op.getDimensionNumbers();
  Location loc = op.getLoc();
  SmallVector<int64_t> sizes(op.getSliceSizes()), looked;
  ArrayRef<int64_t> map = numbers.getStartIndexMap();
  SmallVector<sdy::AxisRefAttr> implied; // axes of dimensions along which all slices begin at index 0
  for (int64_t dim = 0; dim < operand.type.getRank(); ++dim) {
    if (operand.parts(dim) == 1 || llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      continue;
    if (sizes[dim] == operand.type.getDimSize(dim))
      sizes[dim] = operand.localSize(dim);
    else if (sizes[dim] != 1)
      return refuse(op, dim, "slices of it are taken");
    else if (llvm::is_contained(map, dim))
      looked.push_back(dim);
    else
      llvm::append_range(implied, operand.axes(dim));
  }
  op.setSliceSizes(sizes);
  if (looked.empty() && implied.empty())
    return success();

  // A device that does not hold the indexed element contributes a neutral element.
  auto result = cast<RankedTensorType>(op.getResult().getType());
  auto bits = result.clone(builder.getI1Type());
  Value inside;
  if (!looked.empty()) {
    Value indices = op.getStartIndices();
    auto before = cast<RankedTensorType>(indices.getType());
    auto type = before.clone(builder.getI64Type());
    int64_t vectorDim = numbers.getIndexVectorDim(), count = map.size();
    bool hasVector = vectorDim < type.getRank();
    // Broadcasts a row to one entry per index, in the indices' shape.
    auto spread = [&](Value row) -> Value {
      if (hasVector)
        return BroadcastInDimOp::create(builder, loc, type, row, ArrayRef<int64_t>{vectorDim});
      row = ReshapeOp::create(builder, loc, RankedTensorType::get({}, builder.getI64Type()), row);
      return BroadcastInDimOp::create(builder, loc, type, row, ArrayRef<int64_t>());
    };
    auto rowType = RankedTensorType::get({count}, builder.getI64Type());
    auto constant = [&](ArrayRef<int64_t> values) {
      return spread(ConstantOp::create(builder, loc, rowType, DenseElementsAttr::get(rowType, values)));
    };
    SmallVector<int64_t> greatest, ends, zeros(count, 0);
    int64_t devices = MeshPositions(operand.mesh).deviceCount();
    SmallVector<int64_t> offsets(devices * count, 0);
    for (auto [i, dim] : llvm::enumerate(map)) {
      int64_t size = operand.type.getDimSize(dim);
      bool isLooked = llvm::is_contained(looked, dim);
      greatest.push_back(size - op.getSliceSizes()[dim]);
      if (!isLooked && operand.parts(dim) > 1)
        greatest.back() = 0;
      ends.push_back(isLooked ? operand.localSize(dim) : size);
      if (isLooked)
        for (auto [device, part] : llvm::enumerate(MeshPositions(operand.mesh).partOfDevice(operand.axes(dim))))
          offsets[device * count + i] = part * operand.localSize(dim);
    }
    if (type != before)
      indices = ConvertOp::create(builder, loc, type, indices);
    Value zero = constant(zeros);
    indices = ClampOp::create(builder, loc, type, zero, indices, constant(greatest));
    Value row = ReshapeOp::create(builder, loc, RankedTensorType::get({count}, builder.getI32Type()), ownRow(loc, offsets, count));
    row = ConvertOp::create(builder, loc, rowType, row);
    indices = SubtractOp::create(builder, loc, type, indices, spread(row));
    op->setOperand(1, indices);
    auto flags = type.clone(builder.getI1Type());
    auto compare = [&](Value bound, ComparisonDirection direction) {
      return CompareOp::create(builder, loc, flags, indices, bound, ComparisonDirectionAttr::get(builder.getContext(), direction),
                               ComparisonTypeAttr::get(builder.getContext(), ComparisonType::SIGNED));
    };
    inside = AndOp::create(builder, loc, flags, compare(zero, ComparisonDirection::GE), compare(constant(ends), ComparisonDirection::LT));
    if (hasVector) {
      SmallVector<int64_t> rest;
      for (int64_t dim = 0; dim < flags.getRank(); ++dim)
        if (dim != vectorDim)
          rest.push_back(flags.getDimSize(dim));
      auto flag = RankedTensorType::get({}, builder.getI1Type());
      Value yes = ConstantOp::create(builder, loc, flag, DenseElementsAttr::get(flag, true));
      auto all = ReduceOp::create(builder, loc, TypeRange{flags.clone(rest)}, ValueRange{inside}, ValueRange{yes},
                                  builder.getDenseI64ArrayAttr({vectorDim}));
      OpBuilder::InsertionGuard guard(builder);
      Block *block = builder.createBlock(&all.getBody(), {}, {flag, flag}, {loc, loc});
      Value both = AndOp::create(builder, loc, flag, block->getArgument(0), block->getArgument(1));
      ReturnOp::create(builder, loc, both);
      inside = all->getResult(0);
    }
    SmallVector<int64_t> batchDims;
    for (int64_t dim = 0; dim < result.getRank(); ++dim)
      if (!llvm::is_contained(numbers.getOffsetDims(), dim))
        batchDims.push_back(dim);
    inside = BroadcastInDimOp::create(builder, loc, bits, inside, batchDims);
  }
  if (!implied.empty()) {
    Value first = isFirst(loc, implied, operand.mesh, op.getResult());
    inside = inside ? AndOp::create(builder, loc, bits, inside, first).getResult() : first;
  }
  const Info &out = opInfos[op].results[0];
  auto kind = out.sharding ? out.sharding.getReductionOp() : sdy::ReductionOp::Sum;
  builder.setInsertionPointAfter(op);
  TypedAttr fill = cast<TypedAttr>(builder.getZeroAttr(result));
  if (kind != sdy::ReductionOp::Sum) {
    bool isMax = kind == sdy::ReductionOp::Max;
    Operation *combine = isMax ? MaxOp::create(builder, loc, result, op.getResult(), op.getResult()).getOperation()
                               : MinOp::create(builder, loc, result, op.getResult(), op.getResult()).getOperation();
    fill = neutralElement(combine, result);
    combine->erase();
    if (!fill)
      return op.emitOpError("has no least or greatest ") << result.getElementType();
  }
  Value nothing = ConstantOp::create(builder, loc, result, cast<ElementsAttr>(fill));
  auto masked = SelectOp::create(builder, loc, result, inside, op.getResult(), nothing);
  op.getResult().replaceAllUsesExcept(masked.getResult(), masked);
  return success();
}

/// Converts a scatter: updates outside of a device's shard get indices out of bounds, and are dropped.
LogicalResult GlobalToLocal::convertScatter(ScatterOp op) {
  size_t inputs = op.getInputs().size();
  const OpInfo &info = opInfos[op];
  const Info &operand = info.operands[0], &update = info.operands[inputs + 1];
  auto numbers = op.getScatterDimensionNumbers();
  Location loc = op.getLoc();
  ArrayRef<int64_t> map = numbers.getScatterDimsToOperandDims();
  auto isIn = [](ArrayRef<int64_t> dims, int64_t dim) { return llvm::is_contained(dims, dim); };

  // If devices have different updates, the operand is added on one device only.
  SmallVector<sdy::AxisRefAttr> summed;
  int64_t position = 0;
  for (int64_t dim = 0; dim < update.type.getRank(); ++dim) {
    if (isIn(numbers.getUpdateWindowDims(), dim))
      continue;
    int64_t indicesDim = position < numbers.getIndexVectorDim() ? position : position + 1;
    ++position;
    if (!isIn(numbers.getScatterIndicesBatchingDims(), indicesDim))
      llvm::append_range(summed, update.axes(dim));
  }
  if (!summed.empty()) {
    Operation *combine = inputs == 1 ? combinerOf(op.getUpdateComputation()) : nullptr;
    if (!combine)
      return op.emitOpError("cannot run on parts of the updates: it is not known how devices' results are combined");
    auto type = operand.local();
    Value neutral = ConstantOp::create(builder, loc, type, neutralElement(combine, type));
    Value input = op.getInputs()[0];
    op->setOperand(0, SelectOp::create(builder, loc, type, isFirst(loc, summed, update.mesh, input), input, neutral));
  }

  SmallVector<int64_t> looked;
  SmallVector<sdy::AxisRefAttr> implied;
  int64_t window = 0;
  for (int64_t dim = 0; dim < operand.type.getRank(); ++dim) {
    if (isIn(numbers.getInputBatchingDims(), dim))
      continue;
    int64_t width = isIn(numbers.getInsertedWindowDims(), dim) ? 1 : update.type.getDimSize(numbers.getUpdateWindowDims()[window++]);
    if (operand.parts(dim) == 1 || (width == operand.type.getDimSize(dim) && width != 1))
      continue;
    if (width != 1)
      return refuse(op, dim, "windows may lie in several parts");
    if (isIn(map, dim))
      looked.push_back(dim);
    else
      llvm::append_range(implied, operand.axes(dim));
  }
  if (!looked.empty()) {
    Value indices = op.getScatterIndices();
    auto before = cast<RankedTensorType>(indices.getType());
    auto type = before.clone(builder.getI64Type());
    int64_t vectorDim = numbers.getIndexVectorDim(), count = map.size();
    SmallVector<int64_t> offsets(MeshPositions(operand.mesh).deviceCount() * count, 0);
    for (auto [i, dim] : llvm::enumerate(map))
      if (isIn(looked, dim))
        for (auto [device, part] : llvm::enumerate(MeshPositions(operand.mesh).partOfDevice(operand.axes(dim))))
          offsets[device * count + i] = part * operand.localSize(dim);
    Value row = ownRow(loc, offsets, count);
    SmallVector<int64_t> shape;
    SmallVector<int64_t> dims;
    if (vectorDim < type.getRank()) {
      shape.push_back(count);
      dims.push_back(vectorDim);
    }
    row = ReshapeOp::create(builder, loc, RankedTensorType::get(shape, builder.getI32Type()), row);
    row = ConvertOp::create(builder, loc, RankedTensorType::get(shape, builder.getI64Type()), row);
    if (type != before)
      indices = ConvertOp::create(builder, loc, type, indices);
    Value shift = BroadcastInDimOp::create(builder, loc, type, row, dims);
    op->setOperand(inputs, SubtractOp::create(builder, loc, type, indices, shift));
  }
  if (!implied.empty()) {
    builder.setInsertionPointAfter(op);
    for (auto [input, result] : llvm::zip_equal(op.getInputs(), op->getResults())) {
      auto kept = SelectOp::create(builder, loc, result.getType(), isFirst(loc, implied, operand.mesh, result), result, input);
      result.replaceAllUsesExcept(kept.getResult(), kept);
    }
  }
  return success();
}

} // namespace millrace::spmd
