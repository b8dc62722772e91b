// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fallbacks.cpp - Operators that run on the CPU -----------------------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <map>

namespace millrace::runtime::profile {

void addFallbacks(const Lanes &lanes, Views &views) {
  std::map<std::pair<std::string, std::string>, std::pair<size_t, double>> groups;
  for (const Events &events : lanes.host)
    for (const Event &event : events)
      if (event.name() == "OperatorOnCpu" && !isInside(events, event, {"OperatorOnCpu"})) {
        auto &[count, ns] = groups[{event.text("operator"), event.text("source")}];
        ++count;
        ns += event.ns();
      }
  for (const auto &[key, value] : groups) {
    Finding made{"fallback",
                 key.first + " runs on the CPU " + (value.first == 1 ? "once" : std::to_string(value.first) + " times") +
                     ": each time the graph is cut, and its operands and results are copied.",
                 key.second,
                 durationText(value.second) + " with the copies and the waiting.",
                 "Write it with operators that the device has, or move it out of the step.",
                 "timeline",
                 value.second};
    add(views, std::move(made));
  }
}

} // namespace millrace::runtime::profile
