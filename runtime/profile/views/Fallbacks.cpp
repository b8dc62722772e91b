// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fallbacks.cpp - Operators that run on the CPU -----------------------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <map>

namespace millrace::runtime::profile {

void addFallbacks(const Lanes &lanes, Views &views) {
  struct Group {
    size_t count = 0;
    double ns = 0;
    Waiting waiting;
    Costs costs;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const Events &events : lanes.host)
    for (const Event &event : events)
      if (event.name() == "OperatorOnCpu" && !isInside(events, event, {"OperatorOnCpu"})) {
        Group &group = groups[{event.text("operator"), event.text("source")}];
        ++group.count;
        group.ns += event.ns();
        const Waiting waiting = lanes.waiting(event);
        group.waiting += waiting;
        group.costs.add(processOf(*event.plane), waiting.costNs);
      }
  for (const auto &[key, group] : groups) {
    Finding made{"fallback",
                 key.first + " runs on the CPU " + (group.count == 1 ? "once" : std::to_string(group.count) + " times") +
                     ": each time the graph is cut, and its operands and results are copied.",
                 key.second,
                 durationText(group.ns) + " with the copies and the waiting, of which " + durationText(group.waiting.costNs) + " would be saved.",
                 "Write it with operators that the device has, or move it out of the step.",
                 "timeline",
                 group.costs.most()};
    add(views, std::move(made));
  }
}

} // namespace millrace::runtime::profile
