// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixParts.cpp - Recognize matrices computed from packed words ----===//
// Follows a matrix to the words it is computed from, finds a shape that divides all shapes on the way, and the dimension of the words' codes.
#include "passes/fusion/codes/MatrixParts.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/IndexAtoms.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/stablehlo/eval/Evaluator.h"
#include "passes/fusion/codes/GatherReads.h"
#include "passes/fusion/codes/IntegerRanges.h"
#include "passes/fusion/VectorShapes.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isIntOrFloat() && type.getNumElements() > 0;
}

namespace {

/// Words do not hold more codes. Unit: codes of a word. Source: arithmetic: 64 bits hold 16 codes of four bits.
constexpr int64_t kMaxParts = 16;
/// Fact: bytes of an integer that vectors take apart in place.
constexpr int64_t kBytesOfWord = 4;
/// Larger constants are not evaluated. Unit: elements. Source: judgement, not measured: indices of the columns of the largest matrices.
constexpr int64_t kMaxConstantElements = 1 << 18;

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

} // namespace

Value MatrixParts::wordsOfBitcast(Operation *op) {
  auto bitcast = dyn_cast<BitcastConvertOp>(op);
  if (!bitcast || !isInteger(typeOf(bitcast).getElementType()) || !isInteger(typeOf(bitcast.getOperand()).getElementType()) ||
      typeOf(bitcast).getRank() != typeOf(bitcast.getOperand()).getRank() + 1)
    return {};
  return bitcast.getOperand();
}

SmallVector<int64_t> MatrixParts::partShape() const {
  SmallVector<int64_t> sizes(whole);
  sizes.erase(sizes.begin() + dim(), sizes.begin() + partDim + 1);
  return sizes;
}

bool MatrixParts::joinBytes() {
  // Lanes are along the words of a group: bytes of groups with fewer words than lanes are not joined. Groups of 32 nibbles, which are four words, took 2.7
  // times as long on AVX2.
  if (bytesOfWord > 1 || partDim == 0 || partDim + 1 != int64_t(whole.size()) || whole[partDim - 1] % kBytesOfWord != 0 ||
      whole[partDim - 1] < kLanesOfLongest * kBytesOfWord || kBytesOfWord * count() > kMaxParts)
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
  if (whole.empty()) {
    whole = sizes;
  } else if (std::optional<Refinement> refinement = refine(whole, sizes)) {
    whole = refinement->sizes;
  } else {
    return false;
  }
  if (integerSplatOf(value) || (isa<ConstantOp>(op) && isa<SplatElementsAttr>(cast<ConstantOp>(op).getValue())))
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

} // namespace millrace::fusion
