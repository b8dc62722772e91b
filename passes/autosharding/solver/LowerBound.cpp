// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/LowerBound.h"

#include <algorithm>
#include <cmath>

using namespace millrace::autosharding;

namespace {

/// Fact: bits of a double's significand (IEEE 754, binary64: 53) that numbers may use, so that the sum of two is exact, too.
constexpr int kExactBits = 52;
/// With prices of so many bits, sums over up to 2^26 times fit 63 bits, and products with bytes 128 bits. Unit: bits of the largest price. Source:
/// arithmetic: 36 + 26 bits are less than 63.
constexpr int kPriceBits = 36;
/// Bits behind the point: how many a first try leaves free for vectors larger than all costs together, and how many fewer the next try has.
constexpr int kSpareBits = 2, kFewerBits = 6;
/// The largest number of low bits that costs lose by rounding; sums of costs may be larger by as many bits. Unit: bits. Source: arithmetic: 52 + 44
/// bits are the largest sum of 10^10 costs below 10^18, and less than the 128 of a bound.
constexpr int kMostLostBits = 44;

/// Returns the model with all costs rounded down to multiples of 2^bits.
void roundDown(const Model &model, int bits, Model &rounded) {
  // Costs that a double does not represent exactly were rounded when the model was made, and so was each of their sums, by half a unit in the last
  // place.
  const double lost = std::ilogb(model.magnitude + 1) < kExactBits ? 0 : std::ldexp(double(model.summands + 1), -kExactBits);
  auto round = [&](double value) { return value == model.impossible ? value : std::ldexp(std::floor(std::ldexp(value - value * lost, -bits)), bits); };
  rounded.first = model.first;
  rounded.usage = model.usage;
  rounded.original = model.original;
  rounded.spans = model.spans;
  rounded.room = model.room;
  rounded.firstLink = model.firstLink;
  rounded.edges = model.edges;
  rounded.summands = model.summands;
  rounded.constant = round(model.constant);
  rounded.impossible = model.impossible;
  rounded.magnitude = model.magnitude;
  for (double cost : model.cost)
    rounded.cost.push_back(round(cost));
  for (double cost : model.tables)
    rounded.tables.push_back(round(cost));
  rounded.rows = model.rows;
  for (EdgeEnd link : model.links) {
    for (CostTable *table : {&link.out, &link.in}) {
      table->costs = rounded.tables.data() + (table->costs - model.tables.data());
      table->rows = rounded.rows.data() + (table->rows - model.rows.data());
    }
    rounded.links.push_back(link);
  }
}

/// Prices as integers divided by 2^shift, so that the same numbers determine the prices of choices and of the room.
struct IntegerPrices {
  IntegerPrices(const Model &model, const Prices &prices) {
    double most = 0;
    for (double price : prices.perByte)
      most = std::max(most, price);
    if (most > 0)
      shift = std::clamp(kPriceBits - 1 - std::ilogb(most), 0, 60);
    until.assign(prices.perByte.size() + 1, 0);
    for (size_t time = 0; time < prices.perByte.size(); ++time) {
      int64_t number = int64_t(std::min(std::ldexp(prices.perByte[time], shift), std::ldexp(1.0, kPriceBits)));
      until[time + 1] = until[time] + number;
      ofRoom += Total(number) * model.room[time];
    }
  }

  int shift = 0;
  std::vector<int64_t> until; ///< sums of the prices of earlier times
  Total ofRoom = 0;
};

/// The proof of LowerBound.h with all vectors rounded to multiples of 2^-digits, like the model's costs. `messages` may be those of another model
/// with equal nodes and links, whose tables begin at `told`.
class Proof {
public:
  Proof(const Model &model, const Forest &forest, const MessagePassing &messages, const double *told, const IntegerPrices &prices, int digits)
      : model(model), forest(forest), messages(messages), told(told), prices(prices), digits(digits), largest(std::ldexp(1.0, kExactBits - digits)) {}

  std::optional<Total> run() {
    priceChoices();
    if (!exact)
      return std::nullopt;
    foldForest(model, forest, priced, folded);
    check(folded.alone);
    check(model.constant);
    for (uint32_t node : forest.core)
      for (uint32_t at = model.first[node]; at < model.first[node + 1]; ++at)
        check(folded.cost[at]);
    Total bound = units(model.constant) + units(folded.alone);
    rest = folded.cost;
    // Later nodes give first, so that a node has received its betas when it gives.
    for (uint32_t place = uint32_t(forest.core.size()); exact && place-- > 0;)
      bound += give(place);
    if (!exact)
      return std::nullopt;
    // bound / 2^digits - room / 2^shift, rounded up, because costs are integers.
    const int behind = std::max(digits, 0); // bits behind the point
    bound <<= behind - digits;
    Total unit = Total(1) << prices.shift, one = Total(1) << behind;
    Total room = prices.ofRoom / unit, part = prices.ofRoom % unit;
    bound -= room * one;
    bound -= ((part << behind) + unit - 1) / unit;
    return bound > 0 ? (bound + one - 1) / one : bound / one;
  }

private:
  void check(double value) { exact &= std::abs(value) < largest; }
  Total units(double value) const { return Total(std::ldexp(value, digits)); }

  void priceChoices() {
    priced = model.cost;
    for (uint32_t node = 0; node < model.size(); ++node) {
      int64_t price = prices.until[model.spans[node].second] - prices.until[model.spans[node].first];
      for (uint32_t at = model.first[node]; at < model.first[node + 1]; ++at) {
        // The value is rounded down to a multiple of 2^-digits; a shift of up to 60 minus digits of -44 to 51 fits 128 bits.
        Total value = Total(price) * model.usage[at];
        exact &= value < (Total(1) << 100);
        if (!exact)
          return;
        value = prices.shift >= digits ? value >> (prices.shift - digits) : value << std::min(digits - prices.shift, 20);
        exact &= value < (Total(1) << kExactBits);
        priced[at] += std::ldexp(double(value), -digits);
        check(priced[at]);
      }
    }
  }

  /// Takes the alphas from the node and gives betas to its earlier neighbours. Returns the least cost that remains at the node.
  Total give(uint32_t place) {
    uint32_t node = forest.core[place], count = model.choices(node);
    double *mine = rest.data() + model.first[node];
    messages.gather(folded.cost, place, sum);
    double weight = messages.weight(place);
    for (const MessagePassing::Neighbour *neighbour = messages.begin(place); neighbour != messages.later(place); ++neighbour) {
      const double *heard = messages.heard(*neighbour);
      uint32_t others = model.choices(neighbour->link->node);
      alpha.resize(count);
      beta.resize(others);
      for (uint32_t choice = 0; choice < count; ++choice) {
        alpha[choice] = std::ldexp(std::nearbyint(std::ldexp(weight * sum[choice] - heard[choice], digits)), -digits);
        mine[choice] -= alpha[choice];
        check(alpha[choice]);
        check(mine[choice]);
      }
      CostTable table = neighbour->link->out; // of the model whose messages they are
      table.costs = model.tables.data() + (table.costs - told);
      minimizeRows(alpha, table, beta.data());
      double *target = rest.data() + model.first[neighbour->link->node];
      for (uint32_t other = 0; other < others; ++other) {
        target[other] += beta[other];
        check(target[other]);
      }
    }
    return units(*std::min_element(mine, mine + count));
  }

  const Model &model;
  const Forest &forest;
  const MessagePassing &messages;
  const double *told;
  const IntegerPrices &prices;
  int digits;
  double largest;
  bool exact = true;
  FoldedForest folded;
  std::vector<double> priced, rest, sum, alpha, beta; ///< rest: remaining cost of every choice of the core
};

} // namespace

std::optional<Total> millrace::autosharding::proveBound(const Model &model, const Forest &forest, const MessagePassing &messages,
                                                        const Prices &prices) {
  IntegerPrices integer(model, prices);
  int digits = kExactBits - kSpareBits - std::max(0, std::ilogb(model.magnitude + 1) + 1);
  for (digits = std::min(digits, 20); digits >= -kMostLostBits; digits -= kFewerBits) {
    std::optional<Total> bound;
    if (digits >= 0) {
      bound = Proof(model, forest, messages, model.tables.data(), integer, digits).run();
    } else {
      Model rounded;
      roundDown(model, -digits, rounded);
      bound = Proof(rounded, Forest(rounded), messages, model.tables.data(), integer, digits).run();
    }
    if (bound)
      return bound;
  }
  return std::nullopt;
}
