// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixPartsNumbers.cpp - Integers between words and matrix ---------===//
// Codes, zero points and what is computed from them, whatever integer types the program has given them: 32 bits with sign hold them all if no operation
// wraps around, which their ranges tell.
#include "passes/fusion/codes/MatrixParts.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/codes/IntegerRanges.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

/// Returns the integer that all elements at `position` have, if it is a constant.
std::optional<int64_t> MatrixParts::integerAt(Value value, int64_t position) const {
  if (std::optional<int64_t> number = integerSplatOf(value))
    return number;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<ReshapeOp, ConvertOp>(op) && isInteger(typeOf(op->getOperand(0)).getElementType())) {
    std::optional<int64_t> number = integerAt(op->getOperand(0), position);
    return number && holds(getElementTypeOrSelf(value.getType()), *number, *number) ? number : std::nullopt;
  }
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast)
    return {};
  if (typeOf(broadcast.getOperand()).getNumElements() == 1)
    return integerAt(broadcast.getOperand(), position);
  auto known = constants.find(value);
  for (auto [place, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (known != constants.end() && typeOf(broadcast.getOperand()).getDimSize(place) > 1)
      if (SmallVector<int64_t, 2> group = groupsOf(typeOf(value).getShape())[dim]; group.size() == 1 && group[0] == partDim)
        return known->second.getInt(inElement(position));
  return {};
}

Value MatrixParts::valueOf(const Number &number) { return number.isConstant() ? splat(builder->getI32Type(), number.low) : number.value; }

std::optional<MatrixParts::Number> MatrixParts::number(Value value, int64_t position) {
  // Words of the whole matrix have another shape than its numbers.
  if (isPart(value) && isWhole)
    return {};
  if (isPart(value))
    position -= inElement(position);
  Key key(value.getAsOpaquePointer(), position);
  auto known = numbers.find(key);
  if (known != numbers.end())
    return known->second;
  std::optional<Number> result = computedNumber(value, position);
  numbers[key] = result;
  return result;
}

std::optional<MatrixParts::Number> MatrixParts::computedNumber(Value value, int64_t position) {
  if (std::optional<int64_t> constant = isWhole ? integerSplatOf(value) : integerAt(value, position))
    return isIn32Bits(*constant, *constant) ? std::optional(Number{{}, *constant, *constant}) : std::nullopt;
  Operation *op = value.getDefiningOp();
  OpBuilder &b = *builder;
  Type element = typeOf(value).getElementType();
  if (!isPart(value) && (!op || !followed.contains(op)))
    return {};
  if (std::optional<Number> bits = numberOfBits(value, position))
    return bits;
  auto behind = [&](Value operand) { return number(operand, position); };
  if (isa_and_present<ReshapeOp>(op))
    return behind(op->getOperand(0));
  if (op && op->getNumOperands() == 1 && isa<ConvertOp>(op) && isInteger(typeOf(op->getOperand(0)).getElementType())) {
    std::optional<Number> from = behind(op->getOperand(0));
    return from && holds(element, from->low, from->high) ? from : std::nullopt;
  }
  if (auto stack = dyn_cast_if_present<ConcatenateOp>(op); stack && !isPart(value))
    return isWhole ? std::nullopt : behind(stack.getInputs()[inElement(position)]);
  if (std::optional<int64_t> at = op ? positionBehind(value, position) : std::nullopt)
    return isWhole ? std::nullopt : number(op->getOperand(0), *at);
  if (isa_and_present<AddOp, SubtractOp, MulOp>(op)) {
    std::optional<Number> left = behind(op->getOperand(0)), right = left ? behind(op->getOperand(1)) : std::nullopt;
    if (!right)
      return {};
    Number result;
    if (isa<MulOp>(op)) {
      auto [low, high] = std::minmax({left->low * right->low, left->low * right->high, left->high * right->low, left->high * right->high});
      result = {{}, low, high};
    } else {
      result = isa<AddOp>(op) ? Number{{}, left->low + right->low, left->high + right->high} : Number{{}, left->low - right->high, left->high - right->low};
    }
    // Nothing wraps around, in the program's type and in 32 bits.
    if (!holds(element, result.low, result.high) || !isIn32Bits(result.low, result.high))
      return {};
    if (!result.isConstant()) {
      OperationState state(op->getLoc(), op->getName(), {valueOf(*left), valueOf(*right)}, typeOfResult(b.getI32Type()));
      result.value = b.create(state)->getResult(0);
    }
    return result;
  }
  if (auto select = dyn_cast_if_present<SelectOp>(op)) {
    auto compare = select.getPred().getDefiningOp<CompareOp>();
    if (!compare || !isInteger(typeOf(compare.getLhs()).getElementType()))
      return {};
    std::optional<Number> left = behind(compare.getLhs()), right = left ? behind(compare.getRhs()) : std::nullopt;
    std::optional<bool> isTrue = right ? decided(compare.getComparisonDirection(), {left->low, left->high}, {right->low, right->high}) : std::nullopt;
    return isTrue ? behind(*isTrue ? select.getOnTrue() : select.getOnFalse()) : std::nullopt;
  }
  if (auto clamp = dyn_cast_if_present<ClampOp>(op)) {
    std::optional<int64_t> least = integerSplatOf(clamp.getMin()), most = integerSplatOf(clamp.getMax());
    std::optional<Number> inner = least && most ? behind(clamp.getOperand()) : std::nullopt;
    return inner && inner->low >= *least && inner->high <= *most ? inner : std::nullopt;
  }
  // Small operands whose range is known: zero points, sums of codes.
  if (isPart(value) || !isa<BroadcastInDimOp, GatherOp>(op))
    return {};
  auto [low, high] = rangeOf(value);
  Value all = isIn32Bits(low, high) ? computed(value, position) : Value();
  if (!all)
    return {};
  if (!element.isSignlessInteger(32))
    all = ConvertOp::create(b, op->getLoc(), typeOfResult(b.getI32Type()), all);
  return Number{all, low, high};
}

} // namespace millrace::fusion
