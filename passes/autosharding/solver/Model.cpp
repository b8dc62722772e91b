// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Model.h"

#include "passes/autosharding/solver/Reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

using namespace millrace::autosharding;

namespace {

/// A list of lists, of which equal ones are stored once. Returns positions, because the pool grows.
template <typename T>
class ListPool {
public:
  explicit ListPool(std::vector<T> &pool) : pool(pool) {}

  size_t add(const std::vector<T> &list) {
    uint64_t hash = list.size();
    for (T value : list) {
      uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(value));
      hash = (hash ^ bits) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 29;
    }
    auto [begin, end] = known.equal_range(hash);
    for (; begin != end; ++begin)
      if (auto [at, size] = begin->second; size == list.size() && std::equal(list.begin(), list.end(), pool.begin() + at))
        return at;
    size_t at = pool.size();
    pool.insert(pool.end(), list.begin(), list.end());
    known.insert({hash, {at, list.size()}});
    return at;
  }

private:
  std::vector<T> &pool;
  std::unordered_multimap<uint64_t, std::pair<size_t, size_t>> known;
};

/// A table of which the lists are in pools that grow.
struct PlacedTable {
  size_t costs = 0, rows = 0;
  uint32_t count = 0, columns = 0;
};

/// Stores tables, each row once.
class TablePool {
public:
  explicit TablePool(Model &model) : costs(model.tables), rows(model.rows) {}

  PlacedTable add(const std::vector<double> &table, uint32_t columns) {
    const size_t choices = table.size() / columns;
    std::vector<double> distinct;
    ListPool<double> lists(distinct);
    std::vector<uint32_t> rowOf;
    for (size_t choice = 0; choice < choices; ++choice)
      rowOf.push_back(uint32_t(lists.add({table.begin() + choice * columns, table.begin() + (choice + 1) * columns}) / columns));
    return {costs.add(distinct), rows.add(rowOf), uint32_t(distinct.size() / columns), columns};
  }

private:
  ListPool<double> costs;
  ListPool<uint32_t> rows;
};

/// Returns true if equal choices cost nothing, and all others are impossible.
bool isEquality(const std::vector<double> &table, size_t rows, size_t columns) {
  if (rows != columns)
    return false;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      if (row == column ? table[row * columns + column] != 0 : std::isfinite(table[row * columns + column]))
        return false;
  return true;
}

/// What the model has of an edge between nodes with these choices.
struct EdgeForm {
  PlacedTable forward, backward;
  double most = 0; ///< the largest possible cost
  std::optional<double> constant;  ///< the cost of all pairs, if they have the same
  std::vector<double> alone;       ///< the costs by choice of the one end, if the other one has a single choice
  bool isEquality = false;
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

EdgeForm formOf(const Edge &edge, const std::vector<uint32_t> &rows, const std::vector<uint32_t> &columns, size_t width, TablePool &pool) {
  EdgeForm form;
  std::vector<double> forward, backward(rows.size() * columns.size());
  for (uint32_t row : rows)
    for (uint32_t column : columns) {
      int64_t cost = edge.costs[row * width + column];
      // Costs just below kImpossible are rounded to it in double, but they are possible.
      forward.push_back(cost < kImpossible ? double(cost) : std::numeric_limits<double>::infinity());
      if (cost < kImpossible)
        form.most = std::max(form.most, double(cost));
    }
  if (std::all_of(forward.begin(), forward.end(), [&](double cost) { return cost == forward.front(); })) {
    form.constant = forward.front();
    return form;
  }
  if (rows.size() == 1 || columns.size() == 1) {
    form.alone = std::move(forward);
    return form;
  }
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t column = 0; column < columns.size(); ++column)
      backward[column * rows.size() + row] = forward[row * columns.size() + column];
  form.isEquality = isEquality(forward, rows.size(), columns.size());
  form.forward = pool.add(forward, uint32_t(columns.size()));
  form.backward = pool.add(backward, uint32_t(rows.size()));
  return form;
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
  TablePool pool(model);
  // Edges that share their costs and have equal choices left are one form.
  std::vector<uint32_t> kept;
  ListPool<uint32_t> lists(kept);
  std::vector<size_t> listOf;
  for (const std::vector<uint32_t> &choices : left)
    listOf.push_back(lists.add(choices));
  std::map<std::tuple<const void *, size_t, size_t, size_t, size_t>, EdgeForm> forms;
  struct Placed {
    uint32_t a, b;
    const EdgeForm *form;
  };
  std::vector<Placed> placed;
  for (const Edge &edge : merged.edges) {
    const std::vector<uint32_t> &rows = left[edge.a], &columns = left[edge.b];
    auto [known, isNew] = forms.try_emplace({edge.costs.identity(), listOf[edge.a], rows.size(), listOf[edge.b], columns.size()});
    EdgeForm &form = known->second;
    if (isNew)
      form = formOf(edge, rows, columns, problem.nodes[edge.b].costs.size(), pool);
    magnitude += form.most;
    if (form.constant) {
      model.constant += *form.constant;
    } else if (!form.alone.empty()) {
      uint32_t target = rows.size() == 1 ? edge.b : edge.a;
      for (size_t choice = 0; choice < form.alone.size(); ++choice)
        model.cost[model.first[target] + choice] += form.alone[choice];
    } else {
      placed.push_back({edge.a, edge.b, &form});
    }
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
    auto tableOf = [&](const PlacedTable &of) { return CostTable{model.tables.data() + of.costs, model.rows.data() + of.rows, of.count, of.columns}; };
    const CostTable forward = tableOf(edge.form->forward), backward = tableOf(edge.form->backward);
    model.links[next[edge.a]++] = {index, edge.b, forward, backward, edge.form->isEquality};
    model.links[next[edge.b]++] = {index, edge.a, backward, forward, edge.form->isEquality};
  }
  return {};
}

std::vector<uint32_t> millrace::autosharding::originalChoices(const Model &model, const std::vector<uint32_t> &choices) {
  std::vector<uint32_t> result(choices.size());
  for (size_t node = 0; node < choices.size(); ++node)
    result[node] = model.original[model.first[node] + choices[node]];
  return result;
}
