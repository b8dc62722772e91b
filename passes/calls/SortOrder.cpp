// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SortOrder.cpp - Recognize the order that a comparator defines ------===//
// Input:   ^bb0(%a, %b, %c, %d): %0 = compare LT, %a, %b; %1 = compare EQ, %a, %b; %2 = compare GT, %c, %d;
//          return or(%0, and(%1, %2))
// Output:  keys {operand 0 ascending, operand 1 descending}
//===----------------------------------------------------------------------===//
#include "passes/calls/SortOrder.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APInt.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

/// One side of a comparison: an argument of the comparator, possibly with its zeros or NaNs made equal.
struct Side {
  unsigned argument;
  bool zeros = false, nans = false;
  bool operator==(const Side &) const = default;
};

bool isSplat(Value value, llvm::function_ref<bool(const APFloat &)> is) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
  return elements && elements.isSplat() && is(elements.getSplatValue<APFloat>());
}

bool isTotal(CompareOp compare) { return compare.getCompareType() == ComparisonType::TOTALORDER; }
/// Returns true for weak orders, which the comparator itself computes.
bool isWeak(CompareOp compare) { return compare.getCompareType() == ComparisonType::WEAKORDER; }

std::optional<Side> sideOf(Value value, Block &comparator) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &comparator ? std::optional(Side{argument.getArgNumber()}) : std::nullopt;
  auto select = value.getDefiningOp<SelectOp>();
  auto test = select ? select.getPred().getDefiningOp<CompareOp>() : CompareOp();
  // In total and weak orders a NaN is equal to itself.
  if (!test || isTotal(test) || isWeak(test))
    return std::nullopt;
  std::optional<Side> side = sideOf(select.getOnFalse(), comparator), tested = sideOf(test.getLhs(), comparator);
  if (!side || !tested || tested->argument != side->argument)
    return std::nullopt;
  auto isZero = [](const APFloat &number) { return number.isZero(); };
  ComparisonDirection direction = test.getComparisonDirection();
  if (direction == ComparisonDirection::EQ && isSplat(test.getRhs(), isZero) && isSplat(select.getOnTrue(), isZero)) {
    side->zeros = true;
    return side;
  }
  bool isNan = direction == ComparisonDirection::NE && test.getLhs() == test.getRhs();
  if (isNan && isSplat(select.getOnTrue(), [](const APFloat &number) { return number.isNaN() && !number.isNegative(); })) {
    side->nans = true;
    return side;
  }
  return std::nullopt;
}

struct Matcher {
  Block &comparator;

  /// Returns true if both sides of a comparison are elements of one operand; `lhs` is the first element.
  bool sides(CompareOp compare, Side &lhs, Side &rhs, bool &isSwapped) {
    if (isWeak(compare))
      return false;
    std::optional<Side> l = sideOf(compare.getLhs(), comparator), r = sideOf(compare.getRhs(), comparator);
    if (!l || !r || l->argument / 2 != r->argument / 2 || l->argument == r->argument || l->zeros != r->zeros || l->nans != r->nans)
      return false;
    isSwapped = l->argument > r->argument;
    lhs = isSwapped ? *r : *l;
    rhs = isSwapped ? *l : *r;
    return true;
  }

  /// Returns the key by which `value` means "the first element comes before the second one".
  std::optional<OrderKey> before(Value value) {
    auto compare = value.getDefiningOp<CompareOp>();
    Side lhs, rhs;
    bool isSwapped;
    if (!compare)
      return nanLast(value);
    ComparisonDirection direction = compare.getComparisonDirection();
    bool isLess = direction == ComparisonDirection::LT;
    if ((!isLess && direction != ComparisonDirection::GT) || !sides(compare, lhs, rhs, isSwapped))
      return std::nullopt;
    bool plain = !lhs.zeros && !lhs.nans;
    // In total order, a comparator makes both zeros and NaNs equal, or neither.
    if (isTotal(compare) && !plain && !(lhs.zeros && lhs.nans))
      return std::nullopt;
    return OrderKey{lhs.argument / 2, isLess == isSwapped, isTotal(compare) && plain};
  }

  /// Recognizes a < b or (b is NaN and a is not).
  std::optional<OrderKey> nanLast(Value value) {
    auto either = value.getDefiningOp<OrOp>();
    if (!either)
      return std::nullopt;
    for (auto [first, second] : {std::pair(either.getLhs(), either.getRhs()), std::pair(either.getRhs(), either.getLhs())}) {
      auto compare = first.getDefiningOp<CompareOp>();
      auto both = second.getDefiningOp<AndOp>();
      if (!compare || !both || isTotal(compare) || compare.getComparisonDirection() != ComparisonDirection::LT)
        continue;
      auto isTest = [&](Value test, ComparisonDirection direction, Value of) {
        auto found = test.getDefiningOp<CompareOp>();
        return found && found.getComparisonDirection() == direction && !isTotal(found) && !isWeak(found) && found.getLhs() == of &&
               found.getRhs() == of;
      };
      auto matches = [&](Value x, Value y) {
        return isTest(x, ComparisonDirection::NE, compare.getRhs()) && isTest(y, ComparisonDirection::EQ, compare.getLhs());
      };
      if (matches(both.getLhs(), both.getRhs()) || matches(both.getRhs(), both.getLhs()))
        return before(first);
    }
    return std::nullopt;
  }

  /// Returns true if `value` means "both elements are equal" by `key`; floats are compared in total order, in which NaN equals NaN.
  bool equal(Value value, const OrderKey &key) {
    auto compare = value.getDefiningOp<CompareOp>();
    Side lhs, rhs;
    bool isSwapped;
    if (!compare || compare.getComparisonDirection() != ComparisonDirection::EQ || !sides(compare, lhs, rhs, isSwapped) ||
        lhs.argument / 2 != key.operand)
      return false;
    if (!isa<FloatType>(getElementTypeOrSelf(compare.getLhs().getType())))
      return true;
    return isTotal(compare) && lhs.zeros == lhs.nans && lhs.zeros == !key.total;
  }

  bool keys(Value value, SmallVectorImpl<OrderKey> &found) {
    if (std::optional<OrderKey> key = before(value)) {
      found.push_back(*key);
      return true;
    }
    auto pair = [&](Value first, Value same, Value rest) {
      std::optional<OrderKey> key = before(first);
      if (!key || !equal(same, *key))
        return false;
      size_t size = found.size();
      found.push_back(*key);
      if (keys(rest, found))
        return true;
      found.truncate(size);
      return false;
    };
    if (auto select = value.getDefiningOp<SelectOp>())
      return pair(select.getOnFalse(), select.getPred(), select.getOnTrue());
    auto either = value.getDefiningOp<OrOp>();
    if (!either)
      return false;
    for (auto [first, second] : {std::pair(either.getLhs(), either.getRhs()), std::pair(either.getRhs(), either.getLhs())})
      if (auto both = second.getDefiningOp<AndOp>())
        if (pair(first, both.getLhs(), both.getRhs()) || pair(first, both.getRhs(), both.getLhs()))
          return true;
    return false;
  }
};

} // namespace

std::optional<SmallVector<OrderKey>> orderOf(Block &comparator) {
  SmallVector<OrderKey> keys;
  if (!Matcher{comparator}.keys(comparator.getTerminator()->getOperand(0), keys))
    return std::nullopt;
  return keys;
}

bool hasOrderedBits(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() >= 8 || integer.getWidth() == 1;
  return element.isF64() || element.isF32() || element.isF16() || element.isBF16();
}

bool countsUp(Value value, int64_t dimension) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto iota = value.getDefiningOp<IotaOp>())
    return int64_t(iota.getIotaDimension()) == dimension && isa<IntegerType>(type.getElementType());
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!elements)
    return false;
  int64_t size = type.getDimSize(dimension), stride = 1, index = 0;
  for (int64_t d = dimension + 1; d < type.getRank(); ++d)
    stride *= type.getDimSize(d);
  for (const APInt &element : elements.getValues<APInt>())
    if (element != APInt(64, uint64_t(index++ / stride % size)).trunc(std::min(64u, element.getBitWidth())))
      return false;
  return true;
}

} // namespace millrace::calls
