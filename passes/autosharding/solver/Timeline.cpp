// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Timeline.h"

#include <algorithm>

using namespace millrace::autosharding;

Timeline millrace::autosharding::maximalTimes(const Problem &problem, const std::vector<bool> &matters) {
  std::vector<std::pair<int64_t, bool>> events; // time, whether a node begins there; ends come first, because they are exclusive
  for (size_t index = 0; index < problem.nodes.size(); ++index)
    if (const Node &node = problem.nodes[index]; matters[index] && node.begin < node.end) {
      events.push_back({node.begin, true});
      events.push_back({node.end, false});
    }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> times;
  for (size_t at = 0; at + 1 < events.size(); ++at)
    if (events[at].second && !events[at + 1].second)
      times.push_back(events[at].first);
  Timeline timeline;
  timeline.count = uint32_t(times.size());
  timeline.spans.resize(problem.nodes.size());
  for (size_t index = 0; index < problem.nodes.size(); ++index)
    if (const Node &node = problem.nodes[index]; matters[index] && node.begin < node.end)
      timeline.spans[index] = {uint32_t(std::lower_bound(times.begin(), times.end(), node.begin) - times.begin()),
                               uint32_t(std::lower_bound(times.begin(), times.end(), node.end) - times.begin())};
  return timeline;
}

LoadTree::LoadTree(const std::vector<int64_t> &loads) : count(uint32_t(loads.size())) {
  while (leaves < count)
    leaves *= 2;
  highest.assign(2 * size_t(leaves), std::numeric_limits<int64_t>::min() / 2);
  added.assign(2 * size_t(leaves), 0);
  std::copy(loads.begin(), loads.end(), highest.begin() + leaves);
  for (uint32_t at = leaves - 1; at > 0; --at)
    highest[at] = std::max(highest[2 * at], highest[2 * at + 1]);
}

void LoadTree::add(uint32_t begin, uint32_t end, int64_t bytes) {
  if (begin >= end)
    return;
  auto apply = [&](uint32_t at) {
    highest[at] += bytes;
    added[at] += bytes;
  };
  uint32_t left = begin + leaves, right = end + leaves;
  for (; left < right; left /= 2, right /= 2) {
    if (left & 1)
      apply(left++);
    if (right & 1)
      apply(--right);
  }
  for (uint32_t at : {begin + leaves, end - 1 + leaves})
    for (at /= 2; at > 0; at /= 2)
      highest[at] = std::max(highest[2 * at], highest[2 * at + 1]) + added[at];
}

int64_t LoadTree::most(uint32_t begin, uint32_t end) const {
  int64_t low = std::numeric_limits<int64_t>::min() / 2, fromLeft = low, fromRight = low;
  // Both borders go up together; an addition to a whole subtree is added to the maximum that was found in it so far.
  uint32_t left = begin + leaves, right = end - 1 + leaves;
  fromLeft = highest[left];
  fromRight = highest[right];
  while (left / 2 != right / 2) {
    if (!(left & 1))
      fromLeft = std::max(fromLeft, highest[left + 1]);
    if (right & 1)
      fromRight = std::max(fromRight, highest[right - 1]);
    left /= 2;
    right /= 2;
    fromLeft += added[left];
    fromRight += added[right];
  }
  int64_t found = std::max(fromLeft, fromRight);
  for (left /= 2; left > 0; left /= 2)
    found += added[left];
  return found;
}

uint32_t LoadTree::fullest() const {
  uint32_t at = 1;
  while (at < leaves)
    at = highest[2 * at] >= highest[2 * at + 1] ? 2 * at : 2 * at + 1;
  return at - leaves;
}

std::vector<int64_t> LoadTree::loads() const {
  std::vector<int64_t> result(count);
  for (uint32_t time = 0; time < count; ++time) {
    uint32_t at = time + leaves;
    int64_t load = highest[at];
    for (at /= 2; at > 0; at /= 2)
      load += added[at];
    result[time] = load;
  }
  return result;
}
