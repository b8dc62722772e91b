// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StepOrder.cpp - Find the order of steps with the least memory -------===//
#include "lowering/program/StepOrder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>

namespace millrace::lowering {
namespace {

using Order = std::vector<uint32_t>;

/// Returns the position of each step.
std::vector<uint32_t> positionsOf(const Order &order) {
  std::vector<uint32_t> positions(order.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    positions[order[i]] = i;
  return positions;
}

/// Returns the steps that touch each buffer.
std::vector<std::vector<uint32_t>> touchersOf(const StepGraph &graph) {
  std::vector<std::vector<uint32_t>> touchers(graph.buffers.size());
  for (uint32_t step = 0; step < graph.steps.size(); ++step)
    for (uint32_t buffer : graph.steps[step].touches)
      touchers[buffer].push_back(step);
  return touchers;
}

/// A graph in which every edge is explicit, in both directions, and whose buffers have one size in all orders: a buffer that replaces an argument
/// takes no memory, because additional edges put the readers of the argument first, or is kept where such edges would close a cycle.
struct Problem {
  std::vector<std::vector<uint32_t>> before, behind; ///< neighbours of each step
  std::vector<std::vector<uint32_t>> touches, touchers;
  std::vector<uint64_t> bytes;
  std::vector<bool> isKept;
  std::vector<int64_t> extra; ///< less what the step saves because a buffer starts in another one's memory
  Order order; ///< a valid order: the given one unless additional edges contradict it

  explicit Problem(const StepGraph &graph);
  uint32_t size() const { return before.size(); }

private:
  void addEdge(uint32_t first, uint32_t second) {
    before[second].push_back(first);
    behind[first].push_back(second);
  }
  bool reaches(uint32_t from, uint32_t to);
  void sort();

  std::vector<uint32_t> visited;
  uint32_t visit = 0;
  uint64_t budget; ///< steps that searches for cycles may visit
};

Problem::Problem(const StepGraph &graph) : touchers(touchersOf(graph)) {
  uint32_t size = graph.steps.size();
  before.resize(size);
  behind.resize(size);
  visited.resize(size);
  budget = 256 * uint64_t(size);
  for (uint32_t step = 0; step < size; ++step) {
    touches.push_back(graph.steps[step].touches);
    extra.push_back(graph.steps[step].extra);
    for (uint32_t first : graph.steps[step].after)
      addEdge(first, step);
  }
  bool isSorted = true;
  for (uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
    const StepGraph::Buffer &given = graph.buffers[buffer];
    bytes.push_back(given.bytes);
    isKept.push_back(given.isKept);
    if (given.readersOfReplaced.empty() || touchers[buffer].empty())
      continue;
    uint32_t maker = touchers[buffer].front();
    bool replaces = true;
    for (uint32_t reader : given.readersOfReplaced) {
      if (reader == maker)
        continue;
      bool isOrdered = reader < maker && isSorted;
      if (!isOrdered && reaches(maker, reader)) {
        replaces = false;
        break;
      }
      isSorted &= reader < maker;
      addEdge(reader, maker);
    }
    if (replaces)
      bytes.back() = 0;
    else
      isKept.back() = true;
  }
  for (uint32_t step = 0; step < size; ++step)
    for (auto [read, written] : graph.steps[step].inPlace) {
      const std::vector<uint32_t> &first = graph.steps[step].after;
      bool isLast = std::all_of(touchers[read].begin(), touchers[read].end(), [&](uint32_t other) {
        return other == step || std::find(first.begin(), first.end(), other) != first.end();
      });
      if (isLast && !isKept[read])
        extra[step] -= std::min(bytes[read], bytes[written]);
    }
  sort();
}

/// Returns true, too, if the search takes too long.
bool Problem::reaches(uint32_t from, uint32_t to) {
  std::vector<uint32_t> open{from};
  ++visit;
  while (!open.empty()) {
    uint32_t step = open.back();
    open.pop_back();
    if (step == to || budget == 0)
      return true;
    --budget;
    for (uint32_t next : behind[step])
      if (visited[next] != visit) {
        visited[next] = visit;
        open.push_back(next);
      }
  }
  return false;
}

/// Sorts topologically: of all steps that can come next, the first one of the given order.
void Problem::sort() {
  std::vector<uint32_t> missing(size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t step = 0; step < size(); ++step)
    if ((missing[step] = before[step].size()) == 0)
      ready.push(step);
  while (!ready.empty()) {
    uint32_t step = ready.top();
    ready.pop();
    order.push_back(step);
    for (uint32_t next : behind[step])
      if (--missing[next] == 0)
        ready.push(next);
  }
  assert(order.size() == size() && "further edges are not against each other");
}

/// The choice among the steps that can come next.
enum class Preference {
  Smallest, ///< the step after which the fewest bytes are live
  Releases, ///< the same if the live bytes do not grow, else the next step of the given order
};

/// List scheduling with a key per ready step: the bytes that it adds to the live ones less those that it frees.
class ListSchedule {
public:
  ListSchedule(const Problem &problem, bool isBackward, Preference preference)
      : problem(problem), isBackward(isBackward), preference(preference), change(problem.size()), missing(problem.size()),
        place(positionsOf(problem.order)), left(problem.bytes.size()), sumOfLeft(problem.bytes.size()), isHeld(problem.bytes.size()),
        isDone(problem.size()) {
    if (isBackward)
      for (uint32_t &each : place)
        each = problem.size() - 1 - each;
  }

  Order run() {
    // Steps become ready after all keys are known, because a step's key may not change while the step is in the set.
    for (uint32_t buffer = 0; buffer < left.size(); ++buffer) {
      // Scheduled backwards, a kept buffer is live from the beginning and freed where it is defined.
      isHeld[buffer] = isBackward && problem.isKept[buffer];
      left[buffer] = problem.touchers[buffer].size();
      for (uint32_t step : problem.touchers[buffer]) {
        sumOfLeft[buffer] += step;
        if (!isHeld[buffer])
          change[step] += problem.bytes[buffer];
      }
      if (left[buffer] == 1 && isGivenBack(buffer))
        change[sumOfLeft[buffer]] -= problem.bytes[buffer];
    }
    for (uint32_t step = 0; step < problem.size(); ++step)
      if ((missing[step] = (isBackward ? problem.behind : problem.before)[step].size()) == 0)
        ready.insert(keyOf(step));
    Order order;
    while (!ready.empty()) {
      uint32_t step = std::get<2>(*ready.begin());
      ready.erase(ready.begin());
      order.push_back(step);
      finish(step);
    }
    if (isBackward)
      std::reverse(order.begin(), order.end());
    return order;
  }

private:
  using Key = std::tuple<int64_t, uint32_t, uint32_t>; // change, place, step

  Key keyOf(uint32_t step) const {
    int64_t key = change[step];
    if (preference == Preference::Releases && key > 0)
      key = 1;
    return {key, place[step], step};
  }

  void add(uint32_t step, int64_t bytes) {
    bool isReady = !isDone[step] && missing[step] == 0;
    if (isReady)
      ready.erase(keyOf(step));
    change[step] += bytes;
    if (isReady)
      ready.insert(keyOf(step));
  }

  /// Returns true if the last step that touches `buffer` frees it.
  bool isGivenBack(uint32_t buffer) const { return isBackward || !problem.isKept[buffer]; }

  void finish(uint32_t step) {
    isDone[step] = true;
    for (uint32_t buffer : problem.touches[step]) {
      if (problem.bytes[buffer] == 0)
        continue;
      --left[buffer];
      sumOfLeft[buffer] -= step;
      if (!isHeld[buffer]) {
        isHeld[buffer] = true;
        for (uint32_t other : problem.touchers[buffer])
          if (other != step)
            add(other, -int64_t(problem.bytes[buffer]));
      }
      if (left[buffer] == 1 && isGivenBack(buffer))
        add(sumOfLeft[buffer], -int64_t(problem.bytes[buffer]));
    }
    for (uint32_t next : (isBackward ? problem.before : problem.behind)[step])
      if (--missing[next] == 0)
        ready.insert(keyOf(next));
  }

  const Problem &problem;
  bool isBackward;
  Preference preference;
  std::vector<int64_t> change; ///< of the live bytes, if the step came next
  std::vector<uint32_t> missing, place, left;
  std::vector<uint64_t> sumOfLeft; ///< of the indices of the steps that are left
  std::vector<bool> isHeld, isDone;
  std::set<Key> ready;
};

/// Moves single steps of an order to positions where they need less memory.
class Improvement {
public:
  Improvement(const Problem &problem, Order start)
      : problem(problem), order(std::move(start)), place(positionsOf(order)), live(problem.size()), across(problem.size() + 1),
        budget(kMovesPerStep * problem.size()) {
    std::vector<int64_t> begins(problem.size() + 1), ends(problem.size() + 1);
    for (uint32_t buffer = 0; buffer < problem.bytes.size(); ++buffer) {
      const std::vector<uint32_t> &steps = problem.touchers[buffer];
      if (steps.empty())
        continue;
      auto isEarlier = [&](uint32_t a, uint32_t b) { return place[a] < place[b]; };
      auto [first, last] = std::minmax_element(steps.begin(), steps.end(), isEarlier);
      begins[place[*first]] += problem.bytes[buffer];
      if (!problem.isKept[buffer])
        ends[place[*last]] += problem.bytes[buffer];
    }
    int64_t now = 0;
    for (uint32_t k = 0; k < problem.size(); ++k) {
      across[k] = now;
      live[k] = now += begins[k];
      now -= ends[k];
    }
    across.back() = now;
  }

  Order run() {
    for (bool isBetter = true; isBetter && budget > 0;) {
      isBetter = false;
      peak = 0;
      for (uint32_t k = 0; k < problem.size(); ++k)
        peak = std::max(peak, taken(k));
      Order steps = order;
      for (uint32_t step : steps)
        isBetter |= move<-1>(step);
      steps.assign(order.rbegin(), order.rend());
      for (uint32_t step : steps)
        isBetter |= move<1>(step);
    }
    return order;
  }

private:
  /// A buffer of the step that moves, and the positions of the nearest other steps that touch it on both sides.
  struct Mine {
    int64_t bytes, first, last;
  };

  int64_t taken(int64_t k) const { return live[k] + problem.extra[order[k]]; }

  /// Returns the change of the live bytes at the step at `k` once the moving step has passed it: if it comes earlier now, its results are live there,
  /// and operands that it reads last are not.
  template <int towards> int64_t changeAt(int64_t k) const {
    int64_t change = 0;
    for (const Mine &each : mine)
      change += each.bytes * towards * (int64_t(each.first <= k) - int64_t(each.last >= k));
    return change;
  }

  /// Returns the change between the steps at `k` - 1 and `k`.
  template <int towards> int64_t changeAcross(int64_t k) const {
    int64_t change = 0;
    for (const Mine &each : mine)
      change += each.bytes * towards * (int64_t(each.first < k) - int64_t(each.last >= k));
    return change;
  }

  /// Returns the live bytes at the moving step once it has passed the one at `k`.
  template <int towards> int64_t liveBeyond(int64_t k) const {
    int64_t there = across[towards < 0 ? k : k + 1];
    for (const Mine &each : mine)
      there += (towards < 0 ? each.first < k : each.last > k) ? 0 : each.bytes;
    return there;
  }

  /// Considers every position between `step` and its nearest neighbour in direction `towards` (-1: earlier, 1: later); returns true if it has moved.
  template <int towards> bool move(uint32_t step) {
    const int64_t from = place[step], size = problem.size();
    int64_t limit = towards < 0 ? -1 : size;
    for (uint32_t other : (towards < 0 ? problem.before : problem.behind)[step])
      limit = towards < 0 ? std::max<int64_t>(limit, place[other]) : std::min<int64_t>(limit, place[other]);
    if (from + towards == limit)
      return false;
    mine.clear();
    for (uint32_t buffer : problem.touches[step]) {
      if (problem.bytes[buffer] == 0)
        continue;
      Mine entry{int64_t(problem.bytes[buffer]), size, problem.isKept[buffer] ? size : -1};
      for (uint32_t toucher : problem.touchers[buffer])
        if (toucher != step) {
          entry.first = std::min<int64_t>(entry.first, place[toucher]);
          entry.last = std::max<int64_t>(entry.last, place[toucher]);
        }
      mine.push_back(entry);
    }
    const int64_t extra = problem.extra[step];
    int64_t sum = 0, mostBefore = taken(from), most = 0;
    int64_t best = from, bestSum = 0;
    bool bestLowersPeak = false;
    for (int64_t k = from + towards; k != limit && budget > 0; k += towards, --budget) {
      int64_t change = changeAt<towards>(k), own = liveBeyond<towards>(k);
      mostBefore = std::max(mostBefore, taken(k));
      most = std::max(most, taken(k) + change);
      sum += change;
      int64_t mostNow = std::max(most, own + extra), sumNow = sum + own - live[from];
      bool lowersPeak = mostBefore >= peak && mostNow < peak;
      bool isBetter = lowersPeak == bestLowersPeak ? sumNow < bestSum : lowersPeak;
      if (isBetter && (mostNow <= mostBefore || mostNow < peak)) {
        best = k;
        bestSum = sumNow;
        bestLowersPeak = lowersPeak;
      }
    }
    if (best == from)
      return false;
    // Every step that is passed moves by one position.
    int64_t own = liveBeyond<towards>(best), beside = across[best + (towards > 0)];
    if (towards > 0)
      for (const Mine &each : mine)
        beside += each.bytes * (int64_t(each.first <= best) - int64_t(each.last > best));
    for (int64_t k = from; k != best; k += towards) {
      live[k] = live[k + towards] + changeAt<towards>(k + towards);
      across[k] = across[k + towards] + changeAcross<towards>(k + towards);
      order[k] = order[k + towards];
      place[order[k]] = k;
    }
    live[best] = own;
    across[best] = beside;
    order[best] = step;
    place[step] = best;
    return true;
  }

  const Problem &problem;
  Order order;
  std::vector<uint32_t> place;
  std::vector<int64_t> live;   ///< bytes of live buffers at each position
  std::vector<int64_t> across; ///< bytes of buffers that are live at each position and at the one before it
  std::vector<Mine> mine;
  int64_t peak = 0;
  uint64_t budget; ///< positions that may still be considered
};

/// A bit set of steps for each step.
class Reach {
public:
  explicit Reach(uint32_t size) : words((size + 63) / 64), bits(uint64_t(size) * words) {
    for (uint32_t step = 0; step < size; ++step)
      row(step)[step / 64] |= uint64_t(1) << step % 64;
  }
  uint64_t *row(uint32_t step) { return bits.data() + uint64_t(step) * words; }
  void addAllOf(uint64_t *to, uint32_t step) {
    for (uint32_t w = 0; w < words; ++w)
      to[w] |= row(step)[w];
  }
  const uint32_t words;

private:
  std::vector<uint64_t> bits;
};

/// Returns the most bytes that are counted twice where `step` starts a buffer in the memory of another one.
uint64_t sharedBy(const StepGraph &graph, uint32_t step) {
  uint64_t bytes = 0;
  for (auto [read, written] : graph.steps[step].inPlace)
    bytes += std::min(graph.buffers[read].bytes, graph.buffers[written].bytes);
  return bytes;
}

} // namespace

MemoryUse memoryOf(const StepGraph &graph, const std::vector<uint32_t> &order) {
  std::vector<uint32_t> place = positionsOf(order), last(graph.buffers.size());
  std::vector<int64_t> changes(order.size() + 1);
  std::vector<bool> isFree(graph.buffers.size());
  std::vector<std::vector<uint32_t>> touchers = touchersOf(graph);
  for (uint32_t index = 0; index < graph.buffers.size(); ++index) {
    const StepGraph::Buffer &buffer = graph.buffers[index];
    if (touchers[index].empty())
      continue;
    uint32_t first = UINT32_MAX;
    for (uint32_t step : touchers[index]) {
      first = std::min(first, place[step]);
      last[index] = std::max(last[index], place[step]);
    }
    bool isKept = buffer.isKept;
    if (!buffer.readersOfReplaced.empty()) {
      isFree[index] = std::all_of(buffer.readersOfReplaced.begin(), buffer.readersOfReplaced.end(),
                                  [&](uint32_t reader) { return place[reader] <= first; });
      isKept |= !isFree[index];
    }
    if (isFree[index])
      continue;
    if (isKept)
      last[index] = order.size();
    changes[first] += buffer.bytes;
    changes[std::min<uint32_t>(last[index] + 1, order.size())] -= buffer.bytes;
  }
  MemoryUse use;
  int64_t live = 0;
  for (uint32_t k = 0; k < order.size(); ++k) {
    const StepGraph::Step &step = graph.steps[order[k]];
    int64_t now = (live += changes[k]) + step.extra;
    for (auto [read, written] : step.inPlace)
      if (last[read] == k && !isFree[read] && !isFree[written])
        now -= std::min(graph.buffers[read].bytes, graph.buffers[written].bytes);
    use.peak = std::max<uint64_t>(use.peak, now);
    use.sum += now;
  }
  return use;
}

std::vector<BufferLife> livesOf(const StepGraph &graph) {
  std::vector<BufferLife> lives(graph.buffers.size());
  std::vector<bool> isKept(graph.buffers.size());
  const uint32_t size = graph.steps.size();
  std::vector<std::vector<uint32_t>> touchers = touchersOf(graph);
  for (uint32_t index = 0; index < graph.buffers.size(); ++index) {
    const StepGraph::Buffer &buffer = graph.buffers[index];
    if (touchers[index].empty())
      continue;
    const uint32_t first = touchers[index].front();
    const bool hasReplaced = !buffer.readersOfReplaced.empty();
    const bool isFree = hasReplaced && buffer.readersOfReplaced.back() <= first;
    isKept[index] = buffer.isKept || hasReplaced;
    if (!isFree)
      lives[index] = {first, isKept[index] ? size : touchers[index].back() + 1};
  }
  // Of two buffers of different sizes the common part would be shared; a pair has equal ones (PointwisePairs.h).
  for (uint32_t step = 0; step < size; ++step)
    for (auto [read, written] : graph.steps[step].inPlace)
      if (!isKept[read] && lives[read].end == step + 1 && lives[written].begin == step && lives[written].end > step && graph.buffers[read].bytes == graph.buffers[written].bytes)
        ++lives[written].begin;
  return lives;
}

uint64_t leastPeak(const StepGraph &graph) {
  uint32_t size = graph.steps.size();
  std::vector<std::vector<uint32_t>> touchers = touchersOf(graph);
  auto countsAt = [&](const StepGraph::Buffer &buffer) { return buffer.readersOfReplaced.empty(); };
  std::vector<uint64_t> least(size);
  for (uint32_t step = 0; step < size; ++step)
    least[step] = graph.steps[step].extra;
  if (size > kMostStepsOfExactBound) {
    for (uint32_t step = 0; step < size; ++step)
      for (uint32_t buffer : graph.steps[step].touches)
        least[step] += countsAt(graph.buffers[buffer]) ? graph.buffers[buffer].bytes : 0;
  } else {
    Reach before(size), behind(size);
    for (uint32_t step = 0; step < size; ++step)
      for (uint32_t first : graph.steps[step].after)
        before.addAllOf(before.row(step), first);
    for (uint32_t step = size; step-- > 0;)
      for (uint32_t first : graph.steps[step].after)
        behind.addAllOf(behind.row(first), step);
    std::vector<uint64_t> afterTouch(before.words), beforeTouch(before.words);
    for (uint32_t index = 0; index < graph.buffers.size(); ++index) {
      const StepGraph::Buffer &buffer = graph.buffers[index];
      if (buffer.bytes == 0 || !countsAt(buffer))
        continue;
      std::fill(afterTouch.begin(), afterTouch.end(), 0);
      std::fill(beforeTouch.begin(), beforeTouch.end(), 0);
      for (uint32_t toucher : touchers[index]) {
        behind.addAllOf(afterTouch.data(), toucher);
        before.addAllOf(beforeTouch.data(), toucher);
      }
      for (uint32_t w = 0; w < before.words; ++w)
        for (uint64_t live = afterTouch[w] & (buffer.isKept ? ~uint64_t(0) : beforeTouch[w]); live != 0; live &= live - 1)
          least[w * 64 + std::countr_zero(live)] += buffer.bytes;
    }
  }
  uint64_t most = 0; // after the last step, the kept buffers are live
  for (uint32_t index = 0; index < graph.buffers.size(); ++index)
    if (graph.buffers[index].isKept && countsAt(graph.buffers[index]) && !touchers[index].empty())
      most += graph.buffers[index].bytes;
  for (uint32_t step = 0; step < size; ++step) {
    uint64_t shared = sharedBy(graph, step);
    most = std::max(most, least[step] - std::min(least[step], shared));
  }
  return most;
}

StepOrder orderSteps(const StepGraph &graph) {
  StepOrder result;
  result.order.resize(graph.steps.size());
  std::iota(result.order.begin(), result.order.end(), 0);
  result.use = result.given = memoryOf(graph, result.order);
  result.least = leastPeak(graph);
  if (result.given.peak <= result.least)
    return result;
  Problem problem(graph);
  Order best = problem.order;
  MemoryUse bestUse = memoryOf(graph, best);
  auto offer = [&](Order order) {
    MemoryUse use = memoryOf(graph, order);
    if (std::pair(use.peak, use.sum) >= std::pair(bestUse.peak, bestUse.sum))
      return;
    best = std::move(order);
    bestUse = use;
  };
  auto done = [&] { return bestUse.peak <= result.least; };
  for (bool isBackward : {false, true})
    for (Preference preference : {Preference::Releases, Preference::Smallest})
      if (!done())
        offer(ListSchedule(problem, isBackward, preference).run());
  if (!done())
    offer(Improvement(problem, best).run());
  if (!done())
    offer(Improvement(problem, problem.order).run());
  if (bestUse.peak < result.use.peak) {
    result.order = std::move(best);
    result.use = bestUse;
  }
  return result;
}

} // namespace millrace::lowering
