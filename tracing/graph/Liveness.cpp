// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Liveness.cpp - Which values of a graph have other users -------------===//
#include "tracing/graph/Liveness.h"

#include "tracing/reports/Dump.h"
#include "tracing/emit/Emit.h"
#include "runtime/base/Environment.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace millrace::tracing {

int &ForAValue::depth() {
  static thread_local int count = 0;
  return count;
}

std::vector<Value> pendingRoots(std::vector<Value> &given, Roots which) {
  std::vector<Value> roots;
  std::unordered_map<const Node *, std::vector<bool>> seen; // for nodes with several results
  for (Value &root : given) {
    if (!root.node->op)
      continue;
    size_t results = root.node->results.size();
    std::vector<bool> &taken = seen[root.node.get()];
    taken.resize(results);
    if (which == Roots::Some) // the node becomes a leaf, and its other results may have holders
      for (uint32_t index = 0; index < results; ++index)
        if (index != root.index && !taken[index]) {
          taken[index] = true;
          roots.push_back({root.node, index});
        }
    if (!taken[root.index]) {
      taken[root.index] = true;
      roots.push_back(std::move(root));
    }
  }
  given.clear();
  return roots;
}

/// Returns true for nodes that cost nothing as a part of their user's kernel, so that their values deserve no memory of their own.
static bool isCheap(const Node &node) {
  static const std::unordered_set<const Op *> cheap = [] {
    std::unordered_set<const Op *> made;
    for (const char *name : {"reshape", "strided_read", "window_read", "expand", "convert", "bitcast", "zero", "one", "arange"})
      made.insert(findOp(std::string("millrace::") + name));
    return made;
  }();
  return cheap.count(node.op);
}

bool keepHeld(const Schedule &plan, std::vector<Value> &roots) {
  for (const Value &root : roots)
    root.node->visit.isRoot = true;
  bool isAny = false;
  for (size_t i = plan.nodes.size(); i-- > 0;) {
    Node *node = plan.nodes[i];
    if (node->visit.isRoot || !(node->visit.survives || plan.holders[i] > long(node->visit.uses)))
      continue;
    node->visit.survives = !isCheap(*node);
    isAny |= node->visit.survives;
    if (!node->visit.survives)
      for (const Value &operand : node->operands)
        operand.node->visit.survives = true;
  }
  if (!isAny)
    return false;
  for (const Node *user : plan.nodes)
    for (const Value &operand : user->operands) {
      Node &node = *operand.node;
      if (node.isLeaf() || node.visit.isRoot || !node.visit.survives)
        continue;
      node.visit.isRoot = true;
      for (uint32_t index = 0; index < node.results.size(); ++index)
        roots.push_back({operand.node, index});
    }
  return true;
}

/// Roots become leaves. Any other node that has a holder outside of the graph stays alive together with its operands.
std::vector<bool> Session::dyingLeaves(const Schedule &plan, const std::vector<Value> &roots) {
  for (const Value &root : roots)
    root.node->visit.isRoot = true;
  for (size_t i = plan.nodes.size(); i-- > 0;) {
    const Node *node = plan.nodes[i];
    if (node->visit.isRoot || !(node->visit.survives || plan.holders[i] > long(node->visit.uses)))
      continue;
    for (const Value &operand : node->operands)
      operand.node->visit.survives = true;
  }
  for (const Value &leaf : plan.leaves) // the schedule holds leaves, too
    ++leaf.node->visit.uses;
  std::vector<bool> dying(plan.leaves.size());
  for (size_t i = 0; i < plan.leaves.size(); ++i) {
    const NodePtr &node = plan.leaves[i].node;
    dying[i] = !node->visit.survives && node.use_count() == long(node->visit.uses);
  }
  return dying;
}

std::vector<bool> givenUpLeaves(const Schedule &plan) {
  std::vector<bool> found(plan.leaves.size());
  bool isAny = false;
  for (size_t i = 0; i < found.size(); ++i) {
    const Value &leaf = plan.leaves[i];
    found[i] = leaf.index < 32 && leaf.node->givenUp >> leaf.index & 1;
    isAny |= found[i];
  }
  return isAny ? found : std::vector<bool>();
}

void releaseGivenUp(const Schedule &plan, const std::vector<bool> &givenUp) {
  for (size_t i = 0; i < givenUp.size(); ++i) {
    const Value &leaf = plan.leaves[i];
    if (!givenUp[i])
      continue;
    if (leaf.index < leaf.node->buffers.size())
      leaf.node->buffers[leaf.index] = nullptr;
    if (leaf.node->spread && leaf.index < leaf.node->spread->results.size())
      leaf.node->spread->results[leaf.index] = {};
  }
}

namespace {

/// A root that may be what an update makes of a leaf: so many operations lie between them, all of values of the leaf's shape.
struct Update {
  size_t distance, leaf, root;
  bool operator<(const Update &other) const {
    return std::tie(distance, leaf, root) < std::tie(other.distance, other.leaf, other.root);
  }
};

using LeafNumbers = std::map<std::pair<const Node *, uint32_t>, size_t>;

} // namespace

/// Finds the leaves from which `root` is computed in a few operations on values of their shape, as optimizers and statistics are.
static void findUpdated(const Value &root, size_t number, const LeafNumbers &leaves, std::vector<Update> &found) {
  // More operations than those of one step of an optimizer are no update. Unit: operations in a chain. Source: judgement, not measured alone.
  constexpr size_t kMaxUpdateOps = 8;
  // What takes part in a root through more values is not looked at: a bound of the time. Unit: operations. Source: judgement, not measured alone.
  constexpr size_t kMaxLookedAt = 64;
  std::vector<const Node *> now{root.node.get()}, next;
  std::unordered_set<const Node *> seen(now.begin(), now.end());
  for (size_t distance = 1; distance <= kMaxUpdateOps && !now.empty(); ++distance) {
    for (const Node *node : now)
      for (const Value &operand : node->operands) {
        if (!(operand.shape() == root.shape()) || seen.size() >= kMaxLookedAt)
          continue;
        if (auto leaf = leaves.find({operand.node.get(), operand.index}); leaf != leaves.end())
          found.push_back({distance, leaf->second, number});
        else if (operand.node->op && seen.insert(operand.node.get()).second)
          next.push_back(operand.node.get());
      }
    now.swap(next);
    next.clear();
  }
}

std::vector<int64_t> matchDonations(const Schedule &schedule, const std::vector<Value> &roots,
                                    const std::vector<bool> &dying) {
  std::vector<int64_t> donations(schedule.leaves.size(), -1);
  static const bool isOff = runtime::environment::isOff("XLA_ENABLE_PARAM_ALIASING");
  if (isOff)
    return donations;
  std::vector<bool> taken(roots.size(), false);
  auto donate = [&](size_t leaf, size_t root) {
    donations[leaf] = int64_t(root);
    taken[root] = true;
  };
  // A result that takes the memory of another leaf than the one that it updates would have to wait until that is read, or be copied.
  LeafNumbers leaves;
  for (size_t i = 0; i < donations.size(); ++i)
    if (dying[i] && !schedule.leaves[i].node->isNumber())
      leaves[{schedule.leaves[i].node.get(), schedule.leaves[i].index}] = i;
  std::vector<Update> updates;
  for (size_t k = 0; k < roots.size(); ++k)
    if (roots[k].node->op)
      findUpdated(roots[k], k, leaves, updates);
  std::sort(updates.begin(), updates.end());
  for (const Update &update : updates)
    if (donations[update.leaf] < 0 && !taken[update.root])
      donate(update.leaf, update.root);
  for (size_t i = 0; i < donations.size(); ++i) {
    const Value &leaf = schedule.leaves[i];
    if (!dying[i] || leaf.node->isNumber() || donations[i] >= 0)
      continue;
    for (size_t k = 0; k < roots.size(); ++k)
      if (!taken[k] && roots[k].node->op && roots[k].shape() == leaf.shape()) {
        donate(i, k);
        break;
      }
  }
  return donations;
}

} // namespace millrace::tracing
