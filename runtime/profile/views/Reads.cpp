// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reads.cpp - Values that the host reads ------------------------------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>

namespace millrace::runtime::profile {
namespace {

constexpr std::string_view kJaxRead = "np.asarray(jax.Array)"; ///< JAX's region of a read

constexpr std::string_view kMemoryRead = "ReadMemoryByHost"; ///< the plug-in's: of a value's own memory, whose line the front end knows

/// Whether the front end says that the host reads a value, or waits for one without reading it, and at which line.
bool isRead(const Event &event) { return event.name() == "ReadByHost" || event.name() == "WaitByHost"; }

/// Per event, whether it is JAX's region of a read around one of a value's memory, which has a line.
std::vector<bool> aroundMemoryReads(const Events &events) {
  std::vector<bool> found(events.size());
  for (const Event &event : events)
    if (event.name() == kMemoryRead)
      for (int at = event.parent; at >= 0; at = events[size_t(at)].parent)
        if (events[size_t(at)].name() == kJaxRead)
          found[size_t(at)] = true;
  return found;
}

/// "The host waits 812.0 ms in all; devices have nothing to do for 45.0 ms in that time and until the next launch, of which 40.0 ms would be saved".
std::string waitText(double ns, const Waiting &waiting) {
  return "The host waits " + durationText(ns) + " in all; devices have nothing to do for " + durationText(waiting.idleNs) +
         " in that time and until the next launch, of which " + durationText(waiting.costNs) + " would be saved";
}

} // namespace

void addReads(const Lanes &lanes, Views &views) {
  struct Group {
    size_t count = 0, waits = 0; ///< of which `waits` read nothing
    double ns = 0, bytes = 0;    ///< how long the host waits, and what it reads
    Waiting waiting;
    Costs costs;
    void addWaiting(const Event &event, const Waiting &added) {
      ns += event.ns();
      waiting += added;
      costs.add(processOf(*event.plane), added.costNs);
    }
  };
  std::map<std::string, Group> groups, ofPrograms;
  bool hasPlaces = false;
  for (const Events &events : lanes.host)
    for (const Event &event : events)
      hasPlaces |= isRead(event) || event.name() == "SyncTensorsGraph";
  for (const Events &events : lanes.host) {
    const std::vector<bool> isKnown = aroundMemoryReads(events);
    for (size_t i = 0; i < events.size(); ++i) {
      const Event &event = events[i];
      if (isKnown[i])
        continue;
      if ((isRead(event) || event.name() == kMemoryRead) && !isInside(events, event, {"OperatorOnCpu", "ReadByHost", "WaitByHost"})) {
        Group &group = groups[event.text("source")];
        ++group.count;
        group.waits += event.name() == "WaitByHost";
        group.addWaiting(event, lanes.waiting(event));
      } else if (!hasPlaces && (event.name().ends_with("TransferFromDevice") || event.name() == kJaxRead) && !isInside(events, event, {kJaxRead})) {
        auto after = std::upper_bound(lanes.ends.begin(), lanes.ends.end(), event.end, [](double at, const auto &end) { return at < end.first; });
        if (after == lanes.ends.begin())
          continue;
        Group &group = ofPrograms[std::prev(after)->second->text("hlo_module")];
        ++group.count;
        group.addWaiting(event, lanes.waiting(event));
        group.bytes += event.number("bytes");
      }
    }
  }
  const double steps = lanes.barriers();
  for (const auto &[source, group] : groups) {
    if (group.count < kHabit || double(group.count) < 0.3 * steps)
      continue;
    Finding made{"read", "", source, "", "", "timeline", group.costs.most()};
    made.title = std::string("The host ") + (group.waits == group.count ? "waits for" : "reads") + " values " + std::to_string(group.count) + " times at one line" +
                 (steps ? format(", in %.0f steps", steps) : std::string()) + ": each time it waits for the device, and the device for it.";
    made.evidence = waitText(group.ns, group.waiting) + ".";
    made.advice = "Read less often (every hundredth step), or keep the value on the device: add losses up there, use torch.where for an if.";
    add(views, std::move(made));
  }
  for (const auto &[program, group] : ofPrograms) {
    auto runs = lanes.runsOf.find(program);
    const double executed = runs == lanes.runsOf.end() ? 0 : double(runs->second);
    if (group.count < kHabit || double(group.count) < 0.5 * executed)
      continue;
    Finding made{"read", "", lanes.sourceOf(program), "", "", "timeline", group.costs.most()};
    made.title =
        "The host reads results of " + program + " " + std::to_string(group.count) + " times, and runs it " + format("%.0f times.", executed);
    made.evidence = waitText(group.ns, group.waiting) + "; it reads " + bytesText(group.bytes) + ".";
    made.advice = "Read less often, or keep the value on the device; jax.block_until_ready and float() in the loop wait for each step.";
    add(views, std::move(made));
  }
}

} // namespace millrace::runtime::profile
