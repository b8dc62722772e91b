// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TripCount.cpp - Compute the trip count of while loops --------------===//
#include "passes/loops/TripCount.h"

#include "passes/loops/Passes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_ANNOTATETRIPCOUNTSPASS
#include "passes/loops/Passes.h.inc"

namespace {

using Direction = shlo::ComparisonDirection;

/// Returns the value of a scalar integer constant of at most 63 significant bits.
std::optional<int64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<shlo::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!dense || dense.getNumElements() != 1)
    return std::nullopt;
  APInt bits = *dense.value_begin<APInt>();
  bool isUnsigned = dense.getElementType().isUnsignedInteger();
  if (isUnsigned && bits.getActiveBits() > 63)
    return std::nullopt;
  return isUnsigned ? (int64_t)bits.getZExtValue() : bits.getSExtValue();
}

Direction mirrored(Direction direction) {
  switch (direction) {
  case Direction::LT: return Direction::GT;
  case Direction::LE: return Direction::GE;
  case Direction::GT: return Direction::LT;
  case Direction::GE: return Direction::LE;
  default: return direction;
  }
}

/// Returns the trip count of `for (i = init; i DIRECTION limit; i += step)` without overflow of `width` bits.
std::optional<int64_t> iterations(int64_t init, int64_t limit, int64_t step, Direction direction, unsigned width,
                                  bool isUnsigned) {
  auto holds = [&](__int128 i) {
    switch (direction) {
    case Direction::LT: return i < limit;
    case Direction::LE: return i <= limit;
    case Direction::GT: return i > limit;
    case Direction::GE: return i >= limit;
    case Direction::NE: return i != limit;
    case Direction::EQ: return i == limit;
    }
    return false;
  };
  if (!holds(init))
    return 0;
  if (step == 0)
    return std::nullopt;
  __int128 distance = (__int128)limit - init, count;
  switch (direction) {
  case Direction::LT:
  case Direction::LE:
    if (step < 0)
      return std::nullopt;
    count = direction == Direction::LT ? (distance + step - 1) / step : distance / step + 1;
    break;
  case Direction::GT:
  case Direction::GE:
    if (step > 0)
      return std::nullopt;
    count = direction == Direction::GT ? (distance + step + 1) / step : distance / step + 1;
    break;
  case Direction::NE:
    if (distance % step != 0 || distance / step < 0)
      return std::nullopt;
    count = distance / step;
    break;
  case Direction::EQ:
    count = 1;
    break;
  }
  __int128 last = (__int128)init + count * step;
  __int128 low = isUnsigned ? 0 : -((__int128)1 << (width - 1));
  __int128 high = isUnsigned ? ((__int128)1 << width) - 1 : ((__int128)1 << (width - 1)) - 1;
  if (last < low || last > high || count > INT64_MAX)
    return std::nullopt;
  return (int64_t)count;
}

} // namespace

std::optional<CountedLoop> countedLoop(shlo::WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto compare = cond.getTerminator()->getOperand(0).getDefiningOp<shlo::CompareOp>();
  if (!compare)
    return std::nullopt;
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  Direction direction = compare.getComparisonDirection();
  if (!isa<BlockArgument>(lhs)) {
    std::swap(lhs, rhs);
    direction = mirrored(direction);
  }
  auto counter = dyn_cast<BlockArgument>(lhs);
  std::optional<int64_t> limit = constantOf(rhs);
  if (!counter || counter.getOwner() != &cond)
    return std::nullopt;
  unsigned index = counter.getArgNumber();
  // The limit may be a carried value that does not change.
  if (auto carried = dyn_cast<BlockArgument>(rhs); carried && carried.getOwner() == &cond) {
    unsigned other = carried.getArgNumber();
    if (body.getTerminator()->getOperand(other) == body.getArgument(other))
      limit = constantOf(loop->getOperand(other));
  }
  auto type = dyn_cast<RankedTensorType>(counter.getType());
  auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
  std::optional<int64_t> init = constantOf(loop->getOperand(index));
  if (!element || !init || !limit)
    return std::nullopt;

  Value next = body.getTerminator()->getOperand(index);
  std::optional<int64_t> step;
  if (auto add = next.getDefiningOp<shlo::AddOp>()) {
    if (add.getLhs() == body.getArgument(index))
      step = constantOf(add.getRhs());
    else if (add.getRhs() == body.getArgument(index))
      step = constantOf(add.getLhs());
  } else if (auto subtract = next.getDefiningOp<shlo::SubtractOp>()) {
    if (subtract.getLhs() == body.getArgument(index))
      if ((step = constantOf(subtract.getRhs())))
        step = *step == INT64_MIN ? std::optional<int64_t>() : -*step;
  }
  if (!step)
    return std::nullopt;
  std::optional<int64_t> count =
      iterations(*init, *limit, *step, direction, element.getWidth(), element.isUnsignedInteger());
  if (!count)
    return std::nullopt;
  return CountedLoop{index, *init, *limit, *step, *count};
}

namespace {
struct AnnotateTripCounts : impl::AnnotateTripCountsPassBase<AnnotateTripCounts> {
  void runOnOperation() override {
    getOperation().walk([](shlo::WhileOp loop) {
      if (auto counted = countedLoop(loop))
        loop->setAttr(kTripCountAttr, IntegerAttr::get(IntegerType::get(loop.getContext(), 64), counted->tripCount));
    });
  }
};
} // namespace
} // namespace millrace::loops
