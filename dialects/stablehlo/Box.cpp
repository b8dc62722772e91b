// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Box.cpp - Elements of a tensor, and those that they are computed from -===//
#include "dialects/stablehlo/Box.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace millrace::stablehlo {
namespace {

using Boxes = std::optional<SmallVector<Box>>;

Boxes readBySlice(SliceOp op, const Box &box) {
  Box read;
  for (auto [d, step, size] : llvm::enumerate(op.getStrides(), box.shape())) {
    read.start.push_back(op.getStartIndices()[d] + box.start[d] * step);
    read.strides.push_back(box.strides[d] * step);
    read.limit.push_back(read.start[d] + (size == 0 ? 0 : (size - 1) * read.strides[d] + 1));
  }
  return SmallVector<Box>{read};
}

Boxes readByReverse(ReverseOp op, const Box &box) {
  Box read = box;
  SmallVector<int64_t> shape = box.shape();
  for (int64_t d : op.getDimensions()) {
    int64_t last = typeOf(op.getResult()).getDimSize(d) - 1;
    read.start[d] = shape[d] == 0 ? 0 : last - box.start[d] - (shape[d] - 1) * box.strides[d];
    read.limit[d] = shape[d] == 0 ? 0 : last - box.start[d] + 1;
  }
  return SmallVector<Box>{read};
}

Boxes readByBroadcast(BroadcastInDimOp op, const Box &box) {
  Box read = Box::whole(typeOf(op.getOperand()).getShape());
  for (auto [dim, to] : llvm::enumerate(op.getBroadcastDimensions()))
    if (read.limit[dim] != 1)
      read.start[dim] = box.start[to], read.limit[dim] = box.limit[to], read.strides[dim] = box.strides[to];
  return SmallVector<Box>{read};
}

Boxes readByConcatenate(ConcatenateOp op, const Box &box) {
  int64_t dim = op.getDimension(), offset = 0, step = box.strides[dim];
  SmallVector<Box> read;
  if (box.isEmpty())
    return std::nullopt;
  for (Value input : op.getInputs()) {
    int64_t size = typeOf(input).getDimSize(dim), before = offset - box.start[dim];
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    Box &own = read.emplace_back(box);
    own.start[dim] = before > 0 ? int64_t(llvm::alignTo(before, step)) - before : -before;
    own.limit[dim] = std::max(own.start[dim], std::min(box.limit[dim] - offset, size));
    offset += size;
  }
  return read;
}

Boxes readByReshape(ReshapeOp op, const Box &box) {
  std::optional<SmallVector<int64_t>> map = addedUnits(typeOf(op.getOperand()).getShape(), typeOf(op.getResult()).getShape());
  if (!map)
    return std::nullopt;
  Box read;
  for (int64_t d : *map) {
    read.start.push_back(box.start[d]);
    read.limit.push_back(box.limit[d]);
    read.strides.push_back(box.strides[d]);
  }
  if (llvm::product_of(read.shape()) != llvm::product_of(box.shape())) // empty along a dimension that the reshape adds
    return std::nullopt;
  return SmallVector<Box>{read};
}

Boxes readByElementwise(Operation *op, const Box &box) {
  SmallVector<Box> read;
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> shape = typeOf(operand).getShape();
    if (!shape.empty() && shape != typeOf(op->getResult(0)).getShape())
      return std::nullopt;
    read.push_back(shape.empty() ? Box() : box);
  }
  return read;
}

/// Returns the elements `box` of the result of `op`, computed from `parts` of its operands; null for parts that have none of them.
Value computeBox(OpBuilder &builder, Operation *op, const Box &box, ArrayRef<Value> parts) {
  RankedTensorType type = typeOf(op->getResult(0)).clone(box.shape());
  DenseElementsAttr splat;
  if (matchPattern(op, m_Constant(&splat)))
    return ConstantOp::create(builder, op->getLoc(), splat.resizeSplat(type));
  auto broadcast = dyn_cast<BroadcastInDimOp>(op);
  bool keepsPlaces = broadcast && llvm::equal(broadcast.getBroadcastDimensions(), llvm::seq<int64_t>(0, type.getRank()));
  if (isa<SliceOp>(op) || (keepsPlaces && parts[0].getType() == type))
    return parts[0];
  if (auto concat = dyn_cast<ConcatenateOp>(op)) {
    SmallVector<Value> pieces = llvm::to_vector(llvm::make_filter_range(parts, [](Value part) { return bool(part); }));
    return pieces.size() == 1 ? pieces[0] : ConcatenateOp::create(builder, op->getLoc(), type, pieces, concat.getDimension()).getResult();
  }
  Operation *copy = builder.clone(*op);
  copy->setOperands(parts);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

} // namespace

Box Box::of(SliceOp slice) {
  return {llvm::to_vector(slice.getStartIndices()), llvm::to_vector(slice.getLimitIndices()), llvm::to_vector(slice.getStrides())};
}

Box Box::whole(ArrayRef<int64_t> shape) { return {SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape), SmallVector<int64_t>(shape.size(), 1)}; }

Box Box::along(ArrayRef<int64_t> shape, int64_t dim, int64_t begin, int64_t end) {
  Box box = whole(shape);
  box.start[dim] = begin;
  box.limit[dim] = end;
  return box;
}

SmallVector<int64_t> Box::shape() const {
  SmallVector<int64_t> sizes;
  for (auto [from, to, step] : llvm::zip_equal(start, limit, strides))
    sizes.push_back(llvm::divideCeil(to - from, step));
  return sizes;
}

std::optional<SmallVector<int64_t>> addedUnits(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> map;
  size_t next = 0;
  for (int64_t size : from) {
    while (size != 1 && next != to.size() && to[next] == 1)
      ++next;
    if (next == to.size() || to[next] != size)
      return std::nullopt;
    map.push_back(next++);
  }
  if (llvm::any_of(to.drop_front(next), [](int64_t size) { return size != 1; }))
    return std::nullopt;
  return map;
}

std::optional<SmallVector<Box>> boxesRead(Operation *op, const Box &box) {
  auto isPlain = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && !tensor.getEncoding() && !isa<quant::QuantizedType>(tensor.getElementType());
  };
  if (auto slice = dyn_cast<SliceOp>(op); slice && typeOf(slice.getResult()).hasStaticShape())
    return readBySlice(slice, box);
  if (auto concat = dyn_cast<ConcatenateOp>(op))
    return readByConcatenate(concat, box);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isPlain(op->getResult(0).getType()) || !llvm::all_of(op->getOperandTypes(), isPlain))
    return std::nullopt;
  if (auto reverse = dyn_cast<ReverseOp>(op))
    return readByReverse(reverse, box);
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return readByBroadcast(broadcast, box);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return readByReshape(reshape, box);
  if (DenseElementsAttr splat; matchPattern(op, m_Constant(&splat)))
    return splat.isSplat() ? Boxes(SmallVector<Box>()) : std::nullopt;
  return isElementwise(op) ? readByElementwise(op, box) : std::nullopt;
}

Value boxOf(OpBuilder &builder, Location loc, Value value, const Box &box, llvm::function_ref<bool(Operation *)> isFollowed) {
  RankedTensorType type = typeOf(value);
  if (box.isWhole(type))
    return value;
  Operation *op = value.getDefiningOp();
  Boxes read = op && isFollowed(op) ? boxesRead(op, box) : std::nullopt;
  if (!read)
    return SliceOp::create(builder, loc, type.clone(box.shape()), value, builder.getDenseI64ArrayAttr(box.start), builder.getDenseI64ArrayAttr(box.limit),
                           builder.getDenseI64ArrayAttr(box.strides));
  SmallVector<Value> parts;
  for (auto [operand, own] : llvm::zip_equal(op->getOperands(), *read))
    parts.push_back(isa<ConcatenateOp>(op) && own.isEmpty() ? Value() : boxOf(builder, loc, operand, own, isFollowed));
  return computeBox(builder, op, box, parts);
}

Value sliceBefore(OpBuilder &builder, SliceOp slice) {
  Operation *source = slice.getOperand().getDefiningOp();
  return boxOf(builder, slice.getLoc(), slice.getOperand(), Box::of(slice), [&](Operation *op) { return op == source; });
}

} // namespace millrace::stablehlo
