// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionPattern.cpp - Find softmax(q k^T) v in a block ------------===//
// Input:   %s = dot_general %q, %k ; … scale, mask, maximum of each row, exponential, sum, division … ; %o = dot_general %p, %v
// Output:  these operations as one cluster: the scores never exist in memory (lowering/cpu/emitters/attention/AttentionEmitter.cpp).
//          Operations on q, k and v (transposes, broadcasts over heads, scales) join, because all three are packed anyway.
// Leaves alone scores with other users, few rows (which are bound by reading the keys), products of which the second does not contract the first
// one's columns, operations between them without an exponential.
//===----------------------------------------------------------------------===//
#include "passes/fusion/attention/AttentionPattern.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
using namespace attention;

namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// For each dimension of a tensor, the dimension of the scores along which it runs.
using Labels = SmallVector<int64_t>;
/// Fact: a mark instead of a dimension's number: the dimension has size 1.
constexpr int64_t kOne = -1;
/// Fact: a mark instead of a dimension's number: the value is the same everywhere.
constexpr int64_t kFree = -2;
/// Fact: numbers from here on are dimensions of the batch that were joined or split; no tensor has so many dimensions.
constexpr int64_t kJoined = 1000;

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
      labels.clear();
      bool isLhs = operand == last.getLhs();
      auto dims = isLhs ? last.getDotDimensionNumbers().getLhsContractingDimensions() : last.getDotDimensionNumbers().getRhsContractingDimensions();
      if (dims.size() != 1 || !operand.getDefiningOp())
        continue;
      weights = operand;
      values = isLhs ? last.getRhs() : last.getLhs();
      keyDimension = dims[0];
      if (dependsOnScores(operand.getDefiningOp()) && scores && !hasSecondScores && collect() && isConsistent())
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
    if (!hasVectorizableTypes(scores) || !hasVectorizableTypes(last) || visited.size() > kMaxAttentionOps || !sumsIn(scores) || sumsIn(scores) != sumsIn(last))
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

  /// Every value between the products has the dimensions of the scores in a known order, and the second product sums over one that
  /// only the keys have.
  bool isConsistent() {
    if (scores.getDotDimensionNumbers().getLhsContractingDimensions().size() != 1)
      return false;
    SmallVector<Operation *> order(members.begin(), members.end());
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    Labels own;
    for (auto [dim, size] : llvm::enumerate(shapeOf(scores.getResult())))
      own.push_back(size == 1 ? kOne : int64_t(dim));
    labels[scores.getResult()] = own;
    for (Operation *op : order)
      if (op != scores && op != last && !label(op))
        return false;
    key = labels[weights][keyDimension];
    if (key < 0 || key >= kJoined)
      return false;
    for (Operation *op : order)
      if (auto reduce = dyn_cast<ReduceOp>(op))
        for (int64_t dim : reduce.getDimensions())
          if (int64_t along = labels[reduce.getInputs().front()][dim]; along != key)
            return false;
    return isWorthwhile();
  }

  /// Records which dimensions of the scores the dimensions of the operation's result are. Returns false if they are others.
  bool label(Operation *op) {
    Labels found;
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      for (int64_t dim : transpose.getPermutation())
        found.push_back(labels[transpose.getOperand()][dim]);
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      if (!labelReshape(labels[reshape.getOperand()], shapeOf(reshape.getOperand()), shapeOf(reshape.getResult()), found))
        return false;
    } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      for (int64_t size : shapeOf(broadcast.getResult()))
        found.push_back(size == 1 ? kOne : kFree);
      for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        if (int64_t l = labels[broadcast.getOperand()][from]; l != kOne)
          found[to] = l;
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (reduce.getInputs().size() != 1 || reduce.getDimensions().size() != 1 || !isPlainReduction(reduce))
        return false;
      for (auto [dim, l] : llvm::enumerate(labels[reduce.getInputs().front()]))
        if ((int64_t)dim != reduce.getDimensions()[0])
          found.push_back(l);
    } else {
      for (Value operand : op->getOperands()) {
        auto it = labels.find(operand);
        if (it == labels.end() || it->second.empty())
          continue;
        if (found.empty())
          found = it->second;
        for (auto [mine, other] : llvm::zip(found, it->second)) {
          if (mine == kFree)
            mine = other;
          else if (other != kFree && other != mine)
            return false;
        }
      }
    }
    labels[op->getResult(0)] = found;
    return true;
  }

  /// Reshapes may add and drop unit dimensions and merge and split batch dimensions: each merged or split dimension has a label of its own.
  bool labelReshape(const Labels &labels, ArrayRef<int64_t> from, ArrayRef<int64_t> to, Labels &found) {
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      if (j < to.size() && to[j] == 1) {
        found.push_back(kOne);
        ++j;
        continue;
      }
      if (i < from.size() && from[i] == 1) {
        ++i;
        continue;
      }
      if (i == from.size() || j == to.size())
        return false;
      if (from[i] == to[j]) {
        found.push_back(labels[i++]);
        ++j;
        continue;
      }
      // A group of dimensions with one product on both sides.
      Labels joined{labels[i]};
      int64_t before = from[i++], after = to[j], first = j++;
      while (before != after) {
        if (before < after ? i == from.size() : j == to.size())
          return false;
        if (before < after) {
          joined.push_back(labels[i]);
          before *= from[i++];
        } else {
          after *= to[j++];
        }
      }
      int64_t batch = scores.getDotDimensionNumbers().getLhsBatchingDimensions().size();
      if (llvm::any_of(joined, [&](int64_t l) { return l == kFree || (l >= batch && l < kJoined); }))
        return false;
      for (; first < (int64_t)j; ++first) {
        joined.push_back(to[first]);
        found.push_back(to[first] == 1 ? kOne : kJoined + int64_t(joins.insert({joined, joins.size()}).first->second));
      }
    }
    return true;
  }

  /// Returns true if the combiner is one operation with a known neutral element.
  static bool isPlainReduction(ReduceOp reduce) {
    Block &body = reduce.getBody().front();
    return llvm::hasSingleElement(body.without_terminator()) && isa<AddOp, MaxOp, MinOp, MulOp>(body.front());
  }

  /// Returns true if the keys are the left operand of the first contraction.
  bool isKeysLeft() {
    return key < int64_t(shapeOf(scores.getLhs()).size()) - 1; // of batch and its own dimensions
  }

  bool isWorthwhile() {
    // The key's dimension in the result of the first product: batch, left, right.
    int64_t batch = scores.getDotDimensionNumbers().getLhsBatchingDimensions().size();
    int64_t leftFree = shapeOf(scores.getLhs()).size() - batch - 1;
    if (key < batch)
      return false;
    bool keysLeft = isKeysLeft();
    Value keys = keysLeft ? scores.getLhs() : scores.getRhs();
    int64_t depth = shapeOf(keys)[keysLeft ? scores.getDotDimensionNumbers().getLhsContractingDimensions()[0] : scores.getDotDimensionNumbers().getRhsContractingDimensions()[0]];
    // Rows: dimensions that neither keys nor values have.
    bool weightsLeft = weights == last.getLhs();
    auto lastBatch = weightsLeft ? last.getDotDimensionNumbers().getLhsBatchingDimensions() : last.getDotDimensionNumbers().getRhsBatchingDimensions();
    int64_t rows = 1;
    for (auto [dim, l] : llvm::enumerate(labels[weights])) {
      if (l < 0 || l >= kJoined || l == key || llvm::is_contained(lastBatch, (int64_t)dim) || l < batch)
        continue;
      bool inKeys = keysLeft ? l < batch + leftFree : l >= batch + leftFree;
      if (!inKeys)
        rows *= shapeOf(weights)[dim];
    }
    // The values have one dimension that is neither batch nor contracted.
    int64_t width = 1, widths = 0;
    auto valueBatch = weightsLeft ? last.getDotDimensionNumbers().getRhsBatchingDimensions() : last.getDotDimensionNumbers().getLhsBatchingDimensions();
    int64_t summed = weightsLeft ? last.getDotDimensionNumbers().getRhsContractingDimensions()[0] : last.getDotDimensionNumbers().getLhsContractingDimensions()[0];
    for (auto [dim, size] : llvm::enumerate(shapeOf(values)))
      if ((int64_t)dim != summed && !llvm::is_contained(valueBatch, (int64_t)dim) && size != 1) {
        width = size;
        ++widths;
      }
    return rows >= kMinQueryRows && shapeOf(scores.getResult())[key] >= kMinKeys && depth > 1 && depth <= kMaxHeadElements && widths == 1 &&
           width <= kMaxHeadElements;
  }

  /// Adds transposes, broadcasts over heads and scales of q, k and v, which become part of packing. The dimensions along which they are packed stay
  /// undivided.
  void absorbOperands() {
    bool keysLeft = isKeysLeft();
    auto first = scores.getDotDimensionNumbers(), second = last.getDotDimensionNumbers();
    bool valuesLeft = values == last.getLhs();
    auto keyOf = [&](bool left) {
      // The one dimension of the keys that is neither batch nor summed up and that becomes `key`.
      int64_t batch = first.getLhsBatchingDimensions().size(), at = batch;
      if (!left)
        at += shapeOf(scores.getLhs()).size() - batch - 1;
      ArrayRef<int64_t> batchDims = left ? first.getLhsBatchingDimensions() : first.getRhsBatchingDimensions();
      int64_t summed = (left ? first.getLhsContractingDimensions() : first.getRhsContractingDimensions())[0];
      for (int64_t dim = 0, rank = shapeOf(left ? scores.getLhs() : scores.getRhs()).size(); dim < rank; ++dim)
        if (dim != summed && !llvm::is_contained(batchDims, dim) && at++ == key)
          return dim;
      return int64_t(-1);
    };
    for (bool left : {true, false}) {
      SmallVector<int64_t> whole{(left ? first.getLhsContractingDimensions() : first.getRhsContractingDimensions())[0]};
      if (left == keysLeft)
        whole.push_back(keyOf(left));
      absorb(scores->getOpOperand(left ? 0 : 1), whole);
    }
    SmallVector<int64_t> whole{(valuesLeft ? second.getLhsContractingDimensions() : second.getRhsContractingDimensions())[0]};
    ArrayRef<int64_t> batchDims = valuesLeft ? second.getLhsBatchingDimensions() : second.getRhsBatchingDimensions();
    for (auto [dim, size] : llvm::enumerate(shapeOf(values)))
      if (size != 1 && (int64_t)dim != whole[0] && !llvm::is_contained(batchDims, (int64_t)dim))
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
          auto found = llvm::find(broadcast.getBroadcastDimensions(), dim);
          isKept &= found != broadcast.getBroadcastDimensions().end();
          dim = found - broadcast.getBroadcastDimensions().begin();
          isKept = isKept && shapeOf(broadcast.getOperand())[dim] == shapeOf(op->getResult(0))[*found];
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
  int64_t keyDimension = 0, key = kOne;
  bool hasSecondScores = false, hasRowResults = false;
  llvm::MapVector<Operation *, bool> visited;
  Members members;
  Copies copies;
  DenseMap<Value, Labels> labels;
  std::map<Labels, size_t> joins;
};

} // namespace

std::vector<Cluster> findAttention(Block &block, const KernelCheck &isAttention) {
  std::vector<Cluster> found;
  llvm::DenseSet<Operation *> taken;
  // This comes first: afterwards only the forward passes need their scores.
  findGradients(block, isAttention, found, taken);
  for (auto dot : llvm::make_early_inc_range(block.getOps<DotGeneralOp>())) {
    Matcher matcher(dot, taken);
    if (taken.contains(dot) || !matcher.match())
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
