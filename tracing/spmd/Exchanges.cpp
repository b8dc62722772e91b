// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchanges.cpp - Order of recorded collectives between processes -----===//
#include "tracing/spmd/Exchanges.h"

#include "tracing/emit/Emit.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

namespace millrace::tracing {
namespace {

struct Remembered {
  std::mutex mutex;
  uint64_t count = 0;
  std::vector<NodePtr> nodes; ///< in the order of recording; some may have been executed
};

Remembered &remembered() {
  static auto *all = new Remembered;
  return *all;
}

/// Returns true if the node depends on a leaf without a value, because it was recorded while a function was traced.
bool isOfTrace(const NodePtr &node) {
  const std::vector<Value> leaves = schedule({{node, 0}}).leaves;
  return std::any_of(leaves.begin(), leaves.end(), [](const Value &leaf) { return !leaf.node->isNumber() && !Session::hasMemory(leaf); });
}

} // namespace

uint64_t rememberExchange(const NodePtr &node) {
  Remembered &all = remembered();
  std::lock_guard lock(all.mutex);
  all.nodes.push_back(node);
  return ++all.count;
}

bool meetsOthers(const Schedule &schedule) {
  return std::any_of(schedule.nodes.begin(), schedule.nodes.end(), [](const Node *node) { return node->op->meetsOthers; });
}

void forgetExchanges(const Schedule &schedule) {
  if (!meetsOthers(schedule))
    return;
  const std::unordered_set<const Node *> nodes(schedule.nodes.begin(), schedule.nodes.end());
  Remembered &all = remembered();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.nodes, [&](const NodePtr &node) { return nodes.count(node.get()) != 0; });
}

PendingExchanges::PendingExchanges() {
  Remembered &all = remembered();
  std::lock_guard lock(all.mutex);
  for (NodePtr &node : all.nodes) {
    if (!node->op)
      continue;
    std::weak_ptr<Node> weak = node;
    bool isOrphan = node.use_count() == 1;
    pending.push_back({isOrphan ? std::move(node) : nullptr, std::move(weak)});
  }
  all.nodes.clear();
}

PendingExchanges::~PendingExchanges() {
  std::vector<NodePtr> left;
  for (Entry &entry : pending)
    if (NodePtr node = entry.node.lock(); node && node->op)
      left.push_back(std::move(node));
  if (left.empty())
    return;
  Remembered &all = remembered();
  std::lock_guard lock(all.mutex);
  all.nodes.insert(all.nodes.begin(), left.begin(), left.end());
}

std::vector<Value> PendingExchanges::missing(const Schedule &plan, Roots which) const {
  std::unordered_set<const Node *> scheduled;
  uint64_t last = which == Roots::All ? ~uint64_t(0) : 0;
  for (const Node *node : plan.nodes)
    if (node->op->meetsOthers) {
      scheduled.insert(node);
      last = std::max(last, node->exchange);
    }
  std::vector<Value> roots;
  for (const Entry &entry : pending) {
    NodePtr node = entry.node.lock();
    if (!node || node->exchange > last || scheduled.count(node.get()) || isOfTrace(node))
      continue;
    for (uint32_t index = 0; index < node->results.size(); ++index) // the node becomes a leaf, and any of its results may have holders
      roots.push_back({node, index});
  }
  return roots;
}

} // namespace millrace::tracing
