// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/MessagePassing.h"

#include <algorithm>

using namespace millrace::autosharding;

void millrace::autosharding::minimizeRows(std::vector<double> &in, const CostTable &table, double *out) {
  // Of choices with equal rows only the least counts. Rows are numbered in the order of their first choices, so that nothing is overwritten too early.
  if (table.count < in.size()) {
    uint32_t known = 0;
    for (uint32_t choice = 0; choice < in.size(); ++choice) {
      const uint32_t row = table.rows[choice];
      in[row] = row == known ? in[choice] : std::min(in[row], in[choice]);
      known += row == known;
    }
  }
  const uint32_t columns = table.columns;
  for (uint32_t column = 0; column < columns; ++column)
    out[column] = in[0] + table.costs[column];
  for (uint32_t row = 1; row < table.count; ++row) {
    const double *line = table.costs + size_t(row) * columns;
    double add = in[row];
    for (uint32_t column = 0; column < columns; ++column) {
      double value = add + line[column];
      out[column] = value < out[column] ? value : out[column];
    }
  }
}

void MessagePassing::reset(std::vector<uint32_t> nodes) {
  for (uint32_t node : members)
    places[node] = kNone;
  members = std::move(nodes);
  for (uint32_t place = 0; place < members.size(); ++place)
    places[members[place]] = place;
  neighbours.clear();
  firstNeighbour.assign(1, 0);
  firstLater.clear();
  reads = 0;
  size_t size = 0;
  for (uint32_t place = 0; place < members.size(); ++place) {
    uint32_t node = members[place];
    for (const EdgeEnd *link = model.begin(node); link != model.end(node); ++link)
      if (places[link->node] != kNone)
        neighbours.push_back({link, places[link->node], 0, 0});
    std::sort(neighbours.begin() + firstNeighbour.back(), neighbours.end(),
              [](const Neighbour &left, const Neighbour &right) { return left.place < right.place; });
    uint32_t later = firstNeighbour.back();
    while (later < neighbours.size() && neighbours[later].place < place)
      ++later;
    firstLater.push_back(later);
    firstNeighbour.push_back(uint32_t(neighbours.size()));
  }
  // An edge is first seen from its earlier node; the other end is found by walking both lists in the same order.
  std::vector<uint32_t> next(firstNeighbour.begin(), firstNeighbour.end() - 1);
  for (uint32_t place = 0; place < members.size(); ++place)
    for (uint32_t at = firstLater[place]; at < firstNeighbour[place + 1]; ++at) {
      Neighbour &forward = neighbours[at], &backward = neighbours[next[forward.place]++];
      uint32_t own = model.choices(members[place]), others = model.choices(members[forward.place]);
      forward.toMe = backward.toOther = size;
      forward.toOther = backward.toMe = size + own;
      size += own + others;
      reads += forward.link->costs();
    }
  messages.assign(size, 0.0);
}

double MessagePassing::weight(uint32_t place) const {
  uint32_t before = firstLater[place] - firstNeighbour[place], after = firstNeighbour[place + 1] - firstLater[place];
  return 1.0 / std::max({before, after, 1u});
}

void MessagePassing::gather(const std::vector<double> &cost, uint32_t place, std::vector<double> &sum) const {
  uint32_t node = members[place], count = model.choices(node);
  sum.assign(cost.begin() + model.first[node], cost.begin() + model.first[node] + count);
  for (const Neighbour *neighbour = begin(place); neighbour != end(place); ++neighbour) {
    const double *message = heard(*neighbour);
    for (uint32_t choice = 0; choice < count; ++choice)
      sum[choice] += message[choice];
  }
}

/// Sends the share `weight` of the node's costs. Returns the least entry, which is subtracted from the message.
double MessagePassing::send(const Neighbour &to, uint32_t choices, double weight) {
  scratch.resize(choices);
  const double *back = heard(to);
  for (uint32_t choice = 0; choice < choices; ++choice)
    scratch[choice] = weight * sum[choice] - back[choice];
  uint32_t others = model.choices(to.link->node);
  double *out = messages.data() + to.toOther;
  if (to.link->isEquality)
    std::copy(scratch.begin(), scratch.end(), out);
  else
    minimizeRows(scratch, to.link->out, out);
  double least = *std::min_element(out, out + others);
  for (uint32_t other = 0; other < others; ++other)
    out[other] -= least;
  return least;
}

double MessagePassing::iterate(const std::vector<double> &cost) {
  for (uint32_t place = 0; place < size(); ++place) {
    gather(cost, place, sum);
    for (const Neighbour *to = later(place); to != end(place); ++to)
      send(*to, model.choices(members[place]), weight(place));
  }
  double bound = 0;
  for (uint32_t place = size(); place-- > 0;) {
    gather(cost, place, sum);
    bound += (1 - double(later(place) - begin(place)) * weight(place)) * *std::min_element(sum.begin(), sum.end());
    for (const Neighbour *to = begin(place); to != later(place); ++to)
      bound += send(*to, model.choices(members[place]), weight(place));
  }
  return bound;
}
