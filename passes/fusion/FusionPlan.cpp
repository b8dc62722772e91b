// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPlan.cpp - Which operations of a block share a kernel --------===//
#include "passes/fusion/FusionPlan.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Unpacking.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::fusion {
namespace {

struct GrowingCluster {
  SmallVector<Operation *> opsInReverse;
  ClusterSummary summary;
  Unpacking unpacking; ///< of its contraction
  unsigned position;   ///< of the root in the block

  void start(Operation *op) {
    opsInReverse.push_back(op);
    summary.start(op);
    unpacking = unpackingOf(op);
  }
  void add(Operation *op, const Domain &domain) {
    opsInReverse.push_back(op);
    summary.add(op, domain);
    if (classify(op) == OpRole::Contraction)
      unpacking = unpackingOf(op);
  }
};

class Planner {
public:
  explicit Planner(Block &block) : block(block) {
    unsigned position = 0;
    for (Operation &op : block)
      positions[&op] = position++;
  }

  FusionPlan run() {
    for (Operation &op : llvm::reverse(block))
      place(&op);
    FusionPlan plan;
    for (GrowingCluster &cluster : llvm::reverse(clusters)) {
      Cluster done;
      done.ops.assign(cluster.opsInReverse.rbegin(), cluster.opsInReverse.rend());
      // Views join behind operations that are before them.
      llvm::sort(done.ops, [&](Operation *a, Operation *b) { return positions.lookup(a) < positions.lookup(b); });
      plan.clusters.push_back(std::move(done));
    }
    plan.missed = std::move(missed);
    return plan;
  }

private:
  void place(Operation *op) {
    if (int cluster = clusterUnpacking(op); cluster >= 0) {
      clusters[cluster].opsInReverse.push_back(op);
      ++clusters[cluster].summary.numOps;
      clusters[cluster].summary.tiny = false;
      clusterOf[op] = cluster;
      return;
    }
    if (isView(op))
      return placeView(op);
    OpRole role = classify(op);
    if (role == OpRole::TopLevel || (role == OpRole::Duplicated && !neededAsBuffer(op)))
      return;
    int earliest = earliestConsumer(op);
    if (earliest >= 0) {
      GrowingCluster &cluster = clusters[earliest];
      StringRef why;
      SmallVector<Operation *> views;
      std::optional<Reading> reading = readingOf(op, earliest, views);
      if (isViewForOthers(op, earliest))
        why = "others read the same part where it lies";
      else if (llvm::all_of(op->getUsers(), [&](Operation *user) { return cluster.unpacking.contains(user); }))
        why = "operands of contractions are unpacked from memory";
      else if (isOverwrittenBefore(op, cluster.position))
        why = "what it reads is updated before the kernel runs";
      else if (!reading)
        why = "a reshape between both regroups the elements";
      else if (role != OpRole::Duplicated && shouldJoin(op, cluster.summary, *reading, why)) {
        for (Operation *view : views) {
          cluster.opsInReverse.push_back(view);
          clusterOf[view] = earliest;
        }
        cluster.add(op, reading->domain);
        clusterOf[op] = earliest;
        return;
      }
      missed.push_back({op, cluster.opsInReverse.front(), why.str()});
    }
    if (int twin = twinOf(op); twin >= 0) {
      clusters[twin].add(op, clusters[twin].summary.rootDomain());
      clusterOf[op] = twin;
      return;
    }
    clusterOf[op] = clusters.size();
    GrowingCluster &cluster = clusters.emplace_back();
    cluster.position = positions.lookup(op);
    cluster.start(op);
  }

  /// The kernel whose contraction unpacks what `op` computes; -1 if there is none.
  int clusterUnpacking(Operation *op) {
    auto it = op->hasOneUse() ? clusterOf.find(*op->user_begin()) : clusterOf.end();
    return it != clusterOf.end() && clusters[it->second].unpacking.contains(op) ? it->second : -1;
  }

  /// A reshape whose readers are all in one kernel can be computed there, if its operand is. Until then it is a step without work.
  void placeView(Operation *view) {
    int cluster = -1;
    for (Operation *user : view->getUsers()) {
      int of = clusterThatReads(user);
      if (of < 0 || user->getBlock() != &block || (cluster >= 0 && of != cluster))
        return;
      cluster = of;
    }
    if (cluster >= 0)
      viewOf[view] = cluster;
  }

  /// The kernel of `user`, or that which alone reads it if it is a reshape; -1 if there is none.
  int clusterThatReads(Operation *user) {
    if (auto it = clusterOf.find(user); it != clusterOf.end())
      return it->second;
    auto it = viewOf.find(user);
    return it == viewOf.end() ? -1 : it->second;
  }

  /// How the readers of `op` in a kernel read it, and the reshapes between that have to join it; none if a reshape is in the way.
  std::optional<Reading> readingOf(Operation *op, int index, SmallVectorImpl<Operation *> &views) {
    const GrowingCluster &cluster = clusters[index];
    Reading reading;
    SmallVector<Domain> domains;
    for (Operation *user : op->getUsers()) {
      if (auto it = clusterOf.find(user); it != clusterOf.end() && it->second == index) {
        reading.isFromMemory |= isFromMemory(op, user, cluster);
        auto known = cluster.summary.domainOf.find(user);
        domains.push_back(known == cluster.summary.domainOf.end() ? cluster.summary.rootDomain() : cluster.summary.domains[known->second]);
        continue;
      }
      auto it = viewOf.find(user);
      if (it == viewOf.end() || it->second != index)
        continue;
      reading.isThroughView = true;
      std::optional<Reading> inner = readingOf(user, index, views);
      std::optional<Domain> behind;
      if (inner)
        behind = cluster.summary.behind(cast<stablehlo::ReshapeOp>(user), inner->domain);
      if (!behind)
        return std::nullopt;
      reading.isFromMemory |= inner->isFromMemory;
      domains.push_back(*behind);
      if (!llvm::is_contained(views, user))
        views.push_back(user);
    }
    auto fits = llvm::find_if(domains, [&](const Domain &domain) { return domain.fits(cast<ShapedType>(op->getResult(0).getType()).getShape()); });
    reading.domain = fits != domains.end() ? *fits : domains.empty() ? cluster.summary.rootDomain() : domains.front();
    return reading;
  }

  static bool isFromMemory(Operation *op, Operation *user, const GrowingCluster &cluster) {
    if (user == cluster.summary.contraction)
      return true;
    // Zeros behind what a product adds up: it reads what they are added to.
    if (isa<stablehlo::PadOp>(user) && user->hasOneUse() && *user->user_begin() == cluster.summary.contraction)
      return true;
    if (!isa<stablehlo::GatherOp, stablehlo::SliceOp, stablehlo::DynamicSliceOp>(user))
      return false;
    return op->getResult(0) == user->getOperand(0) || op->getNumResults() > 1;
  }

  /// A slice of a whole range is no work by itself (lowering/program/Parts.cpp): in a kernel, a copy would be written for its other readers.
  bool isViewForOthers(Operation *op, int cluster) {
    return wholeRange(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
      return clusterThatReads(user) != cluster;
    });
  }

  /// Joining would keep `op`'s operand alive across an update that could else happen in its memory.
  bool isOverwrittenBefore(Operation *op, unsigned position) {
    if (!isa<stablehlo::GatherOp, stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))
      return false;
    Value read = op->getOperand(0);
    return llvm::any_of(read.getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      bool isUpdate = isa<stablehlo::DynamicUpdateSliceOp, stablehlo::ScatterOp>(user) && user->getOperand(0) == read;
      // Their regions are kernels already: a result of the array's type may be its next version.
      bool mayUpdate = here && isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(here) && llvm::is_contained(here->getResultTypes(), read.getType());
      return here && (mayUpdate || (isUpdate && here == user)) && positions.lookup(here) > positions.lookup(op) && positions.lookup(here) < position;
    });
  }

  /// Returns the kernel of another reduction of the same elements in memory that runs before this one's result is needed: they are read once.
  int twinOf(Operation *op) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    if (!reduce || reduce.getInputs().size() != 1 || !hasPlainNumbers(op))
      return -1;
    Value operand = reduce.getInputs()[0];
    Operation *source = operand.getDefiningOp();
    if (isa_and_nonnull<stablehlo::ReshapeOp>(source))
      source = source->getOperand(0).getDefiningOp();
    if (source && classify(source) != OpRole::TopLevel)
      return -1;
    unsigned needed = ~0u;
    for (Operation *user : op->getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      auto it = clusterOf.find(here);
      needed = std::min(needed, it != clusterOf.end() ? clusters[it->second].position : positions.lookup(here));
    }
    for (Operation *user : operand.getUsers()) {
      auto other = dyn_cast<stablehlo::ReduceOp>(user);
      auto it = other && other != reduce ? clusterOf.find(user) : clusterOf.end();
      if (it == clusterOf.end() || other.getInputs().size() != 1 || !hasPlainNumbers(user) || other.getDimensions() != reduce.getDimensions() ||
          other.getResult(0).getType() != reduce.getResult(0).getType())
        continue;
      const GrowingCluster &cluster = clusters[it->second];
      if (cluster.opsInReverse.front() == user && cluster.position < needed && !cluster.summary.closed)
        return it->second;
    }
    return -1;
  }

  /// A computed value that is normally cloned into its consumers, but has one that reads it from memory.
  bool neededAsBuffer(Operation *op) {
    if (isa<stablehlo::ConstantOp>(op))
      return false;
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return here && classify(here) == OpRole::TopLevel;
    });
  }

  /// The index of the cluster that uses a result of `op` first; -1 if the first user is in no cluster, or if a user
  /// sits in a nested region (then the value must exist before that operation runs).
  int earliestConsumer(Operation *op) {
    unsigned best = ~0u;
    int bestCluster = -1;
    for (Operation *user : op->getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!here)
        continue;
      int cluster = clusterThatReads(here);
      unsigned position = cluster >= 0 ? clusters[cluster].position : positions.lookup(here);
      if (position < best) {
        best = position;
        bestCluster = cluster;
      }
    }
    // A reshape for a later kernel that stays a step runs where it is.
    bool isNeededBefore = llvm::any_of(op->getUsers(), [&](Operation *user) {
      auto it = viewOf.find(user);
      return it != viewOf.end() && it->second != bestCluster && positions.lookup(user) < best;
    });
    return isNeededBefore ? -1 : bestCluster;
  }

  Block &block;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::DenseMap<Operation *, int> clusterOf;
  llvm::DenseMap<Operation *, int> viewOf; ///< reshapes that may join their only kernel
  SmallVector<GrowingCluster, 0> clusters;
  std::vector<MissedFusion> missed;
};

} // namespace

FusionPlan planFusion(Block &block) { return Planner(block).run(); }

} // namespace millrace::fusion
