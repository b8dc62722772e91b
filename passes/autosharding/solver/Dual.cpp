// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Dual.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace millrace::autosharding;

namespace {

// The numbers were found by trial on ten problems of google/iopddl.

/// The first step as a share of the gap, and the step at which the bound hardly grows any more.
constexpr double kFirstLength = 0.5, kLastLength = 1e-4;
/// Passes without a larger bound after which steps are halved. Unit: passes. Source: found by trial on the ten problems of the ASPLOS 2025 contest.
constexpr uint32_t kIdlePasses = 20;
/// The gap that is assumed while no solution is known, and the largest gap that determines steps. Unit: share of the bound. Source: found by trial on
/// the ten problems of the ASPLOS 2025 contest.
constexpr double kAssumedGap = 0.1;
/// The least growth of the bound that counts. Unit: share of the bound. Source: found by trial on the ten problems of the ASPLOS 2025 contest.
constexpr double kGrowth = 1e-5;
/// Passes for the best prices before a bound is proved for them, because messages have to adapt to the prices. Unit: passes. Source: found by trial
/// on the ten problems of the ASPLOS 2025 contest.
constexpr int kProofPasses = 5;

} // namespace

Dual::Dual(const Model &model, const Forest &forest, uint64_t seed)
    : model(model), forest(forest), messages(model), decoder(model), random(seed), current(model), bestPrices(model), choices(model.size(), 0),
      order(forest.core.size()), length(kFirstLength) {
  messages.reset(forest.core);
  std::iota(order.begin(), order.end(), 0);
}

bool Dual::settled() const { return length < kLastLength; }

void Dual::pass(const Prices &now) {
  now.apply(model, 1, priced);
  foldForest(model, forest, priced, folded);
  value = messages.iterate(folded.cost) + folded.alone + model.constant - now.ofRoom(model);
  ++count;
}

void Dual::run(uint64_t work, double known) {
  for (uint64_t done = 0; done < work && !settled();) {
    pass(current);
    done += messages.work() + 4 * model.cost.size() + 1;
    if (value > best + kGrowth * std::abs(best) || count == 1) {
      best = value;
      bestPrices = current;
      idle = 0;
    } else {
      if (value > best)
        best = value, bestPrices = current;
      if (++idle == kIdlePasses) {
        idle = 0;
        length /= 2;
        current = bestPrices;
        continue;
      }
    }
    decoder.decode(messages, folded.cost, order, 0, random, choices);
    done += decoder.work();
    unfoldForest(forest, folded, choices);
    double assumed = kAssumedGap * std::max(std::abs(best), 1.0);
    double gap = std::min(std::max(known - best, 0.0), assumed) + std::max(best - value, 0.0);
    current.step(model, loadsOf(model, choices), length * gap);
  }
}

std::vector<uint32_t> Dual::suggest(double noise) {
  if (count == 0)
    pass(bestPrices);
  bestPrices.apply(model, 1, priced);
  foldForest(model, forest, priced, folded);
  decoder.decode(messages, folded.cost, order, noise, random, choices);
  unfoldForest(forest, folded, choices);
  return choices;
}

void Dual::prove() {
  for (int at = 0; at < kProofPasses; ++at)
    pass(bestPrices);
  std::optional<Total> bound = proveBound(model, forest, messages, bestPrices);
  if (bound && (!provedBound || *bound > *provedBound))
    provedBound = bound;
}
