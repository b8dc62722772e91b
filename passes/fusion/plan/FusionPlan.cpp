// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPlan.cpp - Which operations of a block share a kernel --------===//
#include "passes/fusion/plan/FusionPlan.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/plan/Unpacking.h"

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
    int earliest = firstNeed(op).cluster;
    if (earliest >= 0) {
      GrowingCluster &cluster = clusters[earliest];
      StringRef why;
      SmallVector<Operation *> views;
      std::optional<Reading> reading = readingOf(op, earliest, views);
      if (isViewForOthers(op, earliest))
        why = "other kernels read the same slice as an alias";
      else if (llvm::all_of(op->getUsers(), [&](Operation *user) { return cluster.unpacking.contains(user); }))
        why = "operands of contractions are unpacked from memory";
      else if (isOverwrittenBefore(op, cluster.position))
        why = "its operand is updated before the kernel runs";
      else if (!reading)
        why = "a reshape between them has no common refinement with the kernel's iteration space";
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

  /// Returns the kernel whose contraction unpacks the result of `op`; -1 if there is none.
  int clusterUnpacking(Operation *op) {
    auto it = op->hasOneUse() ? clusterOf.find(*op->user_begin()) : clusterOf.end();
    return it != clusterOf.end() && clusters[it->second].unpacking.contains(op) ? it->second : -1;
  }

  /// A reshape joins the kernel that reads it first if its operand does. Otherwise it is an alias, which the program makes where its result is first
  /// needed. The outliner gives readers in other kernels a copy of the reshape, so that kernels return its operand only.
  void placeView(Operation *view) { needOf[view] = firstNeed(view); }

  /// The first reader of a value: its kernel, -1 if it is in none, and its position in the block.
  struct Need {
    int cluster = -1;
    unsigned position = ~0u;
  };

  /// Returns where `user`, an operation of the block, needs its operands. A reshape needs its operand where its own readers do.
  Need needBy(Operation *user) {
    if (auto it = clusterOf.find(user); it != clusterOf.end())
      return {it->second, clusters[it->second].position};
    auto it = needOf.find(user);
    return it != needOf.end() ? it->second : Need{-1, positions.lookup(user)};
  }

  /// Returns where the results of `op` are first needed. The kernel is -1 if the first user is in a nested region: the value must exist before the
  /// operation with the region runs.
  Need firstNeed(Operation *op) {
    Need first;
    for (Operation *user : op->getUsers())
      if (Operation *here = block.findAncestorOpInBlock(*user))
        if (Need need = needBy(here); need.position < first.position)
          first = need;
    return first;
  }

  /// Returns how the readers of `op` in kernel `index` read it, and in `views` the reshapes between, which have to join. None if a reshape has no common
  /// refinement with the kernel's domains.
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
      if (auto it = needOf.find(user); it == needOf.end() || it->second.cluster != index)
        continue;
      reading.isThroughView = true;
      std::optional<Reading> inner = readingOf(user, index, views);
      std::optional<Domain> behind;
      if (inner)
        behind = cluster.summary.behind(cast<stablehlo::ReshapeOp>(user), inner->domain);
      if (!behind)
        return std::nullopt;
      reading.isFromMemory |= inner->isFromMemory;
      reading.isRegrouped |= inner->isRegrouped || regroups(cast<stablehlo::ReshapeOp>(user));
      domains.push_back(*behind);
      if (!llvm::is_contained(views, user))
        views.push_back(user);
    }
    auto fits = llvm::find_if(domains, [&](const Domain &domain) { return domain.fits(cast<ShapedType>(op->getResult(0).getType()).getShape()); });
    reading.domain = fits != domains.end() ? *fits : domains.empty() ? cluster.summary.rootDomain() : domains.front();
    return reading;
  }

  /// Returns true for a reshape that does more than add or drop unit dimensions.
  static bool regroups(stablehlo::ReshapeOp view) {
    ArrayRef<int64_t> from = view.getOperand().getType().getShape(), to = view.getType().getShape();
    return !stablehlo::addedUnits(from, to) && !stablehlo::addedUnits(to, from);
  }

  static bool isFromMemory(Operation *op, Operation *user, const GrowingCluster &cluster) {
    if (user == cluster.summary.contraction)
      return true;
    // A pad of an operand of the contraction joins, so that the contraction reads the operand of the pad.
    if (isa<stablehlo::PadOp>(user) && user->hasOneUse() && *user->user_begin() == cluster.summary.contraction)
      return true;
    if (!isa<stablehlo::GatherOp, stablehlo::SliceOp, stablehlo::DynamicSliceOp>(user))
      return false;
    return op->getResult(0) == user->getOperand(0) || op->getNumResults() > 1;
  }

  /// Returns true for a contiguous slice with readers in other kernels: it is an alias (lowering/program/Parts.cpp), but a kernel would have to store a
  /// copy for its other readers.
  bool isViewForOthers(Operation *op, int cluster) {
    return wholeRange(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
      return needBy(user).cluster != cluster;
    });
  }

  /// Returns true if joining would keep the operand of `op` alive across an update that could otherwise be done in its memory.
  bool isOverwrittenBefore(Operation *op, unsigned position) {
    if (!isa<stablehlo::GatherOp, stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))
      return false;
    Value read = op->getOperand(0);
    return llvm::any_of(read.getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      bool isUpdate = isa<stablehlo::DynamicUpdateSliceOp, stablehlo::ScatterOp>(user) && user->getOperand(0) == read;
      // The regions of control flow have been outlined to kernels: a result of the operand's type may be its updated value.
      bool mayUpdate = here && isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(here) && llvm::is_contained(here->getResultTypes(), read.getType());
      return here && (mayUpdate || (isUpdate && here == user)) && positions.lookup(here) > positions.lookup(op) && positions.lookup(here) < position;
    });
  }

  /// Returns the kernel of another reduction of the same operand that runs before this one's result is needed, so that one kernel reads the operand once;
  /// -1 if there is none.
  int twinOf(Operation *op) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    if (!reduce || reduce.getInputs().size() != 1 || !hasVectorizableTypes(op))
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
      if (it == clusterOf.end() || other.getInputs().size() != 1 || !hasVectorizableTypes(user) || other.getDimensions() != reduce.getDimensions() ||
          other.getResult(0).getType() != reduce.getResult(0).getType())
        continue;
      const GrowingCluster &cluster = clusters[it->second];
      if (cluster.opsInReverse.front() == user && cluster.position < needed && !cluster.summary.closed)
        return it->second;
    }
    return -1;
  }

  /// Returns true if `op`, which is normally cloned into its consumers, has a consumer that reads it from memory.
  bool neededAsBuffer(Operation *op) {
    if (isa<stablehlo::ConstantOp>(op))
      return false;
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return here && classify(here) == OpRole::TopLevel;
    });
  }

  Block &block;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::DenseMap<Operation *, int> clusterOf;
  llvm::DenseMap<Operation *, Need> needOf; ///< of reshapes that may join the kernel that reads them first
  SmallVector<GrowingCluster, 0> clusters;
  std::vector<MissedFusion> missed;
};

} // namespace

FusionPlan planFusion(Block &block) { return Planner(block).run(); }

} // namespace millrace::fusion
