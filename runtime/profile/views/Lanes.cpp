// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lanes.cpp - Events of a recording, as conclusions need them ---------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>

namespace millrace::runtime::profile {
namespace {

Events eventsOf(const Plane &plane, const Plane::Line &line) {
  Events all;
  all.reserve(line.events.size());
  std::vector<int> open;
  for (const Plane::Event &event : line.events) {
    const double begin = double(line.start) + double(event.offset) / 1000;
    Event made{&plane, &line, &event, begin, begin + double(event.duration) / 1000};
    while (!open.empty() && all[size_t(open.back())].end < made.end)
      open.pop_back();
    made.parent = open.empty() ? -1 : open.back();
    open.push_back(int(all.size()));
    all.push_back(made);
  }
  return all;
}

Spans joined(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Spans made;
  for (const auto &[begin, end] : spans)
    if (!made.empty() && begin <= made.back().second)
      made.back().second = std::max(made.back().second, end);
    else
      made.emplace_back(begin, end);
  return made;
}

/// The first span that ends after `at`.
Spans::const_iterator endingAfter(const Spans &spans, double at) {
  return std::upper_bound(spans.begin(), spans.end(), at, [](double time, const auto &span) { return time < span.second; });
}

/// How much of the time from `begin` to `end` is outside of the spans.
double outside(const Spans &spans, double begin, double end) {
  double inside = 0;
  for (auto span = endingAfter(spans, begin); span != spans.end() && span->first < end; ++span)
    inside += std::min(span->second, end) - std::max(span->first, begin);
  return std::max(0.0, end - begin - inside);
}

} // namespace

std::string processOf(const Plane &plane) {
  const size_t begin = plane.name.rfind(" (");
  return begin == std::string::npos ? std::string() : plane.name.substr(begin);
}

std::string Event::text(std::string_view key) const {
  const Stat *stat = plane->find(*line, *event, key);
  return stat && stat->type == Stat::Type::Text ? plane->texts[stat->text] : std::string();
}
double Event::number(std::string_view key) const {
  const Stat *stat = plane->find(*line, *event, key);
  if (!stat || stat->type == Stat::Type::Text || stat->type == Stat::Type::Bytes)
    return 0;
  return stat->type == Stat::Type::Real ? stat->real : stat->type == Stat::Type::Signed ? double(stat->integer) : double(stat->number);
}

bool isInside(const Events &events, const Event &event, std::initializer_list<std::string_view> names) {
  for (int at = event.parent; at >= 0; at = events[size_t(at)].parent)
    for (std::string_view name : names)
      if (events[size_t(at)].name() == name)
        return true;
  return false;
}

bool isCompile(const std::string &name) { return name == "Compile" || name.ends_with("::Compile"); }

Lanes::Lanes(const XSpace &space, const Summary &summary, const Roofs &roofs) : space(space), summary(summary), roofs(roofs) {
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines) {
      if (line.events.empty())
        continue;
      if (plane.name.starts_with(kHostPlane))
        host.push_back(eventsOf(plane, line));
      else if (plane.name.starts_with("/device:") && line.name == "XLA Modules")
        executions.push_back(eventsOf(plane, line));
      else if (plane.name.starts_with("/device:") && line.name == "XLA Ops")
        steps.push_back(eventsOf(plane, line));
      else if (plane.name.starts_with("/device:") && line.name == "_counters_")
        counters.push_back(eventsOf(plane, line));
    }
  for (const auto *lists : {&host, &executions, &steps})
    for (const Events &events : *lists)
      for (const Event &event : events)
        first = std::min(first, event.begin);
  for (const Events &events : executions)
    for (const Event &event : events) {
      starts.push_back(event.begin);
      ends.emplace_back(event.end, &event);
      ++runsOf[event.text("hlo_module")];
      busySpans.emplace_back(event.begin, event.end);
      busyOf[processOf(*event.plane)].emplace_back(event.begin, event.end);
    }
  takenOf = busyOf;
  for (const Events &events : host)
    for (const Event &event : events)
      if (isCompile(event.name()) || event.name() == "new graph" || event.name() == "new program")
        takenOf[processOf(*event.plane)].emplace_back(event.begin, event.end);
  for (auto *spansOf : {&busyOf, &takenOf})
    for (auto &[process, spans] : *spansOf)
      spans = joined(std::move(spans));
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const Summary::Device &device : summary.devices)
    busyNs += device.busyNs;
  for (const Summary::Row &row : summary.steps)
    if (!row.source.empty() && !sourceOfProgram.contains(row.module))
      sourceOfProgram[row.module] = row.source; // rows are by time: that of its most expensive kernel
}

double Lanes::barriers() const {
  double count = 0;
  for (const Events &events : host)
    for (const Event &event : events)
      count += event.name() == "StepMarker";
  return count;
}

Waiting Lanes::waiting(const Event &event) const {
  const std::string process = processOf(*event.plane);
  auto busy = busyOf.find(process);
  if (busy == busyOf.end())
    return {event.ns(), event.ns()};
  const Spans &running = busy->second, &taken = takenOf.at(process);
  const double within = outside(taken, event.begin, event.end);
  auto next = endingAfter(running, event.end);
  // Nothing is known of what follows the last program.
  const double after = next == running.end() ? 0 : outside(taken, event.end, std::max(event.end, next->first));
  // The host needs the time after the wait to prepare the next launch. Had it not waited, it would have done so while the device worked: as much of that
  // time is saved as the device worked during the wait.
  const double worked = event.ns() - outside(running, event.begin, event.end);
  return {within + after, within + std::min(worked, after)};
}

std::string Lanes::sourceOf(const std::string &program) const {
  auto found = sourceOfProgram.find(program);
  return found == sourceOfProgram.end() ? std::string() : found->second;
}

void add(Views &views, Finding finding) {
  if (finding.ns > 0)
    views.findings.push_back(std::move(finding));
}

} // namespace millrace::runtime::profile
