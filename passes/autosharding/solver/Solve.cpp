// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Solve.h"

#include "passes/autosharding/solver/Dual.h"
#include "passes/autosharding/solver/Search.h"
#include "passes/autosharding/solver/Workers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <unordered_map>

using namespace millrace::autosharding;

namespace {

/// Costs that each task of an iteration reads: a multiple of those of the problem, within bounds. About 10^9 are read per second, so that an
/// iteration takes some hundredths of a second per task.
constexpr uint64_t kReadsPerCost = 20, kLeastReads = 100'000, kMostReads = 20'000'000;
/// The bound's task reads this many times as much as a search's, so that two threads are busy with it and two searches. Unit: times. Source: commit
/// 108b4886: problem D 3.092e11 after 20 processor seconds, 3.127e11 after 24 before.
constexpr uint64_t kDualShare = 2;
/// A bound this near to the cost is proved at once, because the two may be equal. Unit: share of the cost. Source: judgement, not measured alone.
constexpr double kCloseBound = 1e-6;
/// The number of iterations, growing by half each time, after which searches restart from what the messages suggest. Unit: iterations. Source:
/// judgement, not measured alone.
constexpr uint64_t kFirstRestart = 2;
/// Noise of suggestions, except for the first search. Unit: share of the bound per node of the core. Source: judgement, not measured alone.
constexpr double kSuggestionNoise = 0.05;
/// The number of iterations, doubling each time, after which a bound is proved; the last one is proved, too. Unit: iterations. Source: judgement, not
/// measured alone.
constexpr uint64_t kFirstProof = 8;

/// Iterations of the search for a sufficient limit. Unit: iterations. Source: judgement, not measured alone.
constexpr uint64_t kNeedIterations = 10;
/// The first increase of a limit without a solution. Unit: share of the limit. Source: judgement, not measured alone.
constexpr double kFirstRaise = 1.0 / 64;

/// Without any other limit a search ends after at least so many iterations in which neither cost nor bound has changed. Unit: iterations. Source:
/// planning_time.py, 1000 operations over 2x2x2x2: the last change of the cost after 4 of 100 iterations, of the bound after 18.
constexpr uint64_t kLeastPatience = 10;
/// The same, of all iterations so far. Unit: share of the iterations. Source: judgement, beside the figures above.
constexpr double kPatience = 0.5;
/// What counts as a change. Unit: share of the cost, or of the bound. Source: judgement: a hundredth of the 1 % within which plans are asked for.
constexpr double kLeastProgress = 1e-4;

/// Tells when a search does not come nearer to the best solution any more.
class Patience {
public:
  bool isOver(uint64_t iteration, double cost, double bound) {
    if (cost < (1 - kLeastProgress) * leastCost || bound > mostBound + kLeastProgress * std::abs(mostBound)) {
      leastCost = cost, mostBound = bound;
      last = iteration;
    }
    return double(iteration - last) >= std::max(double(kLeastPatience), kPatience * double(iteration));
  }

private:
  double leastCost = std::numeric_limits<double>::infinity(), mostBound = 0;
  uint64_t last = 0;
};

class Solver {
public:
  Solver(const Problem &problem, const Model &model, const Options &options)
      : problem(problem), model(model), options(options), forest(model), dual(model, forest, options.seed) {
    uint64_t costs = 0;
    for (uint32_t node = 0; node < model.size(); ++node)
      for (const EdgeEnd *link = model.begin(node); link != model.end(node); ++link)
        costs += link->costs() / 2;
    reads = std::clamp(kReadsPerCost * costs, kLeastReads, kMostReads);
  }

  void run(Solution &solution, std::function<double()> clock);

private:
  void iterate(uint64_t iteration);
  void restart();
  void take(Solution &solution);
  const Search *leader() const;

  const Problem &problem;
  const Model &model;
  const Options &options;
  Forest forest;
  Dual dual;
  std::vector<std::unique_ptr<Search>> searches;
  uint64_t reads; ///< costs that each task of an iteration reads
  uint64_t nextRestart = kFirstRestart, nextProof = kFirstProof;
};

const Search *Solver::leader() const {
  const Search *best = nullptr;
  for (const std::unique_ptr<Search> &search : searches)
    if (search->found() && (!best || search->bestCost() < best->bestCost()))
      best = search.get();
  return best;
}

/// Restarts the searches: those with an even number from the messages, the others from the best known choices.
void Solver::restart() {
  const Search *best = leader();
  for (size_t index = 0; index < searches.size(); ++index) {
    if (best && index % 2) {
      searches[index]->restart(std::vector<uint32_t>(best->best()), dual.prices());
      continue;
    }
    double noise = index ? kSuggestionNoise * std::abs(dual.bound()) / double(forest.core.size() + 1) : 0;
    searches[index]->restart(dual.suggest(noise), dual.prices());
  }
}

void Solver::iterate(uint64_t iteration) {
  const Search *best = leader();
  double known = best ? best->bestCost() : std::numeric_limits<double>::infinity();
  std::vector<std::function<void()>> tasks;
  if (!dual.settled())
    tasks.push_back([&] { dual.run(kDualShare * reads, known); });
  if (iteration > 0)
    for (std::unique_ptr<Search> &search : searches)
      tasks.push_back([&] { search->run(reads); });
  runTasks(tasks, options.threads);
  if (iteration + 1 == nextRestart || iteration == 0) {
    nextRestart = std::max(nextRestart, (iteration + 1) + (iteration + 2) / 2);
    restart();
  }
  if (iteration + 1 == nextProof) {
    nextProof *= 2;
    dual.prove();
  }
}

void Solver::take(Solution &solution) {
  if (dual.proved())
    solution.bound = std::max(solution.bound, *dual.proved());
  const Search *best = leader();
  if (!best) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const std::unique_ptr<Search> &search : searches)
      if (!search->lowestChoices().empty() && search->leastExcess() < least) {
        least = search->leastExcess();
        solution.smallestNeed = evaluate(problem, originalChoices(model, search->lowestChoices())).peak;
      }
    return;
  }
  solution.found = true;
  solution.choices = originalChoices(model, best->best());
  Value value = evaluate(problem, solution.choices);
  solution.cost = value.cost;
  solution.peak = value.peak;
}

void Solver::run(Solution &solution, std::function<double()> clock) {
  for (uint32_t index = 0; index < std::max(options.searches, 1u); ++index)
    searches.push_back(std::make_unique<Search>(model, forest, std::vector<uint32_t>(model.size(), 0), options.seed * 1000003 + index));
  const bool hasPatience = !options.iterations && options.seconds <= 0 && !options.enough;
  Patience patience;
  uint64_t most = options.iterations || options.seconds > 0 || options.enough ? options.iterations : kDefaultIterations;
  for (;; ++solution.iterations) {
    if (most && solution.iterations == most) {
      solution.stop = Stop::Iterations;
      break;
    }
    bool late = (options.seconds > 0 && clock() >= options.seconds) || (options.enough && options.enough());
    if (late && solution.iterations > 1) {
      solution.stop = Stop::Seconds;
      break;
    }
    iterate(solution.iterations);
    const Search *best = leader();
    if (options.progress)
      options.progress({solution.iterations, clock(), best != nullptr, best ? best->bestCost() : 0.0, std::max(dual.bound(), 0.0)});
    if (best && options.cutoff > 0 && dual.bound() > options.cutoff) {
      ++solution.iterations;
      solution.stop = Stop::Cutoff;
      break;
    }
    if (hasPatience && best && patience.isOver(solution.iterations, best->bestCost(), dual.bound())) {
      ++solution.iterations;
      solution.stop = Stop::Stalled;
      break;
    }
    if (best && best->bestCost() <= dual.bound() * (1 + kCloseBound))
      dual.prove();
    if (best && dual.proved() && best->bestCost() <= double(*dual.proved())) {
      ++solution.iterations;
      solution.stop = Stop::Optimal;
      break;
    }
  }
  dual.prove();
  take(solution);
}

/// Returns a lower bound of the cost of every solution, from the least cost of each node and edge.
Total leastCosts(const Problem &problem) {
  Total sum = 0;
  for (const Node &node : problem.nodes)
    sum += *std::min_element(node.costs.begin(), node.costs.end());
  std::unordered_map<const void *, int64_t> leasts; // of costs that edges share
  for (const Edge &edge : problem.edges) {
    auto [least, isNew] = leasts.try_emplace(edge.costs.identity());
    if (isNew)
      least->second = *std::min_element(edge.costs.begin(), edge.costs.end());
    sum += least->second;
  }
  return sum;
}

int64_t leastNeed(const Problem &problem) {
  std::vector<uint32_t> choices;
  for (const Node &node : problem.nodes)
    choices.push_back(uint32_t(std::min_element(node.usages.begin(), node.usages.end()) - node.usages.begin()));
  return evaluate(problem, choices).peak;
}

/// Finds a sufficient limit by raising it step by step until there is a solution. Only proofs that a limit is too small are kept as such.
void findNeed(const Problem &problem, const Options &options, int64_t least, Solution &solution, const std::function<double()> &clock) {
  Problem looser = problem;
  Options brief = options;
  brief.iterations = kNeedIterations;
  for (double more = kFirstRaise; solution.smallestNeed < 0 && least < kMostUsage; more *= 2) {
    looser.usageLimit = least;
    Model model;
    Obstacle obstacle = buildModel(looser, model);
    if (obstacle.message.empty()) {
      Solution trial;
      Solver(looser, model, brief).run(trial, clock);
      solution.iterations += trial.iterations;
      solution.smallestNeed = trial.found ? trial.peak : trial.smallestNeed;
    } else {
      solution.needAtLeast = std::max(solution.needAtLeast, obstacle.least);
      if (!obstacle.least)
        return;
    }
    least = std::max(obstacle.least, least + 1 + int64_t(more * double(least)));
  }
}

} // namespace

const char *millrace::autosharding::name(Stop stop) {
  switch (stop) {
  case Stop::Optimal:
    return "optimal";
  case Stop::Iterations:
    return "iterations";
  case Stop::Seconds:
    return "seconds";
  case Stop::Stalled:
    return "stalled";
  case Stop::Cutoff:
    return "cutoff";
  case Stop::Impossible:
    return "impossible";
  }
  return "";
}

double millrace::autosharding::gapOf(Total cost, Total bound) {
  if (bound > 0)
    return double(cost) / double(bound) - 1;
  return cost > 0 ? std::numeric_limits<double>::infinity() : 0;
}

Solution millrace::autosharding::solve(const Problem &problem, const Options &options) {
  auto start = std::chrono::steady_clock::now();
  auto clock = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Solution solution;
  solution.needAtLeast = leastNeed(problem);
  solution.bound = leastCosts(problem);
  Model model;
  Obstacle obstacle = buildModel(problem, model);
  if (obstacle.message.empty()) {
    Solver(problem, model, options).run(solution, clock);
    if (!solution.found)
      solution.message = problem.usageLimit == kNoLimit ? "no solution was found"
                                                        : "no solution within the limit of " + std::to_string(problem.usageLimit) + " bytes was found";
  } else {
    solution.stop = Stop::Impossible;
    solution.message = obstacle.message;
    solution.impossibleNode = obstacle.node;
    solution.needAtLeast = std::max(solution.needAtLeast, obstacle.least);
    if (obstacle.least > 0)
      findNeed(problem, options, obstacle.least, solution, clock);
  }
  if (!solution.found && problem.usageLimit != kNoLimit) {
    solution.message += "; every choice needs at least " + std::to_string(solution.needAtLeast) + " bytes";
    if (solution.smallestNeed >= 0)
      solution.message += ", and choices that need " + std::to_string(solution.smallestNeed) + " bytes were found";
  }
  if (solution.found && solution.cost == solution.bound)
    solution.stop = Stop::Optimal;
  if (solution.found)
    solution.gap = gapOf(solution.cost, solution.bound);
  solution.seconds = clock();
  return solution;
}
