// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredPlans.cpp - Store and find plans ------------------------------===//
#include "passes/autosharding/StoredPlans.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

#include <algorithm>
#include <unordered_map>

namespace millrace::autosharding {

namespace {

constexpr llvm::StringLiteral kFormat = "plan 1";

/// A hash of numbers and of lists with their lengths, so that different problems have different sequences.
class Hash {
public:
  void add(int64_t number) { add(llvm::ArrayRef(number)); }
  void add(llvm::ArrayRef<int64_t> numbers) {
    hasher.update(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size() * sizeof(int64_t)));
  }
  void addList(llvm::ArrayRef<int64_t> numbers) {
    add(int64_t(numbers.size()));
    add(numbers);
  }
  std::string digest() { return llvm::toHex(hasher.final(), /*LowerCase=*/true); }

private:
  llvm::BLAKE3 hasher;
};

std::optional<Total> parseTotal(llvm::StringRef text) {
  constexpr size_t mostDigits = 36; // digits of numbers below 2^120, which bounds the sums of a problem
  if (text.empty() || text.size() > mostDigits || !llvm::all_of(text, llvm::isDigit))
    return std::nullopt;
  Total total = 0;
  for (char digit : text)
    total = total * 10 + (digit - '0');
  return total;
}

} // namespace

PlanStore::Key planKey(const Problem &problem, const Options &options) {
  Hash hash;
  hash.add(int64_t(problem.nodes.size()));
  for (const Node &node : problem.nodes) {
    hash.addList(node.costs);
    hash.addList(node.usages);
    hash.add(node.begin);
    hash.add(node.end);
  }
  hash.add(int64_t(problem.edges.size()));
  std::unordered_map<const void *, int64_t> tables;
  for (const Edge &edge : problem.edges) {
    hash.add(edge.a);
    hash.add(edge.b);
    // Costs that edges share are hashed once.
    auto [known, isNew] = tables.try_emplace(edge.costs.identity(), int64_t(tables.size()));
    hash.add(known->second);
    if (isNew)
      hash.addList(edge.costs.list());
  }
  hash.add(problem.usageLimit);
  return {{"sharding problem", hash.digest()},
          {"solver", "version=" + std::to_string(kSolverVersion) + " iterations=" + std::to_string(options.iterations) +
                         " seed=" + std::to_string(options.seed) + " searches=" + std::to_string(options.searches) + " cutoff=" + std::to_string(options.cutoff)}};
}

std::string writePlan(const Solution &solution) {
  std::string text = kFormat.str() + "\n" + toString(solution.cost) + " " + toString(solution.bound) + " " + std::to_string(solution.peak) + " " +
                     std::to_string(solution.iterations) + "\n";
  for (uint32_t choice : solution.choices)
    text += std::to_string(choice) + " ";
  return text;
}

std::optional<Solution> readPlan(const Problem &problem, std::string_view text) {
  auto [format, rest] = llvm::StringRef(text.data(), text.size()).split('\n');
  auto [head, list] = rest.split('\n');
  llvm::SmallVector<llvm::StringRef> numbers, choices;
  head.split(numbers, ' ');
  list.split(choices, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (format != kFormat || numbers.size() != 4 || choices.size() != problem.nodes.size())
    return std::nullopt;
  Solution solution;
  std::optional<Total> cost = parseTotal(numbers[0]), bound = parseTotal(numbers[1]);
  if (!cost || !bound || *bound > *cost || numbers[2].getAsInteger(10, solution.peak) || numbers[3].getAsInteger(10, solution.iterations))
    return std::nullopt;
  for (auto [node, each] : llvm::zip_equal(problem.nodes, choices))
    if (each.getAsInteger(10, solution.choices.emplace_back()) || solution.choices.back() >= node.costs.size())
      return std::nullopt;
  Value value = evaluate(problem, solution.choices);
  if (!value.possible || value.cost != *cost || value.peak != solution.peak || value.peak > problem.usageLimit)
    return std::nullopt;
  solution.found = true;
  solution.cost = *cost;
  solution.bound = *bound;
  solution.gap = gapOf(*cost, *bound);
  solution.stop = *cost == *bound ? Stop::Optimal : Stop::Iterations;
  return solution;
}

Solution solveStored(const Problem &problem, const Options &options, const PlanStore &store, bool *isStored) {
  PlanStore::Key key;
  if (store.find || store.store)
    key = planKey(problem, options);
  if (store.find)
    if (std::optional<std::string> text = store.find(key))
      if (std::optional<Solution> solution = readPlan(problem, *text)) {
        if (isStored)
          *isStored = true;
        return std::move(*solution);
      }
  if (isStored)
    *isStored = false;
  Solution solution = solve(problem, options);
  if (solution.found && store.store)
    store.store(key, writePlan(solution));
  return solution;
}

} // namespace millrace::autosharding
