// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplainPlan.cpp - Costs of alternative shardings --------------------===//
#include "passes/autosharding/ProgramProblem.h"

#include "passes/autosharding/Work.h"
#include "passes/sharding/explain/Explanation.h"
#include "passes/sharding/explain/Origins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace millrace::sharding;

namespace millrace::autosharding {
namespace {

/// The largest number of alternatives in a report. Unit: alternatives of one tensor. Source: judgement: a page stays readable.
constexpr size_t kMostAlternatives = 4;

template <typename T>
std::string printed(const T &what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}

/// The costs of a problem for changes of a plan.
class Surroundings {
public:
  Surroundings(const Problem &problem, size_t variables, ArrayRef<uint32_t> choices) : problem(problem), choices(choices), edges(variables) {
    for (auto [number, edge] : llvm::enumerate(problem.edges))
      if (edge.a < variables && edge.b < variables) { // later nodes are copies, for memory
        edges[edge.a].push_back(uint32_t(number));
        edges[edge.b].push_back(uint32_t(number));
      }
  }

  using Changes = std::map<int, uint32_t>; ///< changed variables and their choices

  /// Returns the ticks by which a plan with the changes costs more; nothing if it is impossible.
  std::optional<double> more(const Changes &changes) const {
    double sum = 0;
    std::map<uint32_t, bool> seen;
    for (auto [variable, choice] : changes) {
      const Node &node = problem.nodes[variable];
      if (node.costs[choice] >= kImpossible)
        return std::nullopt;
      sum += double(node.costs[choice]) - double(node.costs[choices[variable]]);
      for (uint32_t number : edges[variable]) {
        if (!seen.try_emplace(number, true).second)
          continue;
        const Edge &edge = problem.edges[number];
        size_t columns = problem.nodes[edge.b].costs.size();
        int64_t now = edge.costs[at(changes, edge.a) * columns + at(changes, edge.b)];
        if (now >= kImpossible)
          return std::nullopt;
        sum += double(now) - double(edge.costs[choices[edge.a] * columns + choices[edge.b]]);
      }
    }
    return sum;
  }

  /// Returns the ticks of the variable and of all its edges.
  double around(int variable) const {
    double sum = double(problem.nodes[variable].costs[choices[variable]]);
    for (uint32_t number : edges[variable]) {
      const Edge &edge = problem.edges[number];
      sum += double(edge.costs[choices[edge.a] * problem.nodes[edge.b].costs.size() + choices[edge.b]]);
    }
    return sum;
  }

private:
  uint32_t at(const Changes &changes, uint32_t variable) const {
    auto found = changes.find(int(variable));
    return found == changes.end() ? choices[variable] : found->second;
  }

  const Problem &problem;
  ArrayRef<uint32_t> choices;
  std::vector<std::vector<uint32_t>> edges; ///< by variable
};

} // namespace

std::string ProgramProblem::describe(size_t node) const {
  // Behind the variables there are copies, for memory: each has an edge to the variable that it belongs to.
  if (node >= variables.size())
    for (const Edge &edge : problem.edges)
      if (edge.b == node)
        node = edge.a;
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor)
    if (kept[tensor].variable == int(node) || natural[tensor].variable == int(node))
      return describePlace(module, int(tensor)) + " : " + printed(typeOf(int(tensor)));
  return "a value that is resharded";
}

std::vector<PlannedTensor> ProgramProblem::explain(ArrayRef<uint32_t> choices) const {
  Surroundings surroundings(problem, variables.size(), choices);
  // Values that must have equal shardings follow. Of the possible choices the first one is used, which has the least work of its own.
  std::vector<std::vector<std::pair<const Table *, const Table *>>> bound(variables.size());
  for (const auto &[one, other] : alike) {
    if (one.variable < 0 || other.variable < 0 || one.variable == other.variable)
      continue;
    bound[one.variable].push_back({&one, &other});
    bound[other.variable].push_back({&other, &one});
  }
  auto changed = [&](int variable, uint32_t choice) -> std::optional<Surroundings::Changes> {
    Surroundings::Changes changes{{variable, choice}};
    std::vector<int> next{variable};
    while (!next.empty()) {
      int each = next.back();
      next.pop_back();
      for (auto [own, other] : bound[each]) {
        int sharding = own->shardings[changes[each]];
        auto now = changes.find(other->variable);
        uint32_t has = now == changes.end() ? choices[other->variable] : now->second;
        if (other->shardings[has] == sharding)
          continue;
        auto found = llvm::find(other->shardings, sharding);
        if (now != changes.end() || found == other->shardings.end())
          return std::nullopt;
        changes[other->variable] = uint32_t(found - other->shardings.begin());
        next.push_back(other->variable);
      }
    }
    return changes;
  };
  auto text = [&](int sharding) {
    std::string dims;
    for (sdy::DimensionShardingAttr dim : toAttr(known[sharding], meshRef, mesh).getDimShardings()) {
      std::string axes;
      for (sdy::AxisRefAttr axis : dim.getAxes())
        axes += (axes.empty() ? "" : ", ") + axis.toString();
      dims += (dims.empty() ? "{" : ", {") + axes + "}";
    }
    return "[" + dims + "]";
  };
  std::vector<PlannedTensor> result;
  std::map<std::pair<int, uint32_t>, double> costs; // costs of changes, by variable and choice
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    const Table &table = kept[tensor];
    if (table.variable < 0)
      continue;
    PlannedTensor &each = result.emplace_back();
    Type type = typeOf(int(tensor));
    mlir::Value value = module.place(int(tensor)).value;
    each.name = describePlace(module, int(tensor)) + " : " + printed(type);
    each.line = value ? lineOf(value.getLoc()) : "";
    int chosen = table.shardings[choices[table.variable]];
    each.sharding = text(chosen);
    each.bytes = elementsOf(cast<RankedTensorType>(type).getShape(), known[chosen]) * elementBytes(type);
    each.isAnnotated = annotation(int(tensor)) && !annotation(int(tensor))->isEmpty();
    each.seconds = surroundings.around(table.variable) / kTicksPerSecond;
    std::map<int, double> others; // by sharding the least cost of its choices
    for (auto [choice, sharding] : llvm::enumerate(table.shardings)) {
      if (sharding == chosen)
        continue;
      auto [known, isNew] = costs.try_emplace({table.variable, uint32_t(choice)});
      if (isNew) {
        std::optional<Surroundings::Changes> changes = changed(table.variable, uint32_t(choice));
        std::optional<double> more = changes ? surroundings.more(*changes) : std::nullopt;
        known->second = more ? *more / kTicksPerSecond : std::numeric_limits<double>::infinity();
      }
      auto [least, isFirst] = others.try_emplace(sharding, known->second);
      least->second = std::min(least->second, known->second);
    }
    for (auto [sharding, more] : others)
      each.alternatives.push_back({text(sharding), more});
    llvm::stable_sort(each.alternatives, [](const auto &a, const auto &b) { return a.more < b.more; });
    if (each.alternatives.size() > kMostAlternatives)
      each.alternatives.resize(kMostAlternatives);
  }
  return result;
}

} // namespace millrace::autosharding
