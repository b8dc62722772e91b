// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Solve.h - Find the best choices and a bound --------------------------===//
// Plain data without IR. docs/auto-sharding.md describes the method.
#pragma once

#include "passes/autosharding/solver/Problem.h"

#include <functional>

namespace millrace::autosharding {

struct Progress {
  uint64_t iteration;
  double seconds; ///< seconds since `solve` was called
  bool found;     ///< a solution within the limit is known
  double cost;    ///< cost of the solution; undefined without one
  double bound;   ///< lower bound of all costs, not yet proved
};

/// `iterations`, `seconds` or `enough` ends the search; if all are unset, it ends after `kDefaultIterations`, or earlier if cost and bound stay as they
/// are.
struct Options {
  uint64_t iterations = 0; ///< 0: no limit. The result is a function of problem, iterations, seed and searches if neither of the
                           ///< others ends the search first
  double seconds = 0;      ///< 0 for no limit; iterations that have begun are finished, which takes some tenths of a second
  double cutoff = 0; ///< the search also ends when the bound is above this cost, because no solution is wanted that costs more; 0 for none
  uint64_t seed = 1;
  uint32_t threads = 1;  ///< without influence on the result of a given number of iterations
  uint32_t searches = 2; ///< parallel searches, which share what they find
  std::function<void(const Progress &)> progress; ///< called after every iteration, in the calling thread; may be empty
  std::function<bool()> enough; ///< called after every iteration, in the calling thread; true ends the search as if the time were up; may be empty
};

/// Iterations of a search without any other limit. Unit: iterations. Source: judgement, not measured alone.
constexpr uint64_t kDefaultIterations = 100;
/// Fact: incremented whenever the solver may give another answer to the same problem, so that stored answers are computed again.
constexpr uint64_t kSolverVersion = 3;

/// The reason for the end of a search.
enum class Stop {
  Optimal,    ///< the cost is the bound
  Iterations, ///< the requested number of iterations is done
  Seconds,    ///< the time is up, or `enough` returned true
  Stalled,    ///< cost and bound have not come nearer for some iterations
  Cutoff,     ///< every solution costs more than Options::cutoff
  Impossible  ///< it is proved that there is no solution; `message` says why
};

struct Solution {
  bool found = false;            ///< choices are possible and within the limit
  std::vector<uint32_t> choices; ///< one per node, if found
  Total cost = 0;                ///< if found: exact
  Total bound = 0;               ///< proved lower bound of the cost of all solutions within the limit
  double gap = 0;                ///< if found: gapOf(cost, bound)
  int64_t peak = 0;              ///< if found: the largest number of bytes that are live at a time
  Stop stop = Stop::Iterations;
  std::string message;         ///< if not found: the reason, and what is known about a sufficient limit, in bytes
  int64_t impossibleNode = -1; ///< if not found: a node without a possible choice, if that is the reason; the message begins with "node " and its number
  int64_t smallestNeed = -1;   ///< if not found: the smallest peak of all possible choices that were evaluated; -1 if there were none
  int64_t needAtLeast = 0;    ///< bytes that every choice needs at some time
  uint64_t iterations = 0;    ///< number of iterations
  double seconds = 0;         ///< seconds used
};

/// Solves a verified problem.
Solution solve(const Problem &problem, const Options &options);

/// Returns cost / bound - 1; infinite for a bound of 0 below a larger cost.
double gapOf(Total cost, Total bound);

/// Returns "optimal", "iterations", "seconds", "stalled", "cutoff" or "impossible".
const char *name(Stop stop);

} // namespace millrace::autosharding
