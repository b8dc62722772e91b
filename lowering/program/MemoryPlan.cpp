// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPlan.cpp - Offsets in one arena for values with lifetimes ----===//
#include "lowering/program/MemoryPlan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace millrace::lowering {
namespace {

constexpr uint64_t kAlignment = 64;

uint64_t padded(uint64_t bytes) { return (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t largestLiveSum(const std::vector<Lifetime> &lifetimes) {
  std::map<uint32_t, int64_t> changes;
  for (const Lifetime &lifetime : lifetimes) {
    uint64_t size = padded(lifetime.live ? lifetime.live : lifetime.bytes);
    changes[lifetime.first] += size;
    changes[lifetime.last + 1] -= size;
  }
  int64_t live = 0, most = 0;
  for (auto [step, change] : changes)
    most = std::max(most, live += change);
  return most;
}

} // namespace

MemoryPlan planMemory(const std::vector<Lifetime> &lifetimes) {
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  plan.lowerBound = largestLiveSum(lifetimes);

  std::vector<uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });

  struct Placed {
    uint64_t begin, end;
    uint32_t first, last;
  };
  std::vector<Placed> placed; // ordered by begin
  for (uint32_t index : order) {
    const Lifetime &lifetime = lifetimes[index];
    uint64_t size = padded(lifetime.bytes), offset = 0;
    for (const Placed &other : placed) {
      if (other.last < lifetime.first || lifetime.last < other.first)
        continue;
      if (offset + size <= other.begin)
        break; // the gap before `other` is large enough, and later ones begin even further up
      offset = std::max(offset, other.end);
    }
    plan.offsets[index] = offset;
    plan.arenaBytes = std::max(plan.arenaBytes, offset + size);
    Placed entry{offset, offset + size, lifetime.first, lifetime.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), entry,
                                   [](const Placed &a, const Placed &b) { return a.begin < b.begin; }),
                  entry);
  }
  return plan;
}

} // namespace millrace::lowering
