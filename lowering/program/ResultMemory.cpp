// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResultMemory.cpp - Place temporaries in the memory of results ------===//
#include "lowering/program/ResultMemory.h"

#include <algorithm>
#include <numeric>

namespace millrace::lowering {
namespace {

/// Temporaries smaller than this fraction are not moved: there are many of them, and moving them gains little. Unit: parts of the largest sum of live
/// bytes. Source: judgement, not measured alone.
constexpr uint64_t kMinShareOfPeak = 1000;
/// Temporaries that are moved at most, a bound of the time to compile: each move takes time in proportion to the steps of the program. Unit:
/// temporaries. Source: judgement, not measured alone.
constexpr unsigned kMaxMoves = 4096;

class Placement {
public:
  Placement(const std::vector<Lifetime> &lifetimes, const std::vector<bool> &movable, const std::vector<ResultMemory> &results)
      : lifetimes(lifetimes), results(results), places(lifetimes.size()), contents(results.size()), byTime(results.size()) {
    uint32_t end = 0;
    for (const Lifetime &lifetime : lifetimes)
      end = std::max(end, lifetime.last + 1);
    live.resize(end);
    for (const Lifetime &lifetime : lifetimes)
      add(lifetime, liveBytes(lifetime));
    uint64_t smallest = live.empty() ? 0 : *std::max_element(live.begin(), live.end()) / kMinShareOfPeak;
    for (uint32_t index = 0; index < lifetimes.size(); ++index)
      if (movable[index] && lifetimes[index].bytes >= std::max<uint64_t>(smallest, 1))
        candidates.push_back(index);
    std::stable_sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
    // Results that are written early are filled first, since fewer temporaries fit there.
    std::iota(byTime.begin(), byTime.end(), 0);
    std::stable_sort(byTime.begin(), byTime.end(), [&](uint32_t a, uint32_t b) { return results[a].until < results[b].until; });
  }

  std::vector<std::optional<PlaceInResult>> run(uint64_t enough) {
    for (unsigned moves = 0; moves < kMaxMoves && !candidates.empty(); ++moves) {
      auto top = std::max_element(live.begin(), live.end());
      if (int64_t(enough) >= *top || !moveOneOf(top - live.begin()))
        break;
    }
    return std::move(places);
  }

private:
  static int64_t liveBytes(const Lifetime &lifetime) { return arenaBytesOf(lifetime.live ? lifetime.live : lifetime.bytes); }

  void add(const Lifetime &lifetime, int64_t bytes) {
    for (uint32_t step = lifetime.first; step <= lifetime.last; ++step)
      live[step] += bytes;
  }

  /// Moves the largest temporary that is live at `step` and fits somewhere.
  bool moveOneOf(uint32_t step) {
    for (auto it = candidates.begin(); it != candidates.end(); ++it) {
      const Lifetime &lifetime = lifetimes[*it];
      if (step < lifetime.first || step > lifetime.last || !place(*it))
        continue;
      add(lifetime, -liveBytes(lifetime));
      candidates.erase(it);
      return true;
    }
    return false;
  }

  bool place(uint32_t index) {
    uint64_t size = arenaBytesOf(lifetimes[index].bytes);
    for (uint32_t result : byTime) {
      if (results[result].until <= lifetimes[index].last || results[result].bytes < size)
        continue;
      uint64_t offset = lowestGap(result, index, size);
      if (offset + size > results[result].bytes)
        continue;
      places[index] = PlaceInResult{result, offset};
      contents[result].push_back(index);
      return true;
    }
    return false;
  }

  /// Returns the lowest offset in the result at which no other temporary is placed during the live range of `index`.
  uint64_t lowestGap(uint32_t result, uint32_t index, uint64_t size) const {
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (uint32_t other : contents[result])
      if (lifetimes[other].first <= lifetimes[index].last && lifetimes[index].first <= lifetimes[other].last)
        taken.push_back({places[other]->offset, places[other]->offset + arenaBytesOf(lifetimes[other].bytes)});
    std::sort(taken.begin(), taken.end());
    uint64_t offset = 0;
    for (auto [begin, end] : taken) {
      if (offset + size <= begin)
        break;
      offset = std::max(offset, end);
    }
    return offset;
  }

  const std::vector<Lifetime> &lifetimes;
  const std::vector<ResultMemory> &results;
  std::vector<std::optional<PlaceInResult>> places;
  std::vector<std::vector<uint32_t>> contents; ///< of each result
  std::vector<uint32_t> byTime, candidates;    ///< results by `until`; temporaries by size, the largest first
  std::vector<int64_t> live;                   ///< live bytes outside of results at each step
};

} // namespace

std::vector<std::optional<PlaceInResult>> placeInResults(const std::vector<Lifetime> &lifetimes, const std::vector<bool> &movable,
                                                         const std::vector<ResultMemory> &results, uint64_t enough) {
  if (results.empty() || lifetimes.empty())
    return std::vector<std::optional<PlaceInResult>>(lifetimes.size());
  return Placement(lifetimes, movable, results).run(enough);
}

} // namespace millrace::lowering
