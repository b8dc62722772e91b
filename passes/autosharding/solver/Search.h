// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Search.h - Large-neighbourhood search -------------------------------===//
// Trees and regions of the core of random size get their best choices for prices of memory; a connected group of changes is made if it improves cost
// plus prices and keeps the limit. Three mechanisms leave local optima:
// - the prices swing: at full height memory is freed where that is cheap, at zero it is used where it saves most;
// - kicks: a region chooses at random among nearly best choices, its surroundings adapt, and all is taken back unless it is an improvement;
// - perturbation: after some swings without a better solution, prices change at random and the limit is lifted until they have had their effect, or
//   single nodes are annealed; and the caller restarts the search from other choices.
// The best solution is that of the least cost without prices.
#pragma once

#include "passes/autosharding/solver/RegionMoves.h"
#include "passes/autosharding/solver/TreeMoves.h"

namespace millrace::autosharding {

class Search {
public:
  Search(const Model &model, const Forest &forest, std::vector<uint32_t> choices, uint64_t seed);

  /// Runs until about `work` costs were read.
  void run(uint64_t work);
  /// Continues from other choices, with other prices.
  void restart(const std::vector<uint32_t> &choices, const Prices &given);

  bool found() const { return leastCost < std::numeric_limits<double>::infinity(); } ///< a solution within the limit
  const std::vector<uint32_t> &best() const { return bestChoices; }
  double bestCost() const { return leastCost; }
  /// Returns the least number of bytes above the limit of all possible states so far, and their choices; nothing if there was none.
  int64_t leastExcess() const { return lowest; }
  const std::vector<uint32_t> &lowestChoices() const { return lowestState; }

private:
  /// During a repair only the prices drive the state into the limit, and rise until it is; in a swing every change keeps the limit. Annealing changes
  /// single nodes within the limit, at a falling temperature.
  enum class Phase { Repair, Swing, Anneal };
  enum class Part { Trees, Regions, Kicks };

  void begin(Phase next);
  void price(double share);
  uint64_t treeMove(uint32_t start, double most, bool free, double &more);
  uint64_t regionMove(bool free);
  uint64_t kick();
  uint64_t anneal();
  void hangTrees(bool free);
  uint64_t polish();
  bool shed(uint64_t &work);
  uint64_t finish();
  void perturb();
  double attempt(const std::vector<Change> &group, bool free);
  double carryOut(const std::vector<Change> &group);
  double move(uint32_t node, uint32_t choice);
  double follow(uint32_t node);
  void judge();

  const Model &model;
  const Forest &forest;
  State state;
  Random random;
  TreeMoves trees;
  RegionMoves regions;
  Prices prices;
  FoldedForest folded;
  std::vector<double> priced;
  std::vector<uint32_t> bestChoices, lowestState;
  double leastCost = std::numeric_limits<double>::infinity();
  double cycleCost = std::numeric_limits<double>::infinity(); ///< least cost since the last perturbation
  int64_t lowest = std::numeric_limits<int64_t>::max();
  Phase phase = Phase::Repair;
  Part part = Part::Trees;
  uint32_t height = 0;     ///< index of the current factor of the prices
  uint64_t left = 0;       ///< work until the end of the current phase
  uint64_t sweep;          ///< approximate work of visiting every node of the core
  double temperature = 0, cooling = 1;
  uint32_t repairs = 0;    ///< repairs since the state was within the limit
  uint32_t idleSwings = 0; ///< whole swings without a better solution
};

} // namespace millrace::autosharding
