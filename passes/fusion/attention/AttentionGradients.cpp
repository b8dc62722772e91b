// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionGradients.cpp - Find the backward pass of softmax(q k^T) v -===//
// Input:   %s = dot_general %q, %k ; … %p … ; %o = dot_general %p, %v ; … %g, the gradient of %o …
//          %dp = dot_general %g, %v ; … %ds from %dp and %p … ; %dv, %dk = dot_general of %p and %g, of %ds and %q (over the rows) ;
//          %dq = dot_general %ds, %k
// Output:  %s, %dp, the operations between, and the products that depend on them as one cluster before the first user of its results: no value with
//          the shape of the scores exists in memory. Operations that the forward pass needs, too (%s to %p), are cloned: computing weights again for
//          a tile of rows costs less than storing and loading all of them.
// Leaves alone scores with other uses (a gradient of their bias), a batch of few heads (a head is one thread's work, because its rows are summed in
// order), chains without an exponential.
//===----------------------------------------------------------------------===//
#include "passes/fusion/attention/AttentionPattern.h"

#include "passes/fusion/plan/FusionPolicy.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion::attention {
namespace {

/// A cluster with more operations is not looked at as the backward pass of attention. Unit: operations. Source: judgement, not measured alone; commit
/// a1f431d has the figures of the whole change.
constexpr unsigned kMaxGradientOps = 160;
/// Fewer are too few units for threads, because a unit of the backward pass is a whole head (its sums over rows grow row by row). Unit: heads times
/// batch. Source: judgement, not measured alone; commit a1f431d has the figures of the whole change.
constexpr int64_t kMinHeadsOfGradients = 4;

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

class GradientMatcher {
public:
  GradientMatcher(DotGeneralOp product, const llvm::DenseSet<Operation *> &taken)
      : first(product), block(*product->getBlock()), taken(taken) {}

  /// Returns the cluster, moved to its place; none, and the block is unchanged, if there is no backward pass.
  std::optional<Cluster> find(const KernelCheck &isAttention) {
    if (!hasVectorizableTypes(first))
      return std::nullopt;
    for (Value weights : {first.getLhs(), first.getRhs()}) {
      reached.clear();
      sources.clear();
      products.clear();
      hasOtherSources = false;
      elements = elementsOf(weights);
      Operation *from = weights.getDefiningOp();
      if (!from || isa<DotGeneralOp>(from) || reach(from) != 3 || !isWorthwhile() || !collect())
        continue;
      if (std::optional<Cluster> cluster = build(isAttention))
        return cluster;
      copies.undo();
    }
    return std::nullopt;
  }

  /// Operations of the block that are not needed any more.
  llvm::DenseSet<Operation *> erased;

private:
  /// Returns, as bits, on which of the two contractions with the shape of the scores the operation depends.
  unsigned reach(Operation *op) {
    if (!op || op->getBlock() != &block)
      return 0;
    if (auto it = reached.find(op); it != reached.end())
      return it->second;
    if (reached.size() > kMaxGradientOps)
      return 0;
    reached[op] = 0;
    if (!hasVectorizableTypes(op) || taken.contains(op))
      return 0;
    if (auto dot = dyn_cast<DotGeneralOp>(op)) {
      if (elementsOf(dot.getResult()) != elements || dot == first)
        return 0;
      hasOtherSources |= sources.size() == 2;
      if (sources.size() == 2)
        return 0;
      sources.push_back(dot);
      return reached[op] = 1u << (sources.size() - 1);
    }
    if (!isRowOperation(op))
      return 0;
    unsigned bits = 0;
    for (Value operand : op->getOperands())
      bits |= reach(operand.getDefiningOp());
    return reached[op] = bits;
  }

  bool isWorthwhile() const {
    return !hasOtherSources && reached.size() <= kMaxGradientOps && llvm::all_of(sources, [&](DotGeneralOp dot) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(dot.getLhs().getType()).getShape();
      int64_t heads = 1;
      for (int64_t dim : dot.getDotDimensionNumbers().getLhsBatchingDimensions())
        heads *= shape[dim];
      return heads >= kMinHeadsOfGradients && haveTiles(dot, first);
    });
  }

  bool isMember(Operation *op) const {
    auto it = reached.find(op);
    return it != reached.end() && it->second;
  }

  /// Collects the operations on the scores and the contractions of their results. Returns false if other operations need a result that a copy cannot
  /// provide.
  bool collect() {
    // Operations between the weights and other contractions join, too: dropout, conversions.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto [op, bits] : SmallVector<std::pair<Operation *, unsigned>>(reached.begin(), reached.end()))
        for (Operation *user : op->getUsers())
          if (bits && !reached.count(user) && user->getBlock() == &block && isRowOperation(user) && hasVectorizableTypes(user) &&
              elementsOf(user->getResult(0)) == elements)
            changed |= reach(user) != 0;
    }
    if (!isWorthwhile())
      return false;
    bool hasExponential = false;
    SmallVector<DotGeneralOp> candidates;
    Operation *earliest = sources.front();
    for (auto [op, bits] : reached) {
      if (!bits)
        continue;
      hasExponential |= isa<ExpOp>(op);
      if (op->isBeforeInBlock(earliest))
        earliest = op;
      for (Operation *user : op->getUsers())
        if (auto dot = dyn_cast<DotGeneralOp>(user); dot && isProduct(dot) && !llvm::is_contained(candidates, dot))
          candidates.push_back(dot);
    }
    if (!hasExponential)
      return false;
    // The forward pass: gradients depend on its result.
    llvm::DenseSet<Operation *> before = ancestors(candidates, earliest);
    for (DotGeneralOp dot : candidates)
      if (!before.contains(dot))
        products.push_back(dot);
    shared = 0;
    for (auto [op, bits] : reached) {
      if (!bits)
        continue;
      if (bits == 3 && before.contains(op))
        return false;
      for (Operation *user : op->getUsers()) {
        if (isMember(user) || llvm::is_contained(products, user))
          continue;
        if (bits == 3 || (shared && shared != bits) || (!isa<DotGeneralOp>(user) && elementsOf(op->getResult(0)) == elements))
          return false;
        shared = bits;
      }
    }
    return llvm::is_contained(products, first);
  }

  /// Returns true for a contraction of a member's result with another value.
  bool isProduct(DotGeneralOp dot) const {
    Operation *left = dot.getLhs().getDefiningOp(), *right = dot.getRhs().getDefiningOp();
    return dot->getBlock() == &block && !isMember(dot) && !taken.contains(dot) && hasVectorizableTypes(dot) && sumsIn(dot) == sumsIn(first) &&
           (left && isMember(left)) != (right && isMember(right));
  }

  /// Returns the operations outside on which operands depend, as far as they may depend on members.
  llvm::DenseSet<Operation *> ancestors(ArrayRef<DotGeneralOp> candidates, Operation *earliest) {
    llvm::DenseSet<Operation *> found;
    SmallVector<Operation *> list;
    auto visit = [&](Value value) {
      Operation *def = value.getDefiningOp(), *here = def ? block.findAncestorOpInBlock(*def) : nullptr;
      if (here && !here->isBeforeInBlock(earliest) && found.insert(here).second)
        list.push_back(here);
    };
    auto visitOutside = [&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp(); !def || !isMember(def))
          visit(operand);
    };
    for (auto [op, bits] : reached)
      if (bits)
        visitOutside(op);
    for (DotGeneralOp dot : candidates)
      visitOutside(dot);
    while (!list.empty())
      list.pop_back_val()->walk([&](Operation *op) { llvm::for_each(op->getOperands(), visit); });
    return found;
  }

  std::optional<Cluster> build(const KernelCheck &isAttention) {
    Members members;
    SmallVector<Operation *> order;
    for (auto [op, bits] : reached)
      if (bits)
        order.push_back(op);
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    IRMapping mapping;
    for (Operation *op : order) {
      if (reached[op] != shared) {
        members.insert(op);
        continue;
      }
      OpBuilder builder(op);
      Operation *copy = copies.make(op, builder);
      for (OpOperand &operand : copy->getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
      mapping.map(op->getResults(), copy->getResults());
      members.insert(copy);
    }
    members.insert(products.begin(), products.end());
    for (Operation *op : members)
      for (OpOperand &operand : op->getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
    SmallVector<Operation *> dots(products.begin(), products.end());
    for (DotGeneralOp source : sources)
      dots.push_back(mapping.contains(source.getResult()) ? mapping.lookup(source.getResult()).getDefiningOp() : source.getOperation());
    joinMasks(members, [](Operation *op) { return isa<DotGeneralOp>(op); }, copies, kMaxGradientOps);
    for (Operation *dot : dots)
      for (OpOperand &operand : dot->getOpOperands())
        joinViews(members, operand);
    for (Operation *product : products)
      joinFollowers(members, product);
    // One place for all: before the first user of a result, after all operands.
    Operation *place = nullptr, *last = nullptr;
    for (Operation *op : members) {
      for (Operation *user : op->getUsers())
        if (Operation *here = block.findAncestorOpInBlock(*user); !members.contains(here) && (!place || here->isBeforeInBlock(place)))
          place = here;
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block && !members.contains(def) && (!last || last->isBeforeInBlock(def)))
          last = def;
    }
    if (!place || (last && !last->isBeforeInBlock(place)))
      return std::nullopt;
    std::optional<Cluster> cluster = checkedCluster(members, isAttention);
    if (!cluster)
      return std::nullopt;
    for (Operation *op : cluster->ops)
      op->moveBefore(place);
    // Operations that only the backward pass needs move; users in the forward pass would keep its scores alive.
    for (Operation *op : llvm::reverse(order))
      if (!members.contains(op) && isOpTriviallyDead(op)) {
        erased.insert(op);
        op->erase();
      }
    return cluster;
  }

  /// Adds transposes of operands that are packed: packing reads the operand of the transpose.
  void joinViews(Members &members, OpOperand &use) {
    SmallVector<Operation *> path;
    size_t worthwhile = 0;
    for (Operation *op = use.get().getDefiningOp(); op && isa<TransposeOp, ReshapeOp>(op); op = op->getOperand(0).getDefiningOp()) {
      if (op->getBlock() != &block || !hasVectorizableTypes(op) || members.contains(op) || taken.contains(op) || path.size() > 8)
        break;
      path.push_back(op);
      if (isa<TransposeOp>(op))
        worthwhile = path.size();
    }
    path.resize(worthwhile);
    OpBuilder builder(use.getOwner());
    Value value;
    for (Operation *op : llvm::reverse(path)) {
      Operation *copy = copies.make(op, builder);
      if (value)
        copy->setOperand(0, value);
      value = copy->getResult(0);
      members.insert(copy);
    }
    if (value)
      use.set(value);
  }

  DotGeneralOp first;
  Block &block;
  const llvm::DenseSet<Operation *> &taken;
  int64_t elements = 0; ///< of the scores
  llvm::MapVector<Operation *, unsigned> reached;
  SmallVector<DotGeneralOp> sources, products;
  bool hasOtherSources = false;
  unsigned shared = 0; ///< bits of the members that the forward pass needs, too
  Copies copies;
};

} // namespace

void findGradients(Block &block, const KernelCheck &isAttention, std::vector<Cluster> &found, llvm::DenseSet<Operation *> &taken) {
  SmallVector<DotGeneralOp> dots(block.getOps<DotGeneralOp>());
  llvm::DenseSet<Operation *> erased;
  for (DotGeneralOp dot : dots) {
    if (taken.contains(dot) || erased.contains(dot))
      continue;
    GradientMatcher matcher(dot, taken);
    if (std::optional<Cluster> cluster = matcher.find(isAttention)) {
      erased.insert(matcher.erased.begin(), matcher.erased.end());
      taken.insert(cluster->ops.begin(), cluster->ops.end());
      found.push_back(std::move(*cluster));
    }
  }
}

} // namespace millrace::fusion::attention
