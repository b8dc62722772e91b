// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixPartsScales.cpp - Scales and zero points of packed words -----===//
// What words have beside their codes: operands that are smaller than the matrix, which broadcasts and gathers of rows repeat. Those that are equal for
// all codes of a word are taken off its values.
#include "passes/fusion/codes/MatrixParts.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/codes/GatherReads.h"
#include "passes/fusion/codes/IntegerRanges.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

/// Operands are rearranged for the parts where the matrix has at least so many elements for each of theirs. Unit: elements. Source: arithmetic:
/// scales of f32 for groups of 16 codes take half as many bytes as the codes.
static constexpr int64_t kMinElementsPerOperand = 16;

/// Returns true if all codes of a word have the same number in `value`.
bool MatrixParts::isShared(Value value) const {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<ReshapeOp, ConvertOp>(op) && typeOf(value).getNumElements() == total)
    return isShared(op->getOperand(0));
  if (auto constant = dyn_cast_if_present<ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  auto broadcast = dyn_cast_if_present<BroadcastInDimOp>(op);
  if (!broadcast || typeOf(value).getNumElements() != total)
    return false;
  auto groups = groupsOf(typeOf(broadcast).getShape());
  return llvm::none_of(llvm::enumerate(broadcast.getBroadcastDimensions()), [&](auto pair) {
    return typeOf(broadcast.getOperand()).getDimSize(pair.index()) > 1 && llvm::any_of(groups[pair.value()], [&](int64_t dim) { return isOfPart(dim); });
  });
}

/// Takes factors and a subtrahend off `value`; returns what is left of it, or null.
Value MatrixParts::withoutShared(Value value, Parts &parts) {
  for (Operation *op = value.getDefiningOp(); op; op = value.getDefiningOp()) {
    if (isa<ReshapeOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    const unsigned shared = isa<MulOp>(op) && isShared(op->getOperand(0)) ? 0 : 1;
    if (!isa<MulOp>(op) || !isa<FloatType>(typeOf(value).getElementType()) || !isShared(op->getOperand(shared)))
      break;
    parts.factors.push_back(part(op->getOperand(shared), 0));
    if (!parts.factors.back())
      return {};
    value = op->getOperand(1 - shared);
  }
  Operation *op = value.getDefiningOp();
  Type element = typeOf(value).getElementType();
  if (isa_and_present<SubtractOp>(op) && isa<FloatType>(element) && isShared(op->getOperand(1))) {
    parts.subtrahend = part(op->getOperand(1), 0);
    return parts.subtrahend ? op->getOperand(0) : Value();
  }
  // Differences of integers that do not wrap around are those of their values.
  auto convert = dyn_cast_if_present<ConvertOp>(op);
  Value difference = convert ? convert.getOperand() : Value();
  while (difference && isa_and_present<ReshapeOp>(difference.getDefiningOp()))
    difference = difference.getDefiningOp()->getOperand(0);
  auto subtract = difference ? difference.getDefiningOp<SubtractOp>() : SubtractOp();
  if (!subtract || !isInteger(typeOf(difference).getElementType()) || !isShared(subtract.getRhs()))
    return value;
  for (int64_t position = 0; position < count(); ++position)
    if (!number(difference, position))
      return value;
  std::optional<Number> shared = number(subtract.getRhs(), 0);
  if (!shared)
    return value;
  parts.subtrahend = ConvertOp::create(*builder, matrix.getLoc(), typeOfResult(element), valueOf(*shared));
  return subtract.getLhs();
}

/// Returns what a broadcast or a gather reads for the part: `operand` has the dimensions `dims` of the matrix. Those of the part are returned in `dims`.
Value MatrixParts::operandPart(Value operand, SmallVectorImpl<int64_t> &dims, int64_t position) {
  RankedTensorType type = typeOf(operand);
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    sizes.push_back(whole[dim]);
  if (bytesOfWord > 1 && llvm::any_of(dims, [&](int64_t dim) { return isOfPart(dim); }))
    return {};
  auto *found = llvm::find(dims, partDim);
  if (found != dims.end() && !isWhole) {
    if (type.getNumElements() * kMinElementsPerOperand > total)
      return {};
    // Arranged by parts once, so that each is contiguous.
    const int64_t place = std::distance(dims.begin(), found);
    Value &front = inFront[operand];
    SmallVector<int64_t> order{place}, arranged;
    for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
      if (dim != place)
        order.push_back(dim);
    for (int64_t dim : order)
      arranged.push_back(sizes[dim]);
    if (!front) {
      front = reshaped(operand, sizes);
      if (place != 0)
        front = TransposeOp::create(*builder, matrix.getLoc(), type.clone(arranged), front, builder->getDenseI64ArrayAttr(order));
    }
    operand = boxOf(*builder, matrix.getLoc(), front, Box::along(arranged, 0, position, position + 1));
    sizes.erase(sizes.begin() + place);
    dims.erase(found);
  }
  for (int64_t &dim : dims)
    dim = dimOfResult(dim);
  return reshaped(operand, sizes);
}

Value MatrixParts::broadcast(Operation *op, int64_t position) {
  auto broadcast = cast<BroadcastInDimOp>(op);
  auto groups = groupsOf(typeOf(broadcast).getShape());
  SmallVector<int64_t> dims;
  for (auto [place, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (typeOf(broadcast.getOperand()).getDimSize(place) > 1)
      dims.append(groups[dim].begin(), groups[dim].end());
  Value operand = operandPart(broadcast.getOperand(), dims, position);
  if (!operand)
    return {};
  return BroadcastInDimOp::create(*builder, op->getLoc(), typeOfResult(typeOf(operand).getElementType()), operand, builder->getDenseI64ArrayAttr(dims));
}

Value MatrixParts::gathered(Operation *op, int64_t position) {
  auto gather = cast<GatherOp>(op);
  if (std::optional<int64_t> behind = positionBehind(gather, position))
    return isWhole ? Value() : part(gather.getOperand(), *behind);
  OpBuilder &b = *builder;
  GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  RankedTensorType table = typeOf(gather.getOperand());
  if (readsOf(gather) == Reads::Table) {
    Value indices = part(gather.getStartIndices(), position);
    if (!indices)
      return {};
    indices = reshaped(indices, shapeOfResult());
    auto own = GatherDimensionNumbersAttr::get(b.getContext(), {}, {0}, {}, {}, {0}, int64_t(shapeOfResult().size()));
    return GatherOp::create(b, op->getLoc(), typeOfResult(table.getElementType()), gather.getOperand(), indices, own, gather.getSliceSizesAttr(), gather.getIndicesAreSortedAttr());
  }
  // Rows of a small operand: its dimensions are divided like the result's.
  auto groups = groupsOf(typeOf(gather).getShape());
  const int64_t ofIndices = dimOfIndices(gather), chosen = numbers.getStartIndexMap()[0];
  SmallVector<int64_t> dims = llvm::to_vector_of<int64_t>(groups[ofIndices]);
  Value indices = operandPart(gather.getStartIndices(), dims, position);
  if (!indices)
    return {};
  SmallVector<int64_t> others, sizes;
  for (auto [place, dim] : llvm::enumerate(numbers.getOffsetDims()))
    for (int64_t of : groups[dim]) {
      if (isOfPart(of) && !isWhole)
        return {};
      others.push_back(dimOfResult(of));
    }
  // The table has the chosen dimension first, then the others.
  if (chosen != 0)
    return {};
  sizes.push_back(table.getDimSize(0));
  for (int64_t dim : others)
    sizes.push_back(shapeOfResult()[dim]);
  Value rows = reshaped(gather.getOperand(), sizes);
  SmallVector<int64_t> slice(sizes);
  slice[0] = 1;
  auto own = GatherDimensionNumbersAttr::get(b.getContext(), others, {0}, {}, {}, {0}, typeOf(indices).getRank());
  return GatherOp::create(b, op->getLoc(), typeOfResult(table.getElementType()), rows, indices, own, b.getDenseI64ArrayAttr(slice), gather.getIndicesAreSortedAttr());
}

} // namespace millrace::fusion
