// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Align.cpp - One clock for recordings of several hosts ----------------===//
#include "runtime/profile/Align.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

namespace millrace::runtime::profile {
namespace {

/// Ends of collectives in nanoseconds, in their order, by program and name; of the first device that has any, for those of one process end together.
using Ends = std::map<std::string, std::vector<int64_t>>;

Ends endsOf(const XSpace &space) {
  for (const Plane &plane : space.planes) {
    if (!plane.name.starts_with("/device:"))
      continue;
    Ends ends;
    for (const Plane::Line &line : plane.lines) {
      if (line.name != "XLA Ops")
        continue;
      for (const Plane::Event &event : line.events) {
        auto textOf = [&](std::string_view name) {
          const Stat *stat = plane.find(line, event, name);
          return stat && stat->type == Stat::Type::Text ? plane.texts[stat->text] : std::string();
        };
        if (textOf("hlo_category") == "collective")
          ends[textOf("hlo_module") + "\n" + plane.kinds[event.kind].name].push_back(line.start + (event.offset + event.duration) / 1000);
      }
    }
    if (!ends.empty())
      return ends;
  }
  return {};
}

int64_t median(std::vector<int64_t> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Fit {
  int64_t shift = 0, spread = 0; ///< of the second clock to the first; how far pairs lie from it
};

/// One recording may have begun some collectives later: of all offsets between the two series the one counts at which the differences of times
/// agree best. At least a few pairs, for two numbers always agree.
std::optional<Fit> fitOf(const std::vector<int64_t> &first, const std::vector<int64_t> &second) {
  constexpr std::ptrdiff_t kFewest = 4, kFarthest = 256;
  const auto a = std::ptrdiff_t(first.size()), b = std::ptrdiff_t(second.size());
  std::optional<Fit> best;
  for (std::ptrdiff_t lag = -std::min(b - 1, kFarthest); lag < std::min(a, kFarthest); ++lag) {
    const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, lag), end = std::min(a, b + lag);
    if (end - begin < std::min(kFewest, std::min(a, b)))
      continue;
    std::vector<int64_t> differences, distances;
    for (std::ptrdiff_t i = begin; i < end; ++i)
      differences.push_back(first[size_t(i)] - second[size_t(i - lag)]);
    Fit fit{median(differences), 0};
    for (int64_t difference : differences)
      distances.push_back(std::abs(difference - fit.shift));
    fit.spread = median(std::move(distances));
    // Where several agree as well, as in a loop of equal steps, clocks that were set by a network differ least.
    if (!best || fit.spread < best->spread || (fit.spread == best->spread && std::abs(fit.shift) < std::abs(best->shift)))
      best = fit;
  }
  return best;
}

std::string hostOf(const XSpace &space) { return space.hostnames.empty() ? std::string() : space.hostnames[0]; }

} // namespace

void alignClocks(std::vector<XSpace> &spaces) {
  std::map<std::string, std::optional<int64_t>> shifts; ///< of hosts: what is known of one process holds for all
  if (spaces.empty())
    return;
  const std::string first = hostOf(spaces[0]);
  const Ends reference = endsOf(spaces[0]);
  for (const XSpace &space : spaces) {
    const std::string host = hostOf(space);
    if (host.empty() || host == first || shifts[host])
      continue;
    std::optional<Fit> best;
    size_t most = 0;
    for (const auto &[key, ends] : endsOf(space))
      if (auto found = reference.find(key); found != reference.end() && std::min(ends.size(), found->second.size()) > most)
        if (std::optional<Fit> fit = fitOf(found->second, ends)) {
          best = fit;
          most = std::min(ends.size(), found->second.size());
        }
    if (best)
      shifts[host] = best->shift;
  }
  for (XSpace &space : spaces) {
    const std::string host = hostOf(space);
    auto found = shifts.find(host);
    if (found == shifts.end())
      continue;
    if (!found->second) {
      space.warnings.push_back("the clock of " + host + " is its own: it has no collective in common with " + first);
      continue;
    }
    for (Plane &plane : space.planes)
      for (Plane::Line &line : plane.lines)
        line.start += *found->second;
    char text[64];
    std::snprintf(text, sizeof text, "%.3f ms", double(*found->second) / 1e6);
    space.warnings.push_back("the clock of " + host + " was shifted by " + text + ", by the collectives that it shares with " + first);
  }
}

} // namespace millrace::runtime::profile
