// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionPattern.cpp - Find softmax(q k^T) v in a block ------------===//
// Input:   %s = dot_general %q, %k ; … scale, mask, maximum of each row, exponential, sum, division … ; %o = dot_general %p, %v
// Output:  these operations as one cluster: the scores never exist in memory (lowering/cpu/emitters/attention/AttentionEmitter.cpp).
//          Operations on q, k and v (transposes, broadcasts over heads, scales) join, because all three are packed anyway.
// Leaves alone scores with other users, few rows (which are bound by reading the keys), operations between the products without an exponential, and
// all that the emitter does not support: it knows how the indices of the products and of what is between them belong together.
//===----------------------------------------------------------------------===//
#include "passes/fusion/attention/AttentionPattern.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPolicy.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
using namespace attention;

namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

class Matcher {
public:
  /// `taken`: operations of other clusters.
  Matcher(DotGeneralOp last, const llvm::DenseSet<Operation *> &taken) : last(last), taken(taken) {}

  /// Finds the operations. Returns false if they are no attention.
  bool match() {
    for (Value operand : {last.getLhs(), last.getRhs()}) {
      scores = nullptr;
      hasSecondScores = false;
      visited.clear();
      bool isLhs = operand == last.getLhs();
      auto dims = isLhs ? last.getDotDimensionNumbers().getLhsContractingDimensions() : last.getDotDimensionNumbers().getRhsContractingDimensions();
      if (dims.size() != 1 || !operand.getDefiningOp())
        continue;
      weights = operand;
      values = isLhs ? last.getRhs() : last.getLhs();
      keyDimension = dims[0];
      if (dependsOnScores(operand.getDefiningOp()) && scores && !hasSecondScores && collect() && isWorthwhile())
        return true;
    }
    return false;
  }

  /// Returns the operations in block order; none, and the block is unchanged, if they do not pass the check.
  std::optional<Cluster> cluster(const KernelCheck &isAttention) {
    joinMasks(members, [&](Operation *op) { return op == scores || op == last; }, copies, kMaxAttentionOps);
    absorbOperands();
    if (!hasRowResults) // they are used behind `last`, but not behind what follows it
      joinFollowers(members, last);
    std::optional<Cluster> result = checkedCluster(members, isAttention);
    if (!result)
      copies.undo();
    return result;
  }

private:
  bool dependsOnScores(Operation *op) {
    if (!op || op->getBlock() != last->getBlock())
      return false;
    if (auto it = visited.find(op); it != visited.end())
      return it->second;
    if (visited.size() > kMaxAttentionOps)
      return false;
    if (auto dot = dyn_cast<DotGeneralOp>(op)) {
      bool isScores = elementsOf(dot.getResult()) == elementsOf(weights);
      hasSecondScores |= isScores && scores;
      if (isScores)
        scores = dot;
      return visited[op] = isScores;
    }
    visited[op] = false;
    if (!isRowOperation(op) || !hasVectorizableTypes(op))
      return false;
    bool depends = false;
    for (Value operand : op->getOperands())
      depends |= dependsOnScores(operand.getDefiningOp());
    return visited[op] = depends;
  }

  /// Collects the operations between the products, with masks that only they or other attention uses.
  bool collect() {
    members.clear();
    hasRowResults = false;
    bool hasExponential = false;
    for (auto [op, depends] : visited)
      if (depends)
        members.insert(op);
    members.insert(last);
    if (!hasVectorizableTypes(scores) || visited.size() > kMaxAttentionOps)
      return false;
    for (Operation *op : members) {
      hasExponential |= isa<ExpOp>(op);
      for (Operation *user : op->getUsers()) {
        if (op == last || members.contains(user))
          continue;
        // A value per row, such as the sum for a backward pass, becomes a further result if it has users after the last contraction.
        Operation *here = last->getBlock()->findAncestorOpInBlock(*user);
        if (elementsOf(op->getResult(0)) * shapeOf(weights)[keyDimension] != elementsOf(weights) || !here || !last->isBeforeInBlock(here))
          return false;
        hasRowResults = true;
      }
    }
    return hasExponential;
  }

  /// Finds the dimension of the keys. Returns false if there is none, or if the kernel would not pay. Whether the emitter supports the operations
  /// between the products is its own question, which the check asks.
  bool isWorthwhile() {
    key = inScores(weights, keyDimension);
    // Rows that are reduced together would be one thread's work.
    for (Operation *op : members)
      if (auto reduce = dyn_cast<ReduceOp>(op))
        for (int64_t dim : reduce.getDimensions())
          if (inScores(reduce.getInputs().front(), dim) != key)
            return false;
    int64_t batch = scores.getDotDimensionNumbers().getLhsBatchingDimensions().size();
    bool isLhs = weights == last.getLhs();
    return key >= batch && scores.getDotDimensionNumbers().getLhsContractingDimensions().size() == 1 && haveTiles(scores, last) &&
           freeElements(last, isLhs) >= kMinQueryRows && freeElements(last, !isLhs) <= kMaxHeadElements;
  }

  /// Returns the dimension of the scores that is dimension `dim` of `value`; -1 if `value` has not the elements of the scores, or if a reshape has
  /// regrouped the dimension.
  int64_t inScores(Value value, int64_t dim) const {
    llvm::SmallDenseSet<Operation *> seen;
    return inScores(value, dim, seen);
  }

  /// The same without the operations in `seen`, from which there is no way to the scores.
  int64_t inScores(Value value, int64_t dim, llvm::SmallDenseSet<Operation *> &seen) const {
    Operation *op = value.getDefiningOp();
    if (op == scores)
      return dim;
    if (!visited.lookup(op) || elementsOf(value) != elementsOf(weights) || isa<ReduceOp>(op) || !seen.insert(op).second)
      return -1;
    if (auto transpose = dyn_cast<TransposeOp>(op))
      dim = transpose.getPermutation()[dim];
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      dim = wholeBefore(shapeOf(reshape.getOperand()), shapeOf(value), dim);
    else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
      dim = placeIn(broadcast.getBroadcastDimensions(), dim);
    if (dim < 0)
      return -1;
    for (Value operand : op->getOperands())
      if (int64_t found = inScores(operand, dim, seen); found >= 0)
        return found;
    return -1;
  }

  /// Adds transposes, broadcasts over heads and scales of q, k and v, which become part of packing. The dimensions along which they are packed stay
  /// undivided.
  void absorbOperands() {
    auto contracted = [](DotGeneralOp dot, bool isLhs) {
      DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
      return (isLhs ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions())[0];
    };
    // The dimensions of the scores: the batch, what is left of the first operand, what is left of the second one.
    int64_t at = key - scores.getDotDimensionNumbers().getLhsBatchingDimensions().size(), leftDims = freeDimensions(scores, true).size();
    for (bool isLhs : {true, false}) {
      SmallVector<int64_t> whole{contracted(scores, isLhs)};
      if (isLhs == (at < leftDims))
        whole.push_back(freeDimensions(scores, isLhs)[isLhs ? at : at - leftDims]);
      absorb(scores->getOpOperand(isLhs ? 0 : 1), whole);
    }
    bool valuesLeft = values == last.getLhs();
    SmallVector<int64_t> whole{contracted(last, valuesLeft)};
    for (int64_t dim : freeDimensions(last, valuesLeft))
      if (shapeOf(values)[dim] != 1)
        whole.push_back(dim);
    absorb(last->getOpOperand(valuesLeft ? 0 : 1), whole);
  }

  void absorb(OpOperand &use, SmallVector<int64_t> whole) {
    SmallVector<Operation *> path;
    size_t worthwhile = 0;
    OpOperand *at = &use;
    while (Operation *op = at->get().getDefiningOp()) {
      if (op->getBlock() != last->getBlock() || !op->hasOneUse() || !hasVectorizableTypes(op) || members.contains(op) || taken.contains(op) ||
          path.size() > 8)
        break;
      bool isKept = true;
      unsigned next = 0;
      if (auto transpose = dyn_cast<TransposeOp>(op)) {
        for (int64_t &dim : whole)
          dim = transpose.getPermutation()[dim];
      } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        for (int64_t &dim : whole)
          isKept &= (dim = wholeBefore(shapeOf(reshape.getOperand()), shapeOf(reshape.getResult()), dim)) >= 0;
      } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
        for (int64_t &dim : whole) {
          int64_t from = placeIn(broadcast.getBroadcastDimensions(), dim);
          isKept = isKept && from >= 0 && shapeOf(broadcast.getOperand())[from] == shapeOf(op->getResult(0))[dim];
          dim = from;
        }
      } else if (isa<MulOp, DivOp>(op)) {
        // A multiplication with a scalar.
        isKept = isSplat(op->getOperand(1)) || (isa<MulOp>(op) && isSplat(op->getOperand(0)));
        next = isSplat(op->getOperand(1)) ? 0 : 1;
      } else if (auto convert = dyn_cast<ConvertOp>(op)) {
        // A conversion of bf16 or f16 to f32: packing reads half of the bytes.
        Type from = cast<RankedTensorType>(convert.getOperand().getType()).getElementType();
        isKept = (from.isBF16() || from.isF16()) && cast<RankedTensorType>(convert.getType()).getElementType().isF32();
      } else {
        isKept = false;
      }
      if (!isKept)
        break;
      path.push_back(op);
      if (!isa<ReshapeOp>(op))
        worthwhile = path.size();
      at = &op->getOpOperand(next);
    }
    path.resize(worthwhile);
    for (Operation *op : path) {
      members.insert(op);
      if (isa<MulOp, DivOp>(op))
        for (OpOperand &operand : op->getOpOperands())
          if (auto number = operand.get().getDefiningOp<BroadcastInDimOp>(); number && isSplat(number) && classify(number) != OpRole::Duplicated) {
            OpBuilder builder(op);
            Operation *copy = number->hasOneUse() ? number.getOperation() : copies.make(number, builder);
            operand.set(copy->getResult(0));
            members.insert(copy);
          }
    }
  }

  /// Returns the place of `dim` in `dims`; -1 if it is not there.
  static int64_t placeIn(ArrayRef<int64_t> dims, int64_t dim) {
    const auto *found = llvm::find(dims, dim);
    return found == dims.end() ? -1 : found - dims.begin();
  }

  /// Returns the dimension of `from` that is dimension `dim` of `to`; -1 if there is none.
  static int64_t wholeBefore(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dim) {
    if (dim < 0)
      return -1;
    int64_t behind = 1, product = 1;
    for (int64_t size : to.drop_front(dim + 1))
      behind *= size;
    for (int64_t d = from.size() - 1; d >= 0; --d) {
      if (product == behind && from[d] == to[dim])
        return d;
      product *= from[d];
    }
    return -1;
  }

  DotGeneralOp last, scores;
  const llvm::DenseSet<Operation *> &taken;
  Value weights, values;
  int64_t keyDimension = 0, key = -1; ///< the index of the keys, in the weights and in the scores
  bool hasSecondScores = false, hasRowResults = false;
  llvm::MapVector<Operation *, bool> visited;
  Members members;
  Copies copies;
};

} // namespace

std::vector<Cluster> findAttention(Block &block, const KernelCheck &isAttention) {
  std::vector<Cluster> found;
  llvm::DenseSet<Operation *> taken;
  // This comes first: afterwards only the forward passes need their scores.
  findGradients(block, isAttention, found, taken);
  for (auto dot : llvm::make_early_inc_range(block.getOps<DotGeneralOp>())) {
    Matcher matcher(dot, taken);
    if (taken.contains(dot) || !hasVectorizableTypes(dot) || !matcher.match())
      continue;
    std::optional<Cluster> cluster = matcher.cluster(isAttention);
    if (!cluster)
      continue;
    taken.insert(cluster->ops.begin(), cluster->ops.end());
    found.push_back(std::move(*cluster));
  }
  return found;
}

} // namespace millrace::fusion
