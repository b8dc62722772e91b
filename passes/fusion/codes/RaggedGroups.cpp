// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RaggedGroups.cpp - Bring rows of one group together ----------------===//
#include "passes/fusion/codes/RaggedGroups.h"
#include "passes/fusion/codes/CodedOperand.h"

#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <bit>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// Writes integers of 32 bits.
struct Integers {
  OpBuilder &b;
  Location loc;

  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, b.getI32Type()); }
  Value splat(ArrayRef<int64_t> shape, int64_t number) { return ConstantOp::create(b, loc, DenseElementsAttr::get(type(shape), b.getI32IntegerAttr(number))); }
  Value iota(ArrayRef<int64_t> shape, int64_t dim) { return IotaOp::create(b, loc, type(shape), dim); }
  Value broadcast(Value value, ArrayRef<int64_t> shape, int64_t dim) {
    return BroadcastInDimOp::create(b, loc, typeOf(value).clone(shape), value, b.getDenseI64ArrayAttr({dim}));
  }
  /// Returns the sum of each row, of integers or of ones where `values` are true.
  Value sumOfRows(Value values) {
    RankedTensorType from = typeOf(values), scalar = type({});
    if (!from.getElementType().isInteger(32))
      values = ConvertOp::create(b, loc, from.clone(b.getI32Type()), values);
    auto reduce = ReduceOp::create(b, loc, TypeRange(type({from.getDimSize(0)})), ValueRange(values), ValueRange(splat({}, 0)), b.getDenseI64ArrayAttr({1}));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
    stablehlo::ReturnOp::create(b, loc, ValueRange(Value(AddOp::create(b, loc, body->getArgument(0), body->getArgument(1)))));
    return reduce.getResult(0);
  }
  /// Returns for each of `count` numbers, counted from 0 on, the sum of the elements of `sizes` before it.
  Value sumsBefore(Value sizes, int64_t count) {
    const int64_t all[] = {count, typeOf(sizes).getDimSize(0)};
    Value isBefore = CompareOp::create(b, loc, iota(all, 1), iota(all, 0), ComparisonDirection::LT);
    return sumOfRows(SelectOp::create(b, loc, type(all), isBefore, broadcast(sizes, all, 1), splat(all, 0)));
  }
  /// Returns elements, or rows, of a table.
  Value chosen(Value table, Value indices) {
    SmallVector<int64_t> shape(typeOf(table).getShape()), slice(shape), others;
    shape[0] = typeOf(indices).getDimSize(0);
    slice[0] = 1;
    for (int64_t dim = 1; dim < int64_t(shape.size()); ++dim)
      others.push_back(dim);
    auto numbers = GatherDimensionNumbersAttr::get(b.getContext(), others, {0}, {}, {}, {0}, 1);
    return GatherOp::create(b, loc, typeOf(table).clone(shape), table, indices, numbers, b.getDenseI64ArrayAttr(slice), b.getBoolAttr(false));
  }
  Value add(Value x, Value y) { return AddOp::create(b, loc, x, y); }
  Value subtract(Value x, Value y) { return SubtractOp::create(b, loc, x, y); }
  Value shiftedRight(Value x, int64_t bits) { return ShiftRightLogicalOp::create(b, loc, x, splat(typeOf(x).getShape(), bits)); }
  Value lowBits(Value x, int64_t mask) { return AndOp::create(b, loc, x, splat(typeOf(x).getShape(), mask)); }
};

/// Fact: the bits of a row's number among the rows of a place.
constexpr int64_t kPlaceBits = std::countr_zero(uint64_t(kRowsOfPlace));
static_assert(kRowsOfPlace == 1 << kPlaceBits, "numbers of rows are shifted and masked");

} // namespace

Value RaggedGroups::groupOfWords(OpBuilder &b, Location loc, Value starts, int64_t words) {
  Integers with{b, loc};
  // A word belongs to the last group that begins before it or there, of those that are not empty.
  const int64_t groups = typeOf(starts).getDimSize(0) - 1, all[] = {words, groups};
  Value ends = SliceOp::create(b, loc, with.type({groups}), starts, b.getDenseI64ArrayAttr({1}), b.getDenseI64ArrayAttr({groups + 1}), b.getDenseI64ArrayAttr({1}));
  Value isBehind = CompareOp::create(b, loc, with.broadcast(ends, all, 1), with.iota(all, 0), ComparisonDirection::LE);
  return MinOp::create(b, loc, with.sumOfRows(isBehind), with.splat({words}, groups - 1));
}

Value RaggedGroups::rowsOf(OpBuilder &b, Location loc, Value table, Value indices) { return Integers{b, loc}.chosen(table, indices); }

RaggedGroups::RaggedGroups(OpBuilder &b, Location loc, Value groupOf, int64_t groups) : b(b), loc(loc) {
  Integers with{b, loc};
  const int64_t rows = typeOf(groupOf).getNumElements(), words = rows / kRowsOfPlace + groups;
  count = words * kRowsOfPlace;
  RankedTensorType given = RankedTensorType::get({rows}, typeOf(groupOf).getElementType());
  auto bound = [&](int64_t number) -> Value {
    return ConstantOp::create(b, loc, DenseElementsAttr::get(given.clone(ArrayRef<int64_t>{}), b.getIntegerAttr(given.getElementType(), number)));
  };
  if (typeOf(groupOf) != given)
    groupOf = ReshapeOp::create(b, loc, given, groupOf);
  groupOf = ClampOp::create(b, loc, given, bound(0), groupOf, bound(groups - 1));
  if (!given.getElementType().isSignlessInteger(32))
    groupOf = ConvertOp::create(b, loc, with.type({rows}), groupOf);

  const int64_t all[] = {groups, rows};
  Value sizes = with.sumOfRows(CompareOp::create(b, loc, with.broadcast(groupOf, all, 1), with.iota(all, 0), ComparisonDirection::EQ));
  Value sizesInWords = with.shiftedRight(with.add(sizes, with.splat({groups}, kRowsOfPlace - 1)), kPlaceBits);
  begins = with.sumsBefore(sizesInWords, groups + 1);
  Value firstOfGroup = with.sumsBefore(sizes, groups);

  // Rows in the order of their groups.
  auto sort = SortOp::create(b, loc, ValueRange{groupOf, with.iota({rows}, 0)}, int64_t(0), /*is_stable=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    RankedTensorType scalar = with.type({});
    Block *body = b.createBlock(&sort.getComparator(), {}, {scalar, scalar, scalar, scalar}, {loc, loc, loc, loc});
    stablehlo::ReturnOp::create(b, loc, ValueRange(Value(CompareOp::create(b, loc, body->getArgument(0), body->getArgument(1), ComparisonDirection::LT))));
  }

  // The row of each place: so many rows behind the first one of its group.
  Value place = with.iota({count}, 0);
  Value group = with.chosen(groupOfWords(b, loc, begins, words), with.shiftedRight(place, kPlaceBits));
  Value behind = with.subtract(place, ShiftLeftOp::create(b, loc, with.chosen(begins, group), with.splat({count}, kPlaceBits)));
  isTaken = CompareOp::create(b, loc, behind, with.chosen(sizes, group), ComparisonDirection::LT);
  rowAt = with.chosen(sort.getResult(1), with.add(with.chosen(firstOfGroup, group), behind));
}

Value RaggedGroups::columnsOf(Value x) {
  RankedTensorType from = typeOf(x), type = from.clone({from.getDimSize(0), count});
  auto numbers = GatherDimensionNumbersAttr::get(b.getContext(), {0}, {1}, {}, {}, {1}, 1);
  Value moved = GatherOp::create(b, loc, type, x, rowAt, numbers, b.getDenseI64ArrayAttr({from.getDimSize(0), 1}), b.getBoolAttr(false));
  Value isElement = BroadcastInDimOp::create(b, loc, type.clone(b.getI1Type()), isTaken, b.getDenseI64ArrayAttr({1}));
  Value none = ConstantOp::create(b, loc, cast<ElementsAttr>(b.getZeroAttr(type)));
  return SelectOp::create(b, loc, type, isElement, moved, none);
}

Value RaggedGroups::scalesOf(Value scales) {
  Integers with{b, loc};
  const int64_t groups = typeOf(begins).getDimSize(0) - 1;
  auto bounds = [&](int64_t first) -> Value {
    return SliceOp::create(b, loc, with.type({groups}), begins, b.getDenseI64ArrayAttr({first}), b.getDenseI64ArrayAttr({first + groups}), b.getDenseI64ArrayAttr({1}));
  };
  RankedTensorType type = typeOf(scales);
  Value hasRows = CompareOp::create(b, loc, bounds(0), bounds(1), ComparisonDirection::LT);
  Value isRead = BroadcastInDimOp::create(b, loc, type.clone(b.getI1Type()), hasRows, b.getDenseI64ArrayAttr({0}));
  Value none = ConstantOp::create(b, loc, cast<ElementsAttr>(b.getZeroAttr(type)));
  return SelectOp::create(b, loc, type, isRead, scales, none);
}

Value RaggedGroups::wordsOf(Value words, ArrayRef<int64_t> order) {
  Integers with{b, loc};
  if (typeOf(words).getElementType().isUnsignedInteger())
    words = BitcastConvertOp::create(b, loc, with.type(typeOf(words).getShape()), words);
  const int64_t all[] = {count / kRowsOfPlace, typeOf(words).getDimSize(1)};
  Value rows = ReshapeOp::create(b, loc, with.type({all[0], kRowsOfPlace}), rowAt), result;
  for (int64_t place = 0; place < kRowsOfPlace; ++place) {
    Value row = SliceOp::create(b, loc, with.type({all[0], 1}), rows, b.getDenseI64ArrayAttr({0, place}), b.getDenseI64ArrayAttr({all[0], place + 1}), b.getDenseI64ArrayAttr({1, 1}));
    row = ReshapeOp::create(b, loc, with.type({all[0]}), row);
    Value neighbour = with.lowBits(row, kRowsOfPlace - 1);
    if (!order.empty()) {
      SmallVector<int32_t> places(order);
      neighbour = with.chosen(ConstantOp::create(b, loc, DenseElementsAttr::get(with.type({kRowsOfPlace}), ArrayRef<int32_t>(places))), neighbour);
    }
    Value shift = MulOp::create(b, loc, neighbour, with.splat({all[0]}, kCodeBits));
    Value code = ShiftRightLogicalOp::create(b, loc, with.chosen(words, with.shiftedRight(row, kPlaceBits)), with.broadcast(shift, all, 0));
    code = with.lowBits(code, (1 << kCodeBits) - 1);
    if (place > 0)
      code = ShiftLeftOp::create(b, loc, code, with.splat(all, kCodeBits * place));
    result = result ? Value(OrOp::create(b, loc, result, code)) : code;
  }
  return result;
}

} // namespace millrace::fusion
