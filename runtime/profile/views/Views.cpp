// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Views.cpp - What to change, and what the pages show of it -----------===//
#include "runtime/profile/Views.h"
#include "runtime/profile/ToXSpace.h"
#include "runtime/profile/Utf8.h"
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

namespace millrace::runtime::profile {

Roofs withThreads(Roofs roofs, const XSpace &space) {
  uint64_t threads = 0;
  for (const Plane &plane : space.planes)
    if (plane.name.starts_with("/device:"))
      if (const Stat *stat = plane.find(plane.stats, kThreadsStat); stat && stat->type == Stat::Type::Unsigned)
        threads = std::max(threads, stat->number);
  if (threads)
    roofs.threads = uint32_t(threads);
  return roofs;
}

/// The graphs of programs, those first on which the devices spend most time.
static std::vector<std::pair<std::string, std::string>> graphsOf(const XSpace &space, const Summary &summary) {
  std::map<std::string_view, double> times;
  for (const Summary::Row &row : summary.programs)
    times[row.name] = row.ns;
  std::multimap<double, std::pair<std::string, std::string>, std::greater<>> byTime; // keeps the order of those that did not run
  for (const Plane &plane : space.planes)
    if (plane.name.starts_with(kProgramsPlane))
      for (const Stat &stat : plane.stats)
        if (stat.type == Stat::Type::Text) {
          const std::string &name = plane.nameOf(stat);
          auto found = times.find(name);
          byTime.emplace(found == times.end() ? 0 : found->second, std::pair(name, plane.texts[stat.text]));
        }
  std::vector<std::pair<std::string, std::string>> graphs;
  for (auto &[time, graph] : byTime)
    graphs.push_back(std::move(graph));
  return graphs;
}

Views viewsOf(const XSpace &space, const Summary &summary, const Roofs &measured) {
  const Roofs roofs = withThreads(measured, space);
  const Lanes lanes(space, summary, roofs);
  Views views;
  views.programs = graphsOf(space, summary);
  for (auto *conclude : {addCompilations, addFallbacks, addReads, addCollectives, addMemory, addKernels, addCaches, addSplit})
    conclude(lanes, views);
  std::sort(views.findings.begin(), views.findings.end(),
            [](const Finding &a, const Finding &b) { return std::tie(b.ns, a.title) < std::tie(a.ns, b.title); });
  return views;
}

std::string toText(const Views &views, size_t top) {
  // What costs less of the time that passed is not worth a change. Unit: 1. Source: judgement, not measured alone.
  constexpr double kMatters = 0.01;
  double wallNs = 0;
  for (const auto &[name, ns] : views.split)
    wallNs += ns;
  const auto minor = std::find_if(views.findings.begin(), views.findings.end(), [&](const Finding &each) { return each.ns < kMatters * wallNs; });
  const size_t numMajor = size_t(minor - views.findings.begin()), numMinor = views.findings.size() - numMajor;
  std::string out;
  for (size_t i = 0; i < std::min(top, numMajor); ++i) {
    const Finding &each = views.findings[i];
    out += std::to_string(i + 1) + ". " + forTerminal(each.title, kLongestSentence) +
           (each.source.empty() ? "" : " (" + forTerminal(each.source) + ")") + "\n   " +
           forTerminal(each.evidence, kLongestSentence) + " " + each.advice + "\n";
  }
  if (numMinor)
    out += "Less than " + format("%.0f %%", 100 * kMatters) + " of the time" +
           (numMinor == 1 ? " goes into 1 more finding" : " each goes into " + std::to_string(numMinor) + " more findings") + ": --findings has all.\n";
  return out;
}

} // namespace millrace::runtime::profile
