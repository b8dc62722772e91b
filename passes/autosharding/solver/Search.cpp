// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace millrace::autosharding;

namespace {

// All numbers below were found by trial on ten problems of google/iopddl; none of them affects the validity of a solution or a bound.

/// Factors of the prices in one swing. Unit: shares of those that maximize the bound. Source: found by trial, as all numbers here.
constexpr double kHeights[] = {1.0, 0.7, 0.5, 0.3, 0.15, 0.0};
/// Fact: the number of factors.
constexpr uint32_t kHeightCount = sizeof(kHeights) / sizeof(*kHeights);
/// Trees have up to 2^this nodes, regions from 2^kLeastRegion to 2^kMostRegion; the exponents are drawn uniformly.
constexpr double kMostTree = 10, kLeastRegion = 4, kMostRegion = 11;
/// Passes of messages in a region before it chooses. Unit: passes. Source: found by trial, as all numbers here.
constexpr uint32_t kRegionPasses = 20;
/// The work of a sweep in reads per node and link of the core, about the costs of one link; and the sweeps per factor, or per repair, for each kind
/// of move.
constexpr double kSweepReads = 100, kSweepsPerHeight = 4, kSweepsPerRepair = 2;
/// Kicks use regions of up to 2^this nodes, and move trees kKickTrees times afterwards. Unit: power of two. Source: found by trial, as all numbers
/// here.
constexpr double kMostKick = 6;
/// Trees that are moved after a kick. Unit: trees. Source: found by trial, as all numbers here.
constexpr uint32_t kKickTrees = 12;
/// The number of rounds after which shedding is given up. Unit: rounds. Source: commit 913e319a: problem T has its first solution after 1.2 processor
/// seconds, before after 8.4.
constexpr uint32_t kShedRounds = 200;
/// The increase of prices per repair, which doubles after every fourth failed one. Unit: share of the cost of all room. Source: found by trial, as
/// all numbers here.
constexpr double kRepairStep = 0.02;
/// Swings without a better solution after which the solution is perturbed. Unit: swings. Source: found by trial, as all numbers here.
constexpr uint32_t kPatience = 2;
/// Annealing: changes tried per node, the first temperature as a power of two times the cost per node, and the powers of two by which it falls.
constexpr uint64_t kAnnealMoves = 200;
constexpr double kLeastHeat = -6, kMostHeat = 2, kCooling = 10;
/// The work of a tried change in addition to the costs that it reads. Unit: reads. Source: found by trial, as all numbers here.
constexpr uint64_t kAnnealReads = 20;
/// The work of a move in addition to the costs that it reads. Unit: reads. Source: found by trial, as all numbers here.
constexpr uint64_t kMoveReads = 200;

} // namespace

Search::Search(const Model &model, const Forest &forest, std::vector<uint32_t> choices, uint64_t seed)
    : model(model), forest(forest), state(model, std::move(choices)), random(seed), trees(model, forest), regions(model, forest), prices(model),
      sweep(uint64_t(kSweepReads * double(forest.coreLinks.size() + forest.core.size() + 1))) {
  begin(Phase::Repair);
}

void Search::restart(const std::vector<uint32_t> &choices, const Prices &given) {
  prices = given;
  state.assign(choices);
  cycleCost = std::numeric_limits<double>::infinity();
  idleSwings = 0;
  repairs = 0;
  judge();
  begin(Phase::Repair);
}

void Search::price(double height) {
  prices.apply(model, height, priced);
  foldForest(model, forest, priced, folded);
}

/// Gives the subtrees of `node` their best choices for its choice.
double Search::follow(uint32_t node) {
  double more = 0;
  for (uint32_t at = forest.firstChild[node]; at < forest.firstChild[node + 1]; ++at) {
    uint32_t child = forest.children[at], wanted = folded.best[forest.firstBest[child] + state[node]];
    if (state[child] != wanted)
      more += move(child, wanted);
    more += follow(child);
  }
  return more;
}

/// Changes a node's choice; returns what that adds to cost and prices.
double Search::move(uint32_t node, uint32_t choice) {
  uint32_t before = model.first[node] + state[node], after = model.first[node] + choice;
  return state.change(node, choice) + (priced[after] - model.cost[after]) - (priced[before] - model.cost[before]);
}

/// Makes changes in the core and the resulting ones of the trees; returns what they add to cost and prices.
double Search::carryOut(const std::vector<Change> &group) {
  double more = 0;
  for (auto [node, choice] : group)
    more += move(node, choice);
  for (auto [node, choice] : group)
    more += follow(node);
  return more;
}

/// Makes the changes if they improve cost plus prices and, unless `free`, keep the limit. Returns what they add.
double Search::attempt(const std::vector<Change> &group, bool free) {
  size_t before = state.pending().size();
  double more = carryOut(group);
  if (more < 0 && (free || state.fits()))
    return more;
  state.undo(before);
  return 0;
}

uint64_t Search::treeMove(uint32_t start, double most, bool free, double &more) {
  uint64_t work = trees.grow(start, uint32_t(std::exp2(random.unit() * most)), random);
  trees.solve(folded, state);
  for (const std::vector<Change> &group : trees.groups())
    more += attempt(group, free);
  return work + kMoveReads;
}

uint64_t Search::regionMove(bool free) {
  uint32_t size = uint32_t(std::exp2(kLeastRegion + random.unit() * (kMostRegion - kLeastRegion)));
  uint32_t start = random.below(uint32_t(forest.core.size()));
  if (random.below(2))
    regions.growBall(start, size);
  else
    regions.growWindow(start, size);
  uint64_t work = regions.solve(folded, state, kRegionPasses, 0, random);
  for (const std::vector<Change> &group : regions.groups())
    attempt(group, free);
  state.keep();
  return work + 5 * kMoveReads;
}

/// Lets a region choose at random among nearly best choices and the trees around it adapt; all is taken back unless cost plus prices fall.
uint64_t Search::kick() {
  uint32_t size = uint32_t(std::exp2(1 + random.unit() * (kMostKick - 1)));
  uint32_t start = random.below(uint32_t(forest.core.size()));
  regions.growBall(start, size);
  double scale = std::abs(state.cost()) / double(forest.core.size()) * std::exp2(-6 + 10 * random.unit());
  uint64_t work = regions.solve(folded, state, 3, scale, random);
  double more = 0;
  for (const std::vector<Change> &group : regions.groups())
    more += carryOut(group);
  if (state.pending().empty())
    return work + kMoveReads;
  for (uint32_t at = 0; at < kKickTrees; ++at) {
    uint32_t node = regions.nodes()[random.below(uint32_t(regions.nodes().size()))];
    work += treeMove(forest.place[node], kMostKick, true, more);
  }
  if (more < 0 && state.fits())
    state.keep();
  else
    state.undo(0);
  return work + 5 * kMoveReads;
}

/// Makes one random change, accepted with the probability of Metropolis et al. (1953).
uint64_t Search::anneal() {
  uint32_t node = random.below(model.size()), count = model.choices(node);
  temperature *= cooling;
  if (count < 2)
    return 1;
  uint32_t choice = random.below(count - 1);
  choice += choice >= state[node];
  double more = state.difference(node, choice);
  if ((more <= 0 || more < -temperature * std::log(1 - random.unit())) && state.wouldFit(node, choice)) {
    state.change(node, choice);
    state.keep();
  }
  return kAnnealReads + model.degree(node);
}

/// Gives nodes of trees their best choices for the current prices, as far as the limit allows.
void Search::hangTrees(bool free) {
  for (auto node = forest.order.rbegin(); node != forest.order.rend(); ++node) {
    uint32_t wanted = folded.best[forest.firstBest[*node] + (forest.parent[*node] ? state[forest.parent[*node]->node] : 0)];
    if (wanted != state[*node] && (free || state.wouldFit(*node, wanted)))
      state.change(*node, wanted);
  }
  state.keep();
}

/// Gives single nodes cheaper choices until there are none.
uint64_t Search::polish() {
  uint64_t work = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t node = 0; node < model.size(); ++node) {
      uint32_t best = state[node];
      double least = 0;
      work += uint64_t(model.choices(node)) * (1 + model.degree(node));
      for (uint32_t choice = 0; choice < model.choices(node); ++choice)
        if (choice != state[node])
          if (double more = state.difference(node, choice); more < least && state.wouldFit(node, choice))
            least = more, best = choice;
      if (best != state[node])
        state.change(node, best), changed = true;
    }
  }
  state.keep();
  return work;
}

/// Reduces the bytes of single nodes at the fullest time, the cheapest per byte first, until the state is within the limit. If it does not get there,
/// everything is taken back.
bool Search::shed(uint64_t &work) {
  struct Offer {
    double perByte;
    uint32_t node, choice;
  };
  std::vector<Offer> offers;
  for (uint32_t round = 0; round < kShedRounds && !state.fits(); ++round) {
    uint32_t time = state.fullest();
    offers.clear();
    for (uint32_t node = 0; node < model.size(); ++node) {
      if (time < model.spans[node].first || time >= model.spans[node].second)
        continue;
      int64_t now = model.usage[model.first[node] + state[node]];
      work += now > 0 ? model.choices(node) * (1 + model.degree(node)) : 1;
      for (uint32_t choice = 0; now > 0 && choice < model.choices(node); ++choice)
        if (int64_t less = now - model.usage[model.first[node] + choice]; less > 0)
          if (double more = state.difference(node, choice); more < model.impossible / 2)
            offers.push_back({more / double(less), node, choice});
    }
    std::sort(offers.begin(), offers.end(), [](const Offer &left, const Offer &right) {
      return std::tie(left.perByte, left.node, left.choice) < std::tie(right.perByte, right.node, right.choice);
    });
    bool changed = false;
    for (const Offer &offer : offers) {
      if (state.excessAt(time) <= 0)
        break;
      // Another choice of the node may have been made already, and neighbours may have changed the cost.
      if (model.usage[model.first[offer.node] + offer.choice] >= model.usage[model.first[offer.node] + state[offer.node]] ||
          state.difference(offer.node, offer.choice) >= model.impossible / 2)
        continue;
      state.change(offer.node, offer.choice);
      changed = true;
    }
    if (!changed)
      break;
  }
  bool fits = state.fits();
  if (fits)
    state.keep();
  else
    state.undo(0);
  return fits;
}

void Search::judge() {
  state.assign(state.choices()); // recomputes the sums, so that rounding errors do not accumulate
  if (!state.possible())
    return;
  if (state.excess() < lowest)
    lowest = state.excess(), lowestState = state.choices();
  if (!state.fits())
    return;
  if (state.cost() < cycleCost)
    cycleCost = state.cost(), idleSwings = 0;
  if (state.cost() < leastCost)
    leastCost = state.cost(), bestChoices = state.choices();
}

void Search::begin(Phase next) {
  phase = next;
  if (next == Phase::Anneal) {
    left = kAnnealMoves * kAnnealReads * model.size();
    double first = std::abs(state.cost()) / double(model.size() + 1) * std::exp2(kLeastHeat + random.unit() * (kMostHeat - kLeastHeat));
    temperature = first;
    cooling = std::exp2(-kCooling / double(kAnnealMoves * model.size()));
    return;
  }
  price(next == Phase::Repair ? 1.0 : kHeights[height]);
  hangTrees(next == Phase::Repair);
  left = uint64_t(double(sweep) * (next == Phase::Repair ? kSweepsPerRepair : kSweepsPerHeight));
  part = Part::Trees;
}

/// Ends a phase: a repair when the state is within the limit, a swing when all its factors were used.
uint64_t Search::finish() {
  judge();
  uint64_t work = 0;
  if (phase == Phase::Repair) {
    if (state.possible() && !state.fits() && shed(work))
      judge();
    if (state.fits() && state.possible()) {
      repairs = 0;
      height = 0;
      return begin(Phase::Swing), work;
    }
    ++repairs;
    double room = prices.ofRoom(model);
    if (room <= 0)
      room = std::min(std::abs(state.cost()), model.impossible);
    prices.step(model, state.loads(), kRepairStep * room * std::exp2(std::min(repairs / 4, 10u)));
    return begin(Phase::Repair), work;
  }
  if (phase == Phase::Anneal)
    return height = kHeightCount - 1, begin(Phase::Swing), 0;
  if (++height == kHeightCount) {
    work += polish();
    judge();
    height = 0;
    if (++idleSwings > kPatience)
      perturb();
  }
  begin(phase);
  return work;
}

/// Leaves a local optimum: changes prices, and lifts the limit until they have had their effect.
void Search::perturb() {
  idleSwings = 0;
  if (found() && random.below(2))
    state.assign(bestChoices);
  cycleCost = std::numeric_limits<double>::infinity();
  if (random.below(2)) {
    phase = Phase::Anneal;
    return;
  }
  for (double &price : prices.perByte)
    price *= std::exp2(random.unit() - 0.5);
  phase = Phase::Repair;
}

void Search::run(uint64_t work) {
  if (forest.core.empty()) {
    price(1);
    hangTrees(true);
  }
  for (uint64_t done = 0; done < work;) {
    bool free = phase == Phase::Repair;
    double ignored = 0;
    uint64_t now = 1;
    if (phase == Phase::Anneal) {
      now = anneal();
    } else if (!forest.core.empty()) {
      if (part == Part::Trees)
        now = treeMove(random.below(uint32_t(forest.core.size())), kMostTree, free, ignored), state.keep();
      else
        now = part == Part::Regions ? regionMove(free) : kick();
    }
    done += now;
    if (now < left) {
      left -= now;
      continue;
    }
    if (phase == Phase::Anneal || part == Part::Kicks || (free && part == Part::Regions) || forest.core.empty()) {
      done += finish();
    } else {
      part = part == Part::Trees ? Part::Regions : Part::Kicks;
      left = uint64_t(double(sweep) * (free ? kSweepsPerRepair : kSweepsPerHeight));
    }
  }
}
