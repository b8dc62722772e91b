// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixPartsCreation.cpp - Create parts of a matrix, or the whole ---===//
// Repeats what computes the matrix for one position of the words, in the shape of a part; or once in the shape of the whole matrix.
#include "passes/fusion/codes/MatrixParts.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/codes/IntegerRanges.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

/// Returns the operation before the insertion point; null if there is none.
static Operation *lastBefore(OpBuilder &b) {
  return b.getInsertionPoint() == b.getInsertionBlock()->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
}

/// Returns what `make` creates, and erases what it has created in vain.
template <typename Make> SmallVector<Value> MatrixParts::erasingUnused(Make make) {
  Operation *before = lastBefore(*builder);
  SmallVector<Value> results = make();
  for (Operation *op = lastBefore(*builder); op != before;) {
    Operation *next = op->getPrevNode();
    if (op->use_empty() && !llvm::is_contained(results, op->getResult(0)))
      op->erase();
    op = next;
  }
  made.clear();
  numbers.clear();
  inFront.clear();
  wordsFrom.clear();
  return results;
}

MatrixParts::Parts MatrixParts::make(OpBuilder &b, bool isShared) {
  builder = &b;
  isWhole = false;
  Parts parts;
  erasingUnused([&] {
    Value value = isShared ? withoutShared(matrix, parts) : matrix;
    Type element = typeOf(matrix).getElementType();
    for (int64_t position = 0; position < count() && value; ++position) {
      Value one;
      if (typeOf(value).getElementType() == element)
        one = part(value, position);
      else if (std::optional<Number> integer = number(value, position))
        one = ConvertOp::create(b, matrix.getLoc(), typeOfResult(element), valueOf(*integer));
      if (!one)
        break;
      parts.values.push_back(one);
    }
    if (int64_t(parts.values.size()) < count())
      parts = {};
    SmallVector<Value> used(parts.values);
    used.append(parts.factors);
    if (parts.subtrahend)
      used.push_back(parts.subtrahend);
    return used;
  });
  return parts;
}

Value MatrixParts::makeWhole(OpBuilder &b) {
  builder = &b;
  isWhole = true;
  SmallVector<Value> all = erasingUnused([&] {
    Value result = part(matrix, 0);
    return result ? SmallVector<Value>{result} : SmallVector<Value>();
  });
  return all.empty() ? Value() : all.front();
}

/// Returns true for words, and what is computed from them before they are taken apart: one element for all codes of a word.
bool MatrixParts::isPart(Value value) const { return typeOf(value).getNumElements() == total / codesOfElement(); }

Value MatrixParts::reshaped(Value value, ArrayRef<int64_t> sizes) {
  if (typeOf(value).getShape() == sizes)
    return value;
  return ReshapeOp::create(*builder, matrix.getLoc(), typeOf(value).clone(sizes), value);
}

Value MatrixParts::splat(Type element, int64_t value) {
  Attribute number = isa<FloatType>(element) ? Attribute(builder->getFloatAttr(element, double(value))) : Attribute(builder->getIntegerAttr(element, value));
  return ConstantOp::create(*builder, matrix.getLoc(), DenseElementsAttr::get(typeOfResult(element), number));
}

/// Returns the position in a word of what a permutation of codes has at `position`.
std::optional<int64_t> MatrixParts::positionBehind(Value gather, int64_t position) const {
  auto order = positions.find(gather.getDefiningOp());
  return order == positions.end() ? std::nullopt : std::optional(position - inElement(position) + order->second[inElement(position)]);
}

/// Returns the part of `value` at `position`, null if it is not known how to compute it.
Value MatrixParts::part(Value value, int64_t position) {
  if (typeOf(value).getRank() == 0)
    return value;
  if (isPart(value))
    position -= inElement(position);
  auto [place, isNew] = made.try_emplace(Key(value.getAsOpaquePointer(), position));
  if (isNew) {
    Type element = typeOf(value).getElementType();
    const bool isIntegerOfResult = isInteger(element) && element.getIntOrFloatBitWidth() >= 8;
    std::optional<Number> integer = isIntegerOfResult ? number(value, position) : std::nullopt;
    Value result;
    if (!integer)
      result = computed(value, position);
    else if (integer->isConstant())
      result = splat(element, integer->low);
    else
      result = element.isSignlessInteger(32) ? integer->value : Value(ConvertOp::create(*builder, matrix.getLoc(), typeOfResult(element), integer->value));
    made[Key(value.getAsOpaquePointer(), position)] = result;
    return result;
  }
  return place->second;
}

Value MatrixParts::computed(Value value, int64_t position) {
  Operation *op = value.getDefiningOp();
  OpBuilder &b = *builder;
  const SmallVector<int64_t> sizes = isPart(value) ? partShape() : shapeOfResult();
  auto type = RankedTensorType::get(sizes, typeOf(value).getElementType());
  if (isPart(value)) {
    // In the shape of words, elementwise operations are moved to the shape of parts: a reshape between them would keep kernels apart.
    auto keepsShape = [&](Value operand) { return isStaticTensor(operand) && (typeOf(operand).getRank() == 0 || typeOf(operand).getShape() == typeOf(value).getShape()); };
    const bool isSplat = op && isa<ConstantOp>(op) && isa<SplatElementsAttr>(cast<ConstantOp>(op).getValue());
    const bool isCheap = op && (isInteger(type.getElementType()) || op->hasOneUse());
    const bool isMoved = isSplat || (isCheap && isElementwise(op) && op->getNumResults() == 1 && llvm::all_of(op->getOperands(), keepsShape));
    if (auto reshape = dyn_cast_if_present<ReshapeOp>(op))
      return part(reshape.getOperand(), position);
    if (bytesOfWord > 1)
      return {};
    if (!isMoved)
      return reshaped(value, sizes);
  } else if (!op || !followed.contains(op)) {
    return {};
  }
  if (auto constant = dyn_cast<ConstantOp>(op))
    return ConstantOp::create(b, op->getLoc(), cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
  if (isa<ReshapeOp>(op))
    return part(op->getOperand(0), position);
  if (isa<BroadcastInDimOp>(op))
    return broadcast(op, position);
  if (auto stack = dyn_cast<ConcatenateOp>(op))
    return isWhole ? Value() : part(stack.getInputs()[inElement(position)], position);
  if (isa<GatherOp>(op))
    return gathered(op, position);
  if (auto convert = dyn_cast<ConvertOp>(op); convert && isInteger(typeOf(convert.getOperand()).getElementType()))
    if (std::optional<Number> integer = number(convert.getOperand(), position))
      return ConvertOp::create(b, op->getLoc(), type, valueOf(*integer));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(part(operand, position));
    if (!operands.back())
      return {};
  }
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(typeOf(op->getResult(0)).clone(sizes));
  return copy->getResult(0);
}

} // namespace millrace::fusion
