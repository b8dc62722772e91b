// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Problem.h"

#include <algorithm>
#include <utility>

using namespace millrace::autosharding;

namespace {

std::string verifyNode(const Node &node, size_t index, int64_t &usage) {
  std::string where = "node " + std::to_string(index) + ": ";
  if (node.costs.empty())
    return where + "expected at least one choice, but got none";
  if (node.costs.size() != node.usages.size())
    return where + "expected as many usages as costs, " + std::to_string(node.costs.size()) + ", but got " + std::to_string(node.usages.size());
  int64_t most = 0;
  for (size_t choice = 0; choice < node.costs.size(); ++choice) {
    if (node.costs[choice] < 0)
      return where + "expected costs of at least 0, but choice " + std::to_string(choice) + " has " + std::to_string(node.costs[choice]);
    if (node.usages[choice] < 0)
      return where + "expected usages of at least 0, but choice " + std::to_string(choice) + " has " + std::to_string(node.usages[choice]);
    most = std::max(most, node.usages[choice]);
  }
  if (most > kMostUsage - usage)
    return where + "expected the largest usages of all nodes to add up to at most " + std::to_string(kMostUsage) + " bytes, but they exceed it here";
  usage += most;
  return {};
}

std::string verifyEdge(const Problem &problem, const Edge &edge, size_t index) {
  std::string where = "edge " + std::to_string(index) + ": ";
  for (uint32_t node : {edge.a, edge.b})
    if (node >= problem.nodes.size())
      return where + "expected nodes below " + std::to_string(problem.nodes.size()) + ", but got " + std::to_string(node);
  if (edge.a == edge.b)
    return where + "expected two nodes, but got node " + std::to_string(edge.a) + " twice";
  size_t rows = problem.nodes[edge.a].costs.size(), columns = problem.nodes[edge.b].costs.size();
  if (edge.costs.size() != rows * columns)
    return where + "expected " + std::to_string(rows) + " x " + std::to_string(columns) + " costs, but got " + std::to_string(edge.costs.size());
  for (int64_t cost : edge.costs)
    if (cost < 0)
      return where + "expected costs of at least 0, but got " + std::to_string(cost);
  return {};
}

} // namespace

std::string millrace::autosharding::verify(const Problem &problem) {
  if (problem.usageLimit < 0)
    return "expected a usage limit of at least 0, but got " + std::to_string(problem.usageLimit);
  if (problem.nodes.size() > std::numeric_limits<uint32_t>::max() / 2)
    return "expected less than 2^31 nodes, but got " + std::to_string(problem.nodes.size());
  int64_t usage = 0;
  for (size_t index = 0; index < problem.nodes.size(); ++index)
    if (std::string message = verifyNode(problem.nodes[index], index, usage); !message.empty())
      return message;
  for (size_t index = 0; index < problem.edges.size(); ++index)
    if (std::string message = verifyEdge(problem, problem.edges[index], index); !message.empty())
      return message;
  return {};
}

Value millrace::autosharding::evaluate(const Problem &problem, const std::vector<uint32_t> &choices) {
  Value value;
  auto add = [&](int64_t cost) {
    value.possible &= cost < kImpossible;
    value.cost += cost;
  };
  std::vector<std::pair<int64_t, int64_t>> changes; // time, bytes; at equal times bytes are freed before others are needed
  for (size_t index = 0; index < problem.nodes.size(); ++index) {
    const Node &node = problem.nodes[index];
    add(node.costs[choices[index]]);
    if (int64_t usage = node.usages[choices[index]]; node.begin < node.end && usage) {
      changes.push_back({node.begin, usage});
      changes.push_back({node.end, -usage});
    }
  }
  for (const Edge &edge : problem.edges)
    add(edge.costs[choices[edge.a] * problem.nodes[edge.b].costs.size() + choices[edge.b]]);
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  for (auto [time, bytes] : changes)
    value.peak = std::max(value.peak, live += bytes);
  return value;
}

std::string millrace::autosharding::toString(Total value) {
  bool negative = value < 0;
  std::string digits;
  for (; value; value /= 10)
    digits += char('0' + int(negative ? -(value % 10) : value % 10));
  if (digits.empty())
    digits = "0";
  if (negative)
    digits += '-';
  return {digits.rbegin(), digits.rend()};
}
