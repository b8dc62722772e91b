// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IntegerRanges.cpp - Ranges of the integers of a value --------------===//
#include "passes/fusion/codes/IntegerRanges.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

IntegerRange rangeOf(IntegerType type) {
  if (type.getWidth() >= 64)
    return {type.isUnsigned() ? 0 : std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const int64_t half = int64_t(1) << (type.getWidth() - 1);
  return type.isUnsigned() ? IntegerRange(int64_t(0), 2 * half - 1) : IntegerRange(-half, half - 1);
}

bool holds(Type type, int64_t low, int64_t high) {
  auto [least, most] = rangeOf(cast<IntegerType>(type));
  return low >= least && high <= most;
}

std::optional<int64_t> integerSplatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isInteger(splat.getElementType()))
    return {};
  APInt number = splat.getSplatValue<APInt>();
  return splat.getElementType().isUnsignedInteger() ? int64_t(number.getZExtValue()) : number.getSExtValue();
}

static IntegerRange rangeOf(Value value, unsigned depth) {
  auto type = cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  const IntegerRange all = rangeOf(type);
  Operation *op = value.getDefiningOp();
  if (std::optional<int64_t> number = integerSplatOf(value))
    return {*number, *number};
  if (!op || depth > kMaxFollowedOps)
    return all;
  auto behind = [&](unsigned operand) { return rangeOf(op->getOperand(operand), depth + 1); };
  if (isa<ReshapeOp, BroadcastInDimOp, GatherOp, TransposeOp, SliceOp>(op))
    return behind(0);
  if (isa<ConvertOp>(op) && isInteger(getElementTypeOrSelf(op->getOperand(0).getType()))) {
    auto [low, high] = behind(0);
    return holds(type, low, high) ? IntegerRange(low, high) : all;
  }
  if (isa<AndOp>(op))
    for (unsigned operand : {0u, 1u})
      if (auto [low, high] = behind(operand); low >= 0)
        return {0, high};
  if (isa<AddOp, SubtractOp>(op) && type.getWidth() <= 32) {
    auto [low, high] = behind(0);
    auto [otherLow, otherHigh] = behind(1);
    IntegerRange sum = isa<AddOp>(op) ? IntegerRange(low + otherLow, high + otherHigh) : IntegerRange(low - otherHigh, high - otherLow);
    return holds(type, sum.first, sum.second) ? sum : all;
  }
  if (auto stack = dyn_cast<ConcatenateOp>(op)) {
    IntegerRange both = behind(0);
    for (unsigned operand = 1; operand < op->getNumOperands(); ++operand)
      both = {std::min(both.first, behind(operand).first), std::max(both.second, behind(operand).second)};
    return both;
  }
  return all;
}

IntegerRange rangeOf(Value value) { return rangeOf(value, 0); }

std::optional<bool> decided(ComparisonDirection direction, IntegerRange left, IntegerRange right) {
  const bool isLess = left.second < right.first, isGreater = left.first > right.second;
  switch (direction) {
  case ComparisonDirection::LT: return isLess ? std::optional(true) : left.first >= right.second ? std::optional(false) : std::nullopt;
  case ComparisonDirection::GE: return isLess ? std::optional(false) : left.first >= right.second ? std::optional(true) : std::nullopt;
  case ComparisonDirection::GT: return isGreater ? std::optional(true) : left.second <= right.first ? std::optional(false) : std::nullopt;
  case ComparisonDirection::LE: return isGreater ? std::optional(false) : left.second <= right.first ? std::optional(true) : std::nullopt;
  case ComparisonDirection::EQ: return isLess || isGreater ? std::optional(false) : std::nullopt;
  case ComparisonDirection::NE: return isLess || isGreater ? std::optional(true) : std::nullopt;
  }
  return {};
}

} // namespace millrace::fusion
