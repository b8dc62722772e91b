// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Solve.h - The best choices that can be found, and how good they are ===//
// Plain data in, plain data out. docs/auto-sharding.md describes the method.
#pragma once

#include "passes/autosharding/solver/Problem.h"

#include <functional>

namespace millrace::autosharding {

struct Progress {
  uint64_t iteration;
  double seconds; ///< since `solve` was called
  bool found;     ///< a solution within the limit is known
  double cost;    ///< its cost; without one, meaningless
  double bound;   ///< on all costs, not yet proved
};

/// `iterations`, `seconds` or `enough` ends the search; without any of them `kDefaultIterations` do.
struct Options {
  uint64_t iterations = 0; ///< 0: no limit. The result is a function of problem, iterations, seed and searches if neither of the
                           ///< others ends the search first
  double seconds = 0;      ///< 0: no limit; iterations that have begun are finished, which takes some tenths of a second
  uint64_t seed = 1;
  uint32_t threads = 1;  ///< any number gives the same result for the same number of iterations
  uint32_t searches = 2; ///< that go on side by side and share what they find
  std::function<void(const Progress &)> progress; ///< called after every iteration, in the calling thread; may be empty
  std::function<bool()> enough; ///< asked after every iteration, in the calling thread: true ends the search as if the time were up; may be empty
};

/// Those of a search to which nobody gives another end. Unit: iterations. Source: judgement, not measured alone.
constexpr uint64_t kDefaultIterations = 100;
/// Fact: one more whenever the same problem may get another answer: answers that are stored elsewhere are then found anew.
constexpr uint64_t kSolverVersion = 2;

/// Why a search ended.
enum class Stop {
  Optimal,    ///< the cost is the bound
  Iterations, ///< as many as asked for
  Seconds,    ///< the time is up, or it was enough
  Impossible  ///< there is no solution, and this is proved; `message` says why
};

struct Solution {
  bool found = false;            ///< choices are possible and within the limit
  std::vector<uint32_t> choices; ///< one per node, if found
  Total cost = 0;                ///< if found: exact
  Total bound = 0;               ///< no solution within the limit costs less: proved
  double gap = 0;                ///< if found: gapOf(cost, bound)
  int64_t peak = 0;              ///< if found: the most bytes live at a time
  Stop stop = Stop::Iterations;
  std::string message;        ///< if not found: what was needed, and what is known about the need, in bytes
  int64_t smallestNeed = -1;  ///< if not found: the smallest peak of all possible choices that were met; -1 if there were none
  int64_t needAtLeast = 0;    ///< bytes that every choice needs at some time
  uint64_t iterations = 0;    ///< done
  double seconds = 0;         ///< used
};

/// Solves a verified problem.
Solution solve(const Problem &problem, const Options &options);

/// cost / bound - 1; infinite for a bound of 0 below a larger cost.
double gapOf(Total cost, Total bound);

/// "optimal", "iterations", "seconds" or "impossible".
const char *name(Stop stop);

} // namespace millrace::autosharding
