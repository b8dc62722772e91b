// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Box.cpp - Elements of a tensor, and those that they are computed from -===//
#include "dialects/stablehlo/Box.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/IndexAtoms.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <tuple>

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

/// `count` indices, `step` apart.
struct Range {
  int64_t start = 0, count = 1, step = 1;
};

/// Returns the ranges of the indices that `all`, a range of dimension of `sizes`, is made of, outermost first; none if they are no ranges.
std::optional<SmallVector<Range>> divided(Range all, ArrayRef<int64_t> sizes) {
  SmallVector<Range> parts(sizes.size());
  for (auto [part, size] : llvm::reverse(llvm::zip_equal(parts, sizes))) {
    int64_t first = all.start % size;
    if (all.step % size == 0) {
      part = {first};
      all = {all.start / size, all.count, all.step / size};
    } else if (first + (all.count - 1) * all.step < size) {
      part = {first, all.count, all.step};
      all = {all.start / size};
    } else if (all.step == 1 && first == 0 && all.count % size == 0) {
      part = {0, size};
      all = {all.start / size, all.count / size};
    } else {
      return std::nullopt;
    }
  }
  return parts;
}

/// The opposite of divided().
std::optional<Range> merged(ArrayRef<Range> parts, ArrayRef<int64_t> sizes) {
  Range all;
  for (auto [part, size] : llvm::zip_equal(parts, sizes)) {
    int64_t start = all.start * size + part.start;
    if (part.count == 1)
      all = {start, all.count, all.step * size};
    else if (all.count == 1)
      all = {start, part.count, part.step};
    else if (part.count == size && all.step == 1)
      all = {start, all.count * size};
    else
      return std::nullopt;
  }
  return all;
}

Boxes readByReshape(ReshapeOp op, const Box &box) {
  std::optional<Refinement> both = refine(typeOf(op.getOperand()).getShape(), typeOf(op.getResult()).getShape());
  if (!both || box.isEmpty())
    return std::nullopt;
  auto sizesOf = [&](ArrayRef<int64_t> group) { return llvm::map_to_vector(group, [&](int64_t atom) { return both->sizes[atom]; }); };
  SmallVector<Range> ranges; // of the indices that both shapes have in common
  for (auto [group, start, count, step] : llvm::zip_equal(both->ofRight, box.start, box.shape(), box.strides)) {
    std::optional<SmallVector<Range>> parts = divided({start, count, step}, sizesOf(group));
    if (!parts)
      return std::nullopt;
    llvm::append_range(ranges, *parts);
  }
  Box read;
  ArrayRef<Range> rest = ranges;
  for (ArrayRef<int64_t> group : both->ofLeft) {
    std::optional<Range> all = merged(rest.take_front(group.size()), sizesOf(group));
    if (!all)
      return std::nullopt;
    rest = rest.drop_front(group.size());
    read.start.push_back(all->start);
    read.strides.push_back(all->count == 1 ? 1 : all->step);
    read.limit.push_back(all->start + (all->count - 1) * all->step + 1);
  }
  return SmallVector<Box>{read};
}

Boxes readByDot(DotGeneralOp op, const Box &box) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  SmallVector<Box> read;
  int64_t next = numbers.getLhsBatchingDimensions().size(); // dimension of the result
  for (auto [operand, batch, contract] : {std::tuple(op.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()),
                                          std::tuple(op.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions())}) {
    Box &own = read.emplace_back(Box::whole(typeOf(operand).getShape()));
    for (int64_t dim = 0, rank = typeOf(operand).getRank(); dim < rank; ++dim) {
      if (llvm::is_contained(contract, dim))
        continue;
      const int64_t *place = llvm::find(batch, dim);
      int64_t from = place != batch.end() ? place - batch.begin() : next++;
      own.start[dim] = box.start[from], own.limit[dim] = box.limit[from], own.strides[dim] = box.strides[from];
    }
  }
  return read;
}

/// A slice at run-time offsets is cut along dimensions that it has as a whole, where the offset is 0, and without strides.
Boxes readByDynamicSlice(DynamicSliceOp op, const Box &box) {
  RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op.getResult());
  for (auto [size, most, whole, step] : llvm::zip_equal(box.shape(), to.getShape(), from.getShape(), box.strides))
    if (size != most && (most != whole || step != 1))
      return std::nullopt;
  SmallVector<Box> read{Box::whole(from.getShape())};
  read.append(op.getStartIndices().size(), Box()); // scalars
  return read;
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
  if (auto slice = dyn_cast<DynamicSliceOp>(copy)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(copy);
    slice.setSliceSizes(type.getShape());
    for (auto [d, start] : llvm::enumerate(slice.getStartIndicesMutable()))
      if (auto scalar = typeOf(start.get()); type.getDimSize(d) != typeOf(op->getResult(0)).getDimSize(d))
        start.set(ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(scalar, builder.getIntegerAttr(scalar.getElementType(), box.start[d]))));
  }
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
  if (auto dot = dyn_cast<DotGeneralOp>(op))
    return readByDot(dot, box);
  if (auto slice = dyn_cast<DynamicSliceOp>(op))
    return readByDynamicSlice(slice, box);
  if (DenseElementsAttr splat; matchPattern(op, m_Constant(&splat)))
    return splat.isSplat() ? Boxes(SmallVector<Box>()) : std::nullopt;
  return isElementwise(op) ? readByElementwise(op, box) : std::nullopt;
}

static Value computeBoxOf(OpBuilder &builder, Location loc, Value value, const Box &box, llvm::function_ref<bool(Operation *)> isFollowed,
                          KnownBoxes *known) {
  RankedTensorType type = typeOf(value);
  Operation *op = value.getDefiningOp();
  Boxes read = op && isFollowed(op) ? boxesRead(op, box) : std::nullopt;
  if (!read)
    return SliceOp::create(builder, loc, type.clone(box.shape()), value, builder.getDenseI64ArrayAttr(box.start), builder.getDenseI64ArrayAttr(box.limit),
                           builder.getDenseI64ArrayAttr(box.strides));
  SmallVector<Value> parts;
  for (auto [operand, own] : llvm::zip_equal(op->getOperands(), *read))
    parts.push_back(isa<ConcatenateOp>(op) && own.isEmpty() ? Value() : boxOf(builder, loc, operand, own, isFollowed, known));
  return computeBox(builder, op, box, parts);
}

Value boxOf(OpBuilder &builder, Location loc, Value value, const Box &box, llvm::function_ref<bool(Operation *)> isFollowed, KnownBoxes *known) {
  RankedTensorType type = typeOf(value);
  if (box.isWhole(type))
    return value;
  if (known) {
    std::vector<int64_t> numbers;
    for (ArrayRef<int64_t> list : {ArrayRef(box.start), ArrayRef(box.limit), ArrayRef(box.strides)})
      llvm::append_range(numbers, list);
    Value &made = (*known)[{value.getAsOpaquePointer(), numbers}];
    if (!made)
      made = computeBoxOf(builder, loc, value, box, isFollowed, known);
    return made;
  }
  return computeBoxOf(builder, loc, value, box, isFollowed, known);
}

Value sliceBefore(OpBuilder &builder, SliceOp slice) {
  Operation *source = slice.getOperand().getDefiningOp();
  return boxOf(builder, slice.getLoc(), slice.getOperand(), Box::of(slice), [&](Operation *op) { return op == source; });
}

} // namespace millrace::stablehlo
