// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Model.h"

#include "passes/autosharding/solver/Reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

using namespace millrace::autosharding;

namespace {

/// Stores each table of costs once. Returns positions, because the pool grows.
class TablePool {
public:
  explicit TablePool(std::vector<double> &pool) : pool(pool) {}

  size_t add(const std::vector<double> &table) {
    uint64_t hash = table.size();
    for (double value : table) {
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      hash = (hash ^ bits) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 29;
    }
    auto [begin, end] = known.equal_range(hash);
    for (; begin != end; ++begin)
      if (auto [at, size] = begin->second; size == table.size() && std::equal(table.begin(), table.end(), pool.begin() + at))
        return at;
    size_t at = pool.size();
    pool.insert(pool.end(), table.begin(), table.end());
    known.insert({hash, {at, table.size()}});
    return at;
  }

private:
  std::vector<double> &pool;
  std::unordered_multimap<uint64_t, std::pair<size_t, size_t>> known;
};

/// Returns the remaining choices of each node.
std::vector<std::vector<uint32_t>> choicesLeft(const Reduction &reduction) {
  std::vector<std::vector<uint32_t>> left(reduction.keeps.size());
  for (size_t node = 0; node < left.size(); ++node)
    for (uint32_t choice = 0; choice < reduction.keeps[node].size(); ++choice)
      if (reduction.keeps[node][choice])
        left[node].push_back(choice);
  return left;
}

void addMemory(const Problem &problem, const std::vector<std::vector<uint32_t>> &left, Model &model) {
  std::vector<int64_t> least(left.size());
  std::vector<bool> matters(left.size(), false);
  for (size_t node = 0; node < left.size(); ++node) {
    auto usage = [&](uint32_t choice) { return problem.nodes[node].usages[choice]; };
    least[node] = usage(left[node].front());
    for (uint32_t choice : left[node])
      least[node] = std::min(least[node], usage(choice));
    matters[node] = problem.usageLimit != kNoLimit;
  }
  Timeline timeline = maximalTimes(problem, matters);
  std::vector<int64_t> change(timeline.count + 1, 0);
  for (size_t node = 0; node < left.size(); ++node) {
    auto [begin, end] = timeline.spans[node];
    bool live = begin < end;
    for (uint32_t at = model.first[node]; at < model.first[node + 1]; ++at)
      model.usage.push_back(live ? problem.nodes[node].usages[model.original[at]] - least[node] : 0);
    if (live)
      change[begin] += least[node], change[end] -= least[node];
  }
  model.spans = std::move(timeline.spans);
  int64_t load = 0;
  for (uint32_t time = 0; time < timeline.count; ++time)
    model.room.push_back(problem.usageLimit - (load += change[time]));
}

} // namespace

Obstacle millrace::autosharding::buildModel(const Problem &problem, Model &model) {
  MergedEdges merged(problem);
  Reduction reduction = reduce(problem, merged);
  if (!reduction.obstacle.message.empty())
    return reduction.obstacle;
  model.removed = reduction.removed;
  model.summands = merged.edges.size() + 1;
  std::vector<std::vector<uint32_t>> left = choicesLeft(reduction);
  double magnitude = 0; // sum of the largest finite costs that one solution could contain
  model.first.push_back(0);
  for (size_t node = 0; node < left.size(); ++node) {
    double most = 0;
    for (uint32_t choice : left[node]) {
      model.cost.push_back(double(problem.nodes[node].costs[choice]));
      model.original.push_back(choice);
      most = std::max(most, model.cost.back());
    }
    magnitude += most;
    model.first.push_back(uint32_t(model.cost.size()));
  }
  TablePool pool(model.tables);
  struct Placed {
    uint32_t a, b;
    size_t forward, backward;
  };
  std::vector<Placed> placed;
  for (const Edge &edge : merged.edges) {
    const std::vector<uint32_t> &rows = left[edge.a], &columns = left[edge.b];
    size_t width = problem.nodes[edge.b].costs.size();
    std::vector<double> forward, backward(rows.size() * columns.size());
    double most = 0;
    for (uint32_t row : rows)
      for (uint32_t column : columns) {
        int64_t cost = edge.costs[row * width + column];
        // Costs just below kImpossible are rounded to it in double, but they are possible.
        forward.push_back(cost < kImpossible ? double(cost) : std::numeric_limits<double>::infinity());
        if (cost < kImpossible)
          most = std::max(most, double(cost));
      }
    magnitude += most;
    if (std::all_of(forward.begin(), forward.end(), [&](double cost) { return cost == forward.front(); })) {
      model.constant += forward.front();
      continue;
    }
    if (rows.size() == 1 || columns.size() == 1) {
      uint32_t target = rows.size() == 1 ? edge.b : edge.a;
      for (size_t choice = 0; choice < forward.size(); ++choice)
        model.cost[model.first[target] + choice] += forward[choice];
      continue;
    }
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t column = 0; column < columns.size(); ++column)
        backward[column * rows.size() + row] = forward[row * columns.size() + column];
    placed.push_back({edge.a, edge.b, pool.add(forward), pool.add(backward)});
  }
  model.magnitude = magnitude;
  // The number is a power of two above the cost of all possible solutions, because fewer bits are lost beside it than beside 10^18.
  model.impossible = std::exp2(std::ceil(std::log2(magnitude + 1)) + 1);
  for (double &cost : model.tables)
    if (std::isinf(cost))
      cost = model.impossible;
  addMemory(problem, left, model);
  model.edges = uint32_t(placed.size());
  model.firstLink.assign(left.size() + 1, 0);
  for (const Placed &edge : placed)
    ++model.firstLink[edge.a + 1], ++model.firstLink[edge.b + 1];
  for (size_t node = 0; node < left.size(); ++node)
    model.firstLink[node + 1] += model.firstLink[node];
  model.links.resize(2 * placed.size());
  std::vector<uint32_t> next(model.firstLink.begin(), model.firstLink.end() - 1);
  for (uint32_t index = 0; index < placed.size(); ++index) {
    const Placed &edge = placed[index];
    const double *forward = model.tables.data() + edge.forward, *backward = model.tables.data() + edge.backward;
    model.links[next[edge.a]++] = {index, edge.b, forward, backward};
    model.links[next[edge.b]++] = {index, edge.a, backward, forward};
  }
  return {};
}

std::vector<uint32_t> millrace::autosharding::originalChoices(const Model &model, const std::vector<uint32_t> &choices) {
  std::vector<uint32_t> result(choices.size());
  for (size_t node = 0; node < choices.size(); ++node)
    result[node] = model.original[model.first[node] + choices[node]];
  return result;
}
