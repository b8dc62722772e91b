// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TimeSplit.cpp - What the time is spent on ---------------------------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <limits>

namespace millrace::runtime::profile {
namespace {

double covered(std::vector<std::pair<double, double>> spans) {
  std::sort(spans.begin(), spans.end());
  double sum = 0, until = -std::numeric_limits<double>::max();
  for (auto [begin, end] : spans) {
    sum += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return sum;
}

/// Time in which devices have nothing to do, for a reason that no other finding names. What is before the first execution and after the last one is
/// left out: a program starts and ends. `taken`: spans in which something is done.
void addIdle(const Lanes &lanes, std::vector<std::pair<double, double>> taken, Views &views) {
  if (lanes.starts.size() < kHabit)
    return;
  const double begin = lanes.starts.front(), end = lanes.ends.back().first, wall = end - begin;
  if (wall <= 0)
    return;
  for (auto &span : taken)
    span = {std::clamp(span.first, begin, end), std::clamp(span.second, begin, end)};
  const double rest = wall - covered(std::move(taken));
  double explained = 0;
  for (const Finding &finding : views.findings)
    if (finding.kind == "read" || finding.kind == "fallback")
      explained += finding.ns;
  if (rest - explained < 0.5 * wall)
    return;
  const Summary::Row *region = nullptr;
  for (const Summary::Row &row : lanes.summary.host)
    if (row.category == "region" && row.name != "StepMarker" && row.name != "ReadByHost" && row.name != "WaitByHost" && row.name != "backend_compile_and_load" &&
        row.name != "lower_sharding_computation" && (!region || row.ns > region->ns))
      region = &row;
  add(views,
      {"host",
       "Devices have nothing to do for " + format("%.0f %%", 100 * rest / wall) +
           " of the time from the first execution to the last one: the program's own code takes it.",
       "",
       region ? "Of the program's regions " + region->name + " takes most: " + durationText(region->ns) + "."
              : std::string("No region is marked: xp.Trace or jax.profiler.TraceAnnotation would say which part it is."),
       "Load data in the background (pl.MpDeviceLoader), and do more in a step: larger batches, several steps in one program.", "timeline",
       rest - explained});
}

} // namespace

/// Each moment belongs to one thing: what devices do first, then the compiler, transfers, tracing and the user's own code.
void addSplit(const Lanes &lanes, Views &views) {
  struct Class {
    const char *name;
    std::vector<std::pair<double, double>> spans;
  };
  Class classes[] = {{"devices run", lanes.busySpans}, {"compiling", {}}, {"transfers", {}},
                     {"operators on the CPU", {}},     {"tracing", {}},   {"launching", {}}};
  for (const Events &events : lanes.host)
    for (const Event &event : events) {
      const std::string &name = event.name();
      int which = isCompile(name) || name == "new graph" || name == "backend_compile_and_load" ? 1
                  : name.ends_with("TransferToDevice") || name.ends_with("TransferFromDevice") ? 2
                  : name == "OperatorOnCpu"                                                    ? 3
                  : name == "SyncTensorsGraph" || name == "LazyTracing" || name == "lower_sharding_computation" ? 4
                  : name.ends_with("ExecuteComputation")                                       ? 5
                                                                                               : -1;
      if (which >= 0)
        classes[which].spans.emplace_back(event.begin, event.end);
    }
  std::vector<std::pair<double, double>> taken;
  double before = 0;
  for (Class &each : classes) {
    taken.insert(taken.end(), each.spans.begin(), each.spans.end());
    const double now = covered(taken);
    views.split.emplace_back(each.name, now - before);
    before = now;
  }
  views.split.emplace_back("the program's own code, and waiting", std::max(0.0, lanes.summary.wallNs - before));
  addIdle(lanes, std::move(taken), views);
}

} // namespace millrace::runtime::profile
