// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixParts.cpp - Matrices that are computed from packed words ------===//
#include "passes/fusion/MatrixParts.h"

#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/stablehlo/eval/Evaluator.h"
#include "passes/layout/Groups.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// More operations are not followed: each is repeated for each part, and all of them are one kernel. Unit: operations. Source: arithmetic: with eight
/// parts, what remains of them after integers have become bits of words is as much as a kernel takes in (kMaxClusterOps).
constexpr unsigned kMaxFollowedOps = 32;
/// Words do not hold more codes. Unit: codes of a word. Source: arithmetic: 64 bits hold 16 codes of four bits.
constexpr int64_t kMaxParts = 16;
/// Operands are rearranged for the parts where the matrix has at least so many elements for each of theirs. Unit: elements. Source: arithmetic:
/// scales of f32 for groups of 16 codes take half as many bytes as the codes.
constexpr int64_t kMinElementsPerOperand = 16;
/// Fact: bytes of an integer that vectors take apart in place.
constexpr int64_t kBytesOfWord = 4;
/// Bytes of shorter groups are not joined: lanes are along the words of a group, and fewer words fill no vector. Unit: words of a group. Source: arithmetic:
/// lanes of the longest vectors of 32-bit words; groups of 32 nibbles, which are four words, took 2.7 times as long on AVX2.
constexpr int64_t kMinJoinedWords = 16;
/// Larger constants are not evaluated. Unit: elements. Source: judgement, not measured: indices of the columns of the largest matrices.
constexpr int64_t kMaxConstantElements = 1 << 18;

bool isInteger(Type type) { return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() > 1; }

bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isIntOrFloat() && type.getNumElements() > 0;
}

/// Returns the value of what is computed from constants alone, by a few operations.
std::optional<eval::Tensor> constantOf(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxFollowedOps || !isStaticTensor(value) || typeOf(value).getNumElements() > kMaxConstantElements || op->getNumResults() != 1 || op->getNumRegions() > 0)
    return {};
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto tensor = eval::Tensor::fromAttr(constant.getValue());
    if (tensor)
      return std::move(*tensor);
    llvm::consumeError(tensor.takeError());
    return {};
  }
  if (!isa<IotaOp, ReshapeOp, BroadcastInDimOp, GatherOp, TransposeOp>(op) && !isElementwise(op))
    return {};
  SmallVector<eval::Value> operands;
  for (Value operand : op->getOperands()) {
    std::optional<eval::Tensor> known = constantOf(operand, depth + 1);
    if (!known)
      return {};
    operands.push_back(std::move(*known));
  }
  auto results = eval::evaluateOp(op, operands);
  if (results)
    return std::move((*results)[0].tensor());
  llvm::consumeError(results.takeError());
  return {};
}

/// The integers that a type holds, as far as 64 bits with sign hold them.
std::pair<int64_t, int64_t> rangeOf(IntegerType type) {
  if (type.getWidth() >= 64)
    return {type.isUnsigned() ? 0 : std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const int64_t half = int64_t(1) << (type.getWidth() - 1);
  return type.isUnsigned() ? std::pair(int64_t(0), 2 * half - 1) : std::pair(-half, half - 1);
}

bool holds(Type type, int64_t low, int64_t high) {
  auto [least, most] = rangeOf(cast<IntegerType>(type));
  return low >= least && high <= most;
}

bool isIn32Bits(int64_t low, int64_t high) { return low >= INT32_MIN && high <= INT32_MAX; }

std::optional<int64_t> splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isInteger(splat.getElementType()))
    return {};
  APInt number = splat.getSplatValue<APInt>();
  return splat.getElementType().isUnsignedInteger() ? int64_t(number.getZExtValue()) : number.getSExtValue();
}

/// Returns in which range the integers of `value` are, by a few operations that it is computed by.
std::pair<int64_t, int64_t> rangeOf(Value value, unsigned depth = 0) {
  auto type = cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  const std::pair<int64_t, int64_t> all = rangeOf(type);
  Operation *op = value.getDefiningOp();
  if (std::optional<int64_t> number = splatOf(value))
    return {*number, *number};
  if (!op || depth > kMaxFollowedOps)
    return all;
  auto behind = [&](unsigned operand) { return rangeOf(op->getOperand(operand), depth + 1); };
  if (isa<ReshapeOp, BroadcastInDimOp, GatherOp, TransposeOp, SliceOp>(op))
    return behind(0);
  if (isa<ConvertOp>(op) && isInteger(getElementTypeOrSelf(op->getOperand(0).getType()))) {
    auto [low, high] = behind(0);
    return holds(type, low, high) ? std::pair(low, high) : all;
  }
  if (isa<AndOp>(op))
    for (unsigned operand : {0u, 1u})
      if (auto [low, high] = behind(operand); low >= 0)
        return {0, high};
  if (isa<AddOp, SubtractOp>(op) && type.getWidth() <= 32) {
    auto [low, high] = behind(0);
    auto [otherLow, otherHigh] = behind(1);
    std::pair<int64_t, int64_t> sum = isa<AddOp>(op) ? std::pair(low + otherLow, high + otherHigh) : std::pair(low - otherHigh, high - otherLow);
    return holds(type, sum.first, sum.second) ? sum : all;
  }
  if (auto stack = dyn_cast<ConcatenateOp>(op)) {
    std::pair<int64_t, int64_t> both = behind(0);
    for (unsigned operand = 1; operand < op->getNumOperands(); ++operand)
      both = {std::min(both.first, behind(operand).first), std::max(both.second, behind(operand).second)};
    return both;
  }
  return all;
}

/// Returns whether `left direction right` holds for all numbers of two ranges; none if it holds for some.
std::optional<bool> decided(ComparisonDirection direction, std::pair<int64_t, int64_t> left, std::pair<int64_t, int64_t> right) {
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

/// How a gather reads its operand.
enum class Reads { Otherwise, Table, Rows };

/// Table: a number for each index. Rows: all of the operand but for one dimension, along which one index is chosen for each of the result's.
Reads readsOf(GatherOp gather) {
  GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  RankedTensorType table = typeOf(gather.getOperand()), indices = typeOf(gather.getStartIndices());
  if (!numbers.getOperandBatchingDims().empty() || numbers.getStartIndexMap().size() != 1 || numbers.getCollapsedSliceDims() != numbers.getStartIndexMap() ||
      !isInteger(indices.getElementType()))
    return Reads::Otherwise;
  const int64_t dim = numbers.getStartIndexMap()[0];
  for (auto [place, size] : llvm::enumerate(gather.getSliceSizes()))
    if (size != (int64_t(place) == dim ? 1 : table.getDimSize(place)))
      return Reads::Otherwise;
  if (table.getRank() == 1)
    return Reads::Table;
  return typeOf(gather).getRank() == table.getRank() ? Reads::Rows : Reads::Otherwise;
}

/// Returns the dimension of the result along which a gather of rows goes over its indices.
int64_t dimOfIndices(GatherOp gather) {
  ArrayRef<int64_t> offsets = gather.getDimensionNumbers().getOffsetDims();
  int64_t dim = 0;
  while (llvm::is_contained(offsets, dim))
    ++dim;
  return dim;
}

/// Returns the operation before the insertion point; null if there is none.
Operation *lastBefore(OpBuilder &b) {
  return b.getInsertionPoint() == b.getInsertionBlock()->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
}

/// Returns the word that a bitcast takes apart, or null.
Value wordsOfBitcast(Operation *op) {
  auto bitcast = dyn_cast<BitcastConvertOp>(op);
  if (!bitcast || !isInteger(typeOf(bitcast).getElementType()) || !isInteger(typeOf(bitcast.getOperand()).getElementType()) ||
      typeOf(bitcast).getRank() != typeOf(bitcast.getOperand()).getRank() + 1)
    return {};
  return bitcast.getOperand();
}

} // namespace

SmallVector<int64_t> MatrixParts::partShape() const {
  SmallVector<int64_t> sizes(whole);
  sizes.erase(sizes.begin() + dim(), sizes.begin() + partDim + 1);
  return sizes;
}

bool MatrixParts::joinBytes() {
  if (bytesOfWord > 1 || partDim == 0 || partDim + 1 != int64_t(whole.size()) || whole[partDim - 1] % kBytesOfWord != 0 ||
      whole[partDim - 1] < kMinJoinedWords * kBytesOfWord || kBytesOfWord * count() > kMaxParts)
    return false;
  whole[partDim - 1] /= kBytesOfWord;
  whole.insert(whole.begin() + partDim, kBytesOfWord);
  ++partDim;
  bytesOfWord = kBytesOfWord;
  return true;
}

/// Adds what `value`, with an element for each of the matrix, is computed by.
bool MatrixParts::collect(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isStaticTensor(value) || op->getNumResults() != 1 || op->getBlock() != matrix.getDefiningOp()->getBlock())
    return false;
  if (!followed.insert(op))
    return true;
  if (followed.size() > kMaxFollowedOps)
    return false;
  SmallVector<int64_t> sizes = llvm::filter_to_vector(typeOf(value).getShape(), [](int64_t size) { return size != 1; });
  std::optional<SmallVector<int64_t>> refined = whole.empty() ? sizes : layout::commonRefinement(whole, sizes);
  if (!refined)
    return false;
  whole = *refined;
  if (splatOf(value) || (isa<ConstantOp>(op) && isa<SplatElementsAttr>(cast<ConstantOp>(op).getValue())))
    return true;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return collect(reshape.getOperand());
  if (Value words = wordsOfBitcast(op)) {
    differing.emplace_back(value, typeOf(value).getRank() - 1);
    return isStaticTensor(words);
  }
  if (auto stack = dyn_cast<ConcatenateOp>(op)) {
    const int64_t dim = stack.getDimension();
    differing.emplace_back(value, dim);
    return llvm::all_of(stack.getInputs(), [&](Value input) { return isStaticTensor(input) && typeOf(input).getDimSize(dim) == 1; });
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    if (!isStaticTensor(broadcast.getOperand()))
      return false;
    // Constants that differ along one dimension.
    RankedTensorType from = typeOf(broadcast.getOperand());
    if (from.getNumElements() < 2 || from.getNumElements() > kMaxParts || !isInteger(from.getElementType()))
      return true;
    for (auto [place, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (from.getDimSize(place) == from.getNumElements())
        if (std::optional<eval::Tensor> constant = constantOf(broadcast.getOperand())) {
          constants.try_emplace(value, std::move(*constant));
          differing.emplace_back(value, dim);
        }
    return true;
  }
  if (isa<GatherOp>(op))
    return collectGather(op);
  if (!isElementwise(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isStaticTensor(operand) && (typeOf(operand).getRank() == 0 || (typeOf(operand).getNumElements() == total && collect(operand)));
  });
}

bool MatrixParts::collectGather(Operation *op) {
  auto gather = cast<GatherOp>(op);
  switch (readsOf(gather)) {
  case Reads::Otherwise:
    return false;
  case Reads::Table:
    return typeOf(gather.getStartIndices()).getNumElements() == total && collect(gather.getStartIndices());
  case Reads::Rows:
    break;
  }
  // A permutation of columns by constants, or rows of a small operand.
  if (typeOf(gather.getOperand()).getNumElements() != total)
    return typeOf(gather.getOperand()).getNumElements() * 2 <= total;
  std::optional<eval::Tensor> indices = constantOf(gather.getStartIndices());
  if (!indices || gather.getDimensionNumbers().getStartIndexMap()[0] != dimOfIndices(gather) || typeOf(gather).getShape() != typeOf(gather.getOperand()).getShape())
    return false;
  constants.try_emplace(gather, std::move(*indices));
  return collect(gather.getOperand());
}

/// Returns the dimensions of the matrix' shape into which each dimension of `of` is divided.
SmallVector<SmallVector<int64_t, 2>> MatrixParts::groupsOf(ArrayRef<int64_t> of) const {
  SmallVector<SmallVector<int64_t, 2>> groups;
  int64_t next = 0;
  for (int64_t size : of)
    for (groups.emplace_back(); size > 1; size /= whole[next++])
      groups.back().push_back(next);
  return groups;
}

bool MatrixParts::choosePartDim() {
  for (auto [value, dim] : differing) {
    SmallVector<int64_t, 2> group = groupsOf(typeOf(value).getShape())[dim];
    const bool isBetween = group.size() == 1 && whole[group[0]] <= kMaxParts && (partDim < 0 || partDim == group[0]);
    // Other constants are operands like scales. Words are taken apart along one dimension.
    if (!isBetween && !value.getDefiningOp<BroadcastInDimOp>())
      return false;
    if (isBetween)
      partDim = group[0];
  }
  if (partDim < 0 || whole.size() < 2)
    return false;
  for (Operation *op : followed) {
    auto gather = dyn_cast<GatherOp>(op);
    auto known = gather ? constants.find(gather.getResult()) : constants.end();
    if (known == constants.end())
      continue;
    // Within words, codes are in the same order everywhere; words stay where they are.
    SmallVector<int64_t, 2> group = groupsOf(typeOf(gather).getShape())[dimOfIndices(gather)];
    if (group.empty() || group.back() != partDim)
      return false;
    const int64_t parts = count();
    const eval::Tensor &indices = known->second;
    SmallVector<int64_t> order;
    for (int64_t part = 0; part < parts; ++part)
      order.push_back(indices.getInt(part));
    for (int64_t place = 0; place < indices.size(); ++place)
      if (indices.getInt(place) != place / parts * parts + order[place % parts])
        return false;
    if (llvm::any_of(order, [&](int64_t place) { return place < 0 || place >= parts; }))
      return false;
    positions[op] = order;
  }
  // Nothing else reads what is computed part by part.
  return llvm::all_of(followed, [&](Operation *op) {
    return op == matrix.getDefiningOp() || isa<BroadcastInDimOp, ConstantOp>(op) || llvm::all_of(op->getUsers(), [&](Operation *user) { return followed.contains(user); });
  });
}

std::optional<MatrixParts> MatrixParts::of(Value matrix) {
  if (!isStaticTensor(matrix) || !matrix.getDefiningOp())
    return {};
  MatrixParts parts(matrix);
  if (!parts.collect(matrix) || !parts.choosePartDim())
    return {};
  return parts;
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

Value MatrixParts::reshaped(Value value, ArrayRef<int64_t> sizes) { return layout::reshaped(*builder, matrix.getLoc(), value, sizes); }

Value MatrixParts::splat(Type element, int64_t value) {
  Attribute number = isa<FloatType>(element) ? Attribute(builder->getFloatAttr(element, double(value))) : Attribute(builder->getIntegerAttr(element, value));
  return ConstantOp::create(*builder, matrix.getLoc(), DenseElementsAttr::get(typeOfResult(element), number));
}

/// Returns the position in a word of what a permutation of codes has at `position`.
std::optional<int64_t> MatrixParts::positionBehind(Value gather, int64_t position) const {
  auto order = positions.find(gather.getDefiningOp());
  return order == positions.end() ? std::nullopt : std::optional(position - inElement(position) + order->second[inElement(position)]);
}

/// Returns the integer that all elements at `position` have, if it is a constant.
std::optional<int64_t> MatrixParts::integerAt(Value value, int64_t position) const {
  if (std::optional<int64_t> number = splatOf(value))
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
  return layout::computedOn(b, op, operands, sizes);
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
  if (std::optional<int64_t> constant = isWhole ? splatOf(value) : integerAt(value, position))
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
    std::optional<int64_t> least = splatOf(clamp.getMin()), most = splatOf(clamp.getMax());
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

/// Returns constants by which words are shifted: one for all of them, or one for each position.
Value MatrixParts::amounts(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return splat(builder->getI32Type(), values.front());
  SmallVector<int32_t> numbers(values);
  auto type = RankedTensorType::get({count()}, builder->getI32Type());
  Value constant = ConstantOp::create(*builder, matrix.getLoc(), DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  return BroadcastInDimOp::create(*builder, matrix.getLoc(), typeOfResult(builder->getI32Type()), constant, builder->getDenseI64ArrayAttr({partDim}));
}

/// Returns `value` if it is bits of words: the same number of bits of the same words at all positions, if the matrix is whole.
std::optional<MatrixParts::Number> MatrixParts::numberOfBits(Value value, int64_t position) {
  std::optional<Field> bits = field(value, position);
  if (!bits || bits->up != 0 || bits->bits >= 32)
    return {};
  SmallVector<int64_t> shifts{bits->shift};
  for (int64_t next = 1; next < count() && isWhole; ++next) {
    std::optional<Field> other = field(value, next);
    if (!other || !other->isLike(*bits))
      return {};
    shifts.push_back(other->shift);
  }
  OpBuilder &b = *builder;
  Location loc = matrix.getLoc();
  Value words = bits->words;
  RankedTensorType type = typeOfResult(b.getI32Type());
  const int64_t width = typeOf(words).getElementTypeBitWidth();
  const bool isUnsigned = typeOf(words).getElementType().isUnsignedInteger();
  if (isWhole) {
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, whole.size()));
    llvm::erase(dims, partDim);
    words = BroadcastInDimOp::create(b, loc, typeOfResult(typeOf(words).getElementType()), words, b.getDenseI64ArrayAttr(dims));
  }
  if (width < 32)
    words = ConvertOp::create(b, loc, type, words);
  else if (isUnsigned)
    words = BitcastConvertOp::create(b, loc, type, words);
  const int64_t half = int64_t(1) << (bits->bits - 1);
  auto isZero = [](int64_t shift) { return shift == 0; };
  if (bits->isSigned) {
    for (int64_t &shift : shifts)
      shift = 32 - shift - bits->bits;
    if (!llvm::all_of(shifts, isZero))
      words = ShiftLeftOp::create(b, loc, words, amounts(shifts));
    return Number{ShiftRightArithmeticOp::create(b, loc, words, splat(b.getI32Type(), 32 - bits->bits)), -half, half - 1};
  }
  if (!llvm::all_of(shifts, isZero))
    words = ShiftRightLogicalOp::create(b, loc, words, amounts(shifts));
  // Nothing is above the topmost bits of a word of 32 bits, or of a shorter one without a sign.
  if (llvm::any_of(shifts, [&](int64_t shift) { return shift + bits->bits < width; }) || (width < 32 && !isUnsigned))
    words = AndOp::create(b, loc, words, splat(b.getI32Type(), 2 * half - 1));
  return Number{words, 0, 2 * half - 1};
}

/// Returns the bits of a word that `value` is, as the integer that its type says.
std::optional<MatrixParts::Field> MatrixParts::field(Value value, int64_t position) {
  auto type = cast<IntegerType>(typeOf(value).getElementType());
  const int64_t width = type.getWidth();
  Operation *op = value.getDefiningOp();
  auto leaf = [&]() -> std::optional<Field> {
    if (width != 8 && width != 16 && width != 32)
      return {};
    if (bytesOfWord > 1 && (width != 8 || !isPart(value)))
      return {};
    // The same words for all positions.
    Value words = wordsFrom.lookup(value);
    if (!words) {
      words = bytesOfWord > 1 ? Value(AliasOp::create(*builder, matrix.getLoc(), typeOfResult(builder->getI32Type()), value)) : computed(value, position);
      wordsFrom[value] = words;
    }
    return words ? std::optional(Field{words, position / codesOfElement() * width, width, 0, !type.isUnsigned()}) : std::nullopt;
  };
  if (isPart(value)) {
    // Operations that follow bits are looked through, all others make words.
    bool isOfBits = op && (isa<ReshapeOp, AndOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(op) ||
                           (isa<ConvertOp>(op) && isInteger(typeOf(op->getOperand(0)).getElementType())));
    auto keepsSize = [&](Value operand) { return isStaticTensor(operand) && isPart(operand); };
    if (!isOfBits || !llvm::all_of(op->getOperands(), keepsSize))
      return leaf();
  } else if (!op || !followed.contains(op)) {
    return {};
  }
  if (isa<ReshapeOp>(op))
    return field(op->getOperand(0), position);
  if (auto stack = dyn_cast<ConcatenateOp>(op))
    return field(stack.getInputs()[inElement(position)], position);
  if (std::optional<int64_t> behind = positionBehind(value, position))
    return field(op->getOperand(0), *behind);
  if (Value words = wordsOfBitcast(op)) {
    std::optional<Field> word = field(words, position);
    return word && word->up == 0 && word->bits == typeOf(words).getElementTypeBitWidth() ? std::optional(Field{word->words, word->shift + inElement(position) * width, width, 0, !type.isUnsigned()})
                                                                                        : std::nullopt;
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    // Words, of which every code of a word reads the same one.
    if (!isPart(broadcast.getOperand()))
      return {};
    auto groups = groupsOf(typeOf(broadcast).getShape());
    for (auto [place, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (typeOf(broadcast.getOperand()).getDimSize(place) > 1 && llvm::is_contained(groups[dim], partDim))
        return {};
    return llvm::is_sorted(broadcast.getBroadcastDimensions()) ? field(broadcast.getOperand(), position) : std::nullopt;
  }
  if (isa<ConvertOp>(op)) {
    if (!isInteger(typeOf(op->getOperand(0)).getElementType()))
      return {};
    std::optional<Field> bits = field(op->getOperand(0), position);
    if (!bits || bits->up != 0)
      return {};
    if (width <= bits->bits)
      return Field{bits->words, bits->shift, width, 0, !type.isUnsigned()};
    // A negative number has other bits in a wider type without a sign.
    return bits->isSigned && type.isUnsigned() ? std::nullopt : bits;
  }
  if (!isa<AndOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(op))
    return {};
  Value other = op->getOperand(1), of = op->getOperand(0);
  if (isa<AndOp>(op) && !integerAt(other, position))
    std::swap(other, of);
  std::optional<int64_t> amount = integerAt(other, position);
  std::optional<Field> bits = amount ? field(of, position) : std::nullopt;
  if (!bits)
    return {};
  if (isa<AndOp>(op)) {
    const int64_t kept = llvm::countr_one(uint64_t(*amount));
    if (*amount <= 0 || *amount != (int64_t(1) << kept) - 1 || bits->up != 0 || (bits->isSigned && kept > bits->bits))
      return {};
    return Field{bits->words, bits->shift, std::min(kept, bits->bits), 0, false};
  }
  if (*amount < 0 || *amount >= width)
    return {};
  if (isa<ShiftLeftOp>(op)) {
    if (bits->up != 0)
      return {};
    // Bits that leave the type are lost.
    return Field{bits->words, bits->shift, std::min(bits->bits, width - *amount), *amount, bits->isSigned};
  }
  const bool isArithmetic = isa<ShiftRightArithmeticOp>(op);
  if (isArithmetic && type.isUnsigned())
    return {};
  if (bits->up > 0) {
    // The sign is that of the type only if bits reach its top.
    if (*amount < bits->up || bits->up + bits->bits != width || *amount - bits->up >= bits->bits)
      return {};
    return Field{bits->words, bits->shift + *amount - bits->up, width - *amount, 0, isArithmetic};
  }
  if (*amount >= bits->bits || (bits->isSigned && !isArithmetic && bits->bits != width))
    return {};
  return Field{bits->words, bits->shift + *amount, bits->bits - *amount, 0, bits->isSigned && isArithmetic};
}

} // namespace millrace::fusion
