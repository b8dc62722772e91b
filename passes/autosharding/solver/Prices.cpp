// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Prices.h"

#include <algorithm>

using namespace millrace::autosharding;

void Prices::apply(const Model &model, double scale, std::vector<double> &priced) const {
  std::vector<double> until(perByte.size() + 1, 0.0);
  for (size_t time = 0; time < perByte.size(); ++time)
    until[time + 1] = until[time] + perByte[time];
  priced = model.cost;
  for (uint32_t node = 0; node < model.size(); ++node) {
    auto [begin, end] = model.spans[node];
    double price = scale * (until[end] - until[begin]);
    if (price > 0)
      for (uint32_t at = model.first[node]; at < model.first[node + 1]; ++at)
        priced[at] += price * double(model.usage[at]);
  }
}

double Prices::ofRoom(const Model &model) const {
  double sum = 0;
  for (size_t time = 0; time < perByte.size(); ++time)
    sum += perByte[time] * double(model.room[time]);
  return sum;
}

void Prices::step(const Model &model, const std::vector<int64_t> &loads, double length) {
  std::vector<std::pair<size_t, double>> moves;
  double square = 0;
  auto move = [&](size_t time) {
    double excess = double(loads[time] - model.room[time]);
    moves.push_back({time, excess});
    square += excess * excess;
  };
  for (size_t time = 0; time < loads.size();) {
    size_t fullest = time, end = time;
    for (; end < loads.size() && loads[end] > model.room[end]; ++end) {
      if (loads[end] - model.room[end] > loads[fullest] - model.room[fullest])
        fullest = end;
    }
    for (size_t at = time; at < end; ++at)
      if (perByte[at] > 0 || at == fullest)
        move(at);
    if (end == time) {
      if (perByte[end] > 0)
        move(end);
      ++end;
    }
    time = end;
  }
  if (square <= 0)
    return;
  for (auto [time, excess] : moves)
    perByte[time] = std::max(0.0, perByte[time] + length / square * excess);
}

std::vector<int64_t> millrace::autosharding::loadsOf(const Model &model, const std::vector<uint32_t> &choices) {
  std::vector<int64_t> loads(model.room.size() + 1, 0);
  for (uint32_t node = 0; node < model.size(); ++node)
    if (int64_t bytes = model.usage[model.first[node] + choices[node]]) {
      loads[model.spans[node].first] += bytes;
      loads[model.spans[node].second] -= bytes;
    }
  for (size_t time = 1; time < loads.size(); ++time)
    loads[time] += loads[time - 1];
  loads.pop_back();
  return loads;
}
