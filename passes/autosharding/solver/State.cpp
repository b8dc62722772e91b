// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/State.h"

using namespace millrace::autosharding;

State::State(const Model &model, std::vector<uint32_t> choices) : model(model) { assign(choices); }

void State::assign(const std::vector<uint32_t> &choices) {
  chosen = choices;
  done.clear();
  std::vector<int64_t> excess = loadsOf(model, chosen);
  for (size_t time = 0; time < excess.size(); ++time)
    excess[time] -= model.room[time];
  if (excess.empty())
    excess.push_back(0); // for problems without a limit or live nodes
  tree = LoadTree(excess);
  total = model.constant;
  for (uint32_t node = 0; node < model.size(); ++node) {
    total += model.cost[model.first[node] + chosen[node]];
    for (const EdgeEnd *link = model.begin(node); link != model.end(node); ++link)
      if (link->node > node)
        total += link->out.row(chosen[node])[chosen[link->node]];
  }
}

double State::difference(uint32_t node, uint32_t choice) const {
  uint32_t old = chosen[node];
  double sum = model.cost[model.first[node] + choice] - model.cost[model.first[node] + old];
  for (const EdgeEnd *link = model.begin(node); link != model.end(node); ++link) {
    const double *row = link->in.row(chosen[link->node]);
    double more = row[choice] - row[old];
    sum += more;
  }
  return sum;
}

bool State::wouldFit(uint32_t node, uint32_t choice) const {
  auto [begin, end] = model.spans[node];
  int64_t more = model.usage[model.first[node] + choice] - model.usage[model.first[node] + chosen[node]];
  return more <= 0 || tree.most(begin, end) + more <= 0;
}

void State::set(uint32_t node, uint32_t choice) {
  int64_t more = model.usage[model.first[node] + choice] - model.usage[model.first[node] + chosen[node]];
  if (more)
    tree.add(model.spans[node].first, model.spans[node].second, more);
  chosen[node] = choice;
}

double State::change(uint32_t node, uint32_t choice) {
  double more = difference(node, choice);
  done.push_back({node, chosen[node]});
  set(node, choice);
  total += more;
  return more;
}

void State::undo(size_t count) {
  double more = 0;
  while (done.size() > count) {
    auto [node, choice] = done.back();
    done.pop_back();
    more += difference(node, choice);
    set(node, choice);
  }
  total += more;
}
