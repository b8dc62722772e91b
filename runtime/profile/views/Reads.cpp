// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reads.cpp - Values that the host reads ------------------------------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>

namespace millrace::runtime::profile {
namespace {

constexpr std::string_view kJaxRead = "np.asarray(jax.Array)"; ///< JAX's region of a read

} // namespace

void addReads(const Lanes &lanes, Views &views) {
  struct Group {
    size_t count = 0;
    double ns = 0, bytes = 0;
  };
  std::map<std::string, Group> groups, ofPrograms;
  bool hasPlaces = false;
  for (const Events &events : lanes.host)
    for (const Event &event : events)
      hasPlaces |= event.name() == "ReadByHost" || event.name() == "SyncTensorsGraph";
  for (const Events &events : lanes.host)
    for (size_t i = 0; i < events.size(); ++i) {
      const Event &event = events[i];
      if (event.name() == "ReadByHost" && !isInside(events, event, {"OperatorOnCpu", "ReadByHost"})) {
        Group &group = groups[event.text("source")];
        ++group.count;
        group.ns += event.ns() + lanes.idleAfter(event.end);
      } else if (event.name() == "SyncTensorsGraph" && event.text("cause").find("trying to access tensor value") != std::string::npos &&
                 !isInside(events, event, {"OperatorOnCpu", "ReadByHost"})) {
        double compiled = 0; // which the read only happens to wait for
        for (size_t k = i + 1; k < events.size() && events[k].begin < event.end; ++k)
          if (events[k].name() == "new graph" && events[k].parent == int(i))
            compiled += events[k].ns();
        groups[event.text("source")].ns += std::max(0.0, event.ns() - compiled);
      } else if (!hasPlaces && (event.name().ends_with("TransferFromDevice") || event.name() == kJaxRead) && !isInside(events, event, {kJaxRead})) {
        auto after = std::upper_bound(lanes.ends.begin(), lanes.ends.end(), event.end, [](double at, const auto &end) { return at < end.first; });
        if (after == lanes.ends.begin())
          continue;
        Group &group = ofPrograms[std::prev(after)->second->text("hlo_module")];
        ++group.count;
        group.ns += event.ns() + lanes.idleAfter(event.end);
        group.bytes += event.number("bytes");
      }
    }
  const double steps = lanes.barriers();
  for (const auto &[source, group] : groups) {
    if (group.count < kHabit || double(group.count) < 0.3 * steps)
      continue;
    Finding made{"read", "", source, "", "", "timeline", group.ns};
    made.title = "The host reads values " + std::to_string(group.count) + " times at one line" +
                 (steps ? format(", in %.0f steps", steps) : std::string()) + ": each time it waits for the device, and the device for it.";
    made.evidence = durationText(group.ns) + " of waiting and of devices without work.";
    made.advice = "Read less often (every hundredth step), or keep the value on the device: add losses up there, use torch.where for an if.";
    add(views, std::move(made));
  }
  for (const auto &[program, group] : ofPrograms) {
    auto runs = lanes.runsOf.find(program);
    const double executed = runs == lanes.runsOf.end() ? 0 : double(runs->second);
    if (group.count < kHabit || double(group.count) < 0.5 * executed)
      continue;
    Finding made{"read", "", lanes.sourceOf(program), "", "", "timeline", group.ns};
    made.title =
        "The host reads results of " + program + " " + std::to_string(group.count) + " times, and runs it " + format("%.0f times.", executed);
    made.evidence = durationText(group.ns) + " of waiting and of devices without work, " + bytesText(group.bytes) + ".";
    made.advice = "Read less often, or keep the value on the device; jax.block_until_ready and float() in the loop wait for each step.";
    add(views, std::move(made));
  }
}

} // namespace millrace::runtime::profile
