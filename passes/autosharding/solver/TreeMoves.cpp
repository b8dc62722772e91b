// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/TreeMoves.h"

#include <algorithm>

using namespace millrace::autosharding;

TreeMoves::TreeMoves(const Model &model, const Forest &forest)
    : model(model), forest(forest), stamp(forest.core.size(), 0), touches(forest.core.size(), 0), memberOf(forest.core.size(), Forest::kNone) {}

uint64_t TreeMoves::grow(uint32_t start, uint32_t most, Random &random) {
  for (const Member &member : members)
    memberOf[member.place] = Forest::kNone;
  ++tree;
  members.clear();
  border.clear();
  border.push_back({start, Forest::kNone});
  stamp[start] = tree;
  touches[start] = 0;
  uint64_t work = 0;
  while (!border.empty() && members.size() < most) {
    uint32_t at = random.below(uint32_t(border.size()));
    auto [place, from] = border[at];
    border[at] = border.back();
    border.pop_back();
    if (touches[place] > 1)
      continue; // the node would close a cycle
    uint32_t member = uint32_t(members.size()), count = model.choices(forest.core[place]);
    const EdgeEnd *toParent = nullptr;
    const EdgeEnd *begin = forest.coreLinks.data() + forest.firstCoreLink[place], *end = forest.coreLinks.data() + forest.firstCoreLink[place + 1];
    memberOf[place] = member;
    for (const EdgeEnd *link = begin; link != end; ++link) {
      uint32_t other = forest.place[link->node];
      work += count;
      if (memberOf[other] != Forest::kNone) {
        toParent = link;
        work += link->costs() / 2;
        continue;
      }
      if (stamp[other] != tree)
        stamp[other] = tree, touches[other] = 0;
      if (++touches[other] == 1)
        border.push_back({other, member});
    }
    members.push_back({place, from == Forest::kNone ? member : from, toParent, 0, 0, 0});
  }
  return work;
}

void TreeMoves::solve(const FoldedForest &folded, const State &state) {
  found.clear();
  size_t size = 0;
  for (Member &member : members)
    member.values = size, size += model.choices(forest.core[member.place]);
  values.resize(size);
  for (const Member &member : members) {
    uint32_t node = forest.core[member.place], count = model.choices(node);
    double *own = values.data() + member.values;
    std::copy_n(folded.cost.data() + model.first[node], count, own);
    for (uint32_t at = forest.firstCoreLink[member.place]; at < forest.firstCoreLink[member.place + 1]; ++at) {
      const EdgeEnd &link = forest.coreLinks[at];
      if (memberOf[forest.place[link.node]] != Forest::kNone)
        continue;
      const double *row = link.in.row(state[link.node]);
      for (uint32_t choice = 0; choice < count; ++choice)
        own[choice] += row[choice];
    }
  }
  for (size_t index = members.size(); index-- > 1;) {
    const Member &member = members[index];
    uint32_t count = model.choices(forest.core[member.place]), others = model.choices(member.link->node);
    const double *own = values.data() + member.values;
    double *target = values.data() + members[member.parent].values;
    if (member.link->isEquality) {
      for (uint32_t choice = 0; choice < count; ++choice)
        target[choice] += own[choice];
      continue;
    }
    const CostTable &table = member.link->in;
    leasts.resize(table.count);
    for (uint32_t number = 0; number < table.count; ++number) {
      const double *row = table.costs + size_t(number) * table.columns;
      double least = own[0] + row[0];
      for (uint32_t choice = 1; choice < count; ++choice)
        least = std::min(least, own[choice] + row[choice]);
      leasts[number] = least;
    }
    for (uint32_t other = 0; other < others; ++other)
      target[other] += leasts[table.rows[other]];
  }
  for (size_t index = 0; index < members.size(); ++index) {
    Member &member = members[index];
    uint32_t node = forest.core[member.place], count = model.choices(node);
    const double *own = values.data() + member.values;
    const double *row = index ? member.link->in.row(members[member.parent].choice) : nullptr;
    auto value = [&](uint32_t choice) { return own[choice] + (row ? row[choice] : 0.0); };
    uint32_t best = state[node];
    double least = value(best);
    for (uint32_t choice = 0; choice < count; ++choice)
      if (double other = value(choice); other < least)
        least = other, best = choice;
    member.choice = best;
    if (best == state[node])
      continue;
    const Member &parent = members[member.parent];
    if (!index || parent.choice == state[forest.core[parent.place]])
      member.group = uint32_t(found.size()), found.emplace_back();
    else
      member.group = parent.group;
    found[member.group].push_back({node, best});
  }
}
