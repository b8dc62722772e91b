// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Decode.h"

#include <algorithm>

using namespace millrace::autosharding;

/// Removes choices of the neighbour `to` that are impossible with all choices of `node`; returns false if none is left.
bool Decoder::revise(const MessagePassing::Neighbour &to, uint32_t node) {
  uint32_t others = model.choices(to.link->node), own = model.choices(node);
  const uint8_t *allowed = alive.data() + model.first[node];
  uint8_t *theirs = alive.data() + model.first[to.link->node];
  bool changed = false;
  reads += others;
  for (uint32_t choice = 0; choice < others; ++choice) {
    if (!theirs[choice])
      continue;
    const double *row = to.link->in.row(choice);
    bool found = false;
    for (uint32_t mine = 0; mine < own && !found; ++mine)
      found = allowed[mine] && row[mine] < model.impossible;
    if (found)
      continue;
    theirs[choice] = 0;
    trail.push_back({to.place, choice});
    --count[to.place];
    changed = true;
  }
  if (changed && !waits[to.place])
    waits[to.place] = 1, queue.push_back(to.place);
  return count[to.place] > 0;
}

bool Decoder::spread(const MessagePassing &messages) {
  bool possible = true;
  for (size_t at = 0; at < queue.size(); ++at) {
    uint32_t place = queue[at];
    waits[place] = 0;
    for (auto to = messages.begin(place); possible && to != messages.end(place); ++to)
      if (open[to->place])
        possible = revise(*to, messages.node(place));
  }
  queue.clear();
  return possible;
}

bool Decoder::fix(const MessagePassing &messages, uint32_t place, uint32_t choice) {
  uint32_t node = messages.node(place);
  trail.clear();
  for (uint32_t other = 0; other < model.choices(node); ++other)
    if (other != choice && alive[model.first[node] + other])
      alive[model.first[node] + other] = 0, trail.push_back({place, other});
  count[place] = 1;
  queue.push_back(place);
  waits[place] = 1;
  if (spread(messages))
    return true;
  count[place] = 1 + uint32_t(std::count_if(trail.begin(), trail.end(), [&](auto removed) { return removed.first == place; }));
  for (auto [owner, removed] : trail) {
    alive[model.first[messages.node(owner)] + removed] = 1;
    count[owner] += owner != place;
  }
  return false;
}

bool Decoder::decode(const MessagePassing &messages, const std::vector<double> &cost, const std::vector<uint32_t> &order, double noise,
                     Random &random, std::vector<uint32_t> &choices) {
  reads = 0;
  waits.assign(messages.size(), 0);
  open.assign(messages.size(), 1);
  count.assign(messages.size(), 0);
  trail.clear();
  bool possible = true;
  for (uint32_t place = 0; place < messages.size(); ++place) {
    uint32_t node = messages.node(place);
    for (uint32_t at = model.first[node]; at < model.first[node + 1]; ++at)
      count[place] += alive[at] = cost[at] < model.impossible;
    possible &= count[place] > 0;
    if (count[place] < model.choices(node))
      queue.push_back(place), waits[place] = 1;
  }
  possible = spread(messages) && possible;
  std::vector<double> values;
  for (uint32_t place : order) {
    uint32_t node = messages.node(place), own = model.choices(node);
    values.assign(cost.begin() + model.first[node], cost.begin() + model.first[node] + own);
    for (auto neighbour = messages.begin(place); neighbour != messages.end(place); ++neighbour) {
      const double *add =
          open[neighbour->place] ? messages.heard(*neighbour) : neighbour->link->in.row(choices[neighbour->link->node]);
      for (uint32_t choice = 0; choice < own; ++choice)
        values[choice] += add[choice];
      reads += own;
    }
    if (noise > 0)
      for (double &value : values)
        value += noise * random.unit();
    choices[node] = uint32_t(std::min_element(values.begin(), values.end()) - values.begin());
    open[place] = 0;
    bool fixed = false;
    while (possible && !fixed && count[place]) {
      uint32_t best = own;
      for (uint32_t choice = 0; choice < own; ++choice)
        if (alive[model.first[node] + choice] && (best == own || values[choice] < values[best]))
          best = choice;
      fixed = fix(messages, place, best);
      if (fixed)
        choices[node] = best;
      else
        alive[model.first[node] + best] = 0, --count[place];
    }
    possible &= fixed;
  }
  return possible;
}
