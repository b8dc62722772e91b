// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveWaits.cpp - Collectives, and who waits for whom -----------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <tuple>

namespace millrace::runtime::profile {

void addCollectives(const Lanes &lanes, Views &views) {
  struct Use {
    CollectiveUse made;
    std::map<std::string, CollectiveUse::OfDevice> devices;
  };
  std::map<std::pair<std::string, std::string>, Use> uses;
  std::map<std::tuple<std::string, std::string>, std::map<std::string, double>> kernelTimes; ///< (name, source) -> device -> ns
  std::map<std::string, double> workOf, waitOf;
  for (const Events &events : lanes.steps)
    for (size_t i = 0; i < events.size(); ++i) {
      const Event &event = events[i];
      const std::string &device = event.plane->name;
      const std::string source = event.text("source");
      if (event.text("hlo_category") != "collective") {
        if (i + 1 < events.size() && events[i + 1].parent == int(i)) // a loop: its steps count
          continue;
        kernelTimes[{event.name(), source}][device] += event.ns();
        workOf[device] += event.ns();
        continue;
      }
      Use &use = uses[{event.name(), source}];
      use.made.name = event.name();
      use.made.source = source;
      ++use.made.calls;
      use.made.bytes += uint64_t(event.number("bytes"));
      CollectiveUse::OfDevice &of = use.devices[device];
      of.device = device;
      of.ns += event.ns();
      of.waitNs += event.number("wait_ns");
      waitOf[device] += event.number("wait_ns");
    }
  for (auto &[key, use] : uses) {
    for (auto &[device, of] : use.devices)
      use.made.devices.push_back(of);
    views.collectives.push_back(std::move(use.made));
  }
  auto waited = [](const CollectiveUse &use) {
    double sum = 0;
    for (const auto &each : use.devices)
      sum += each.waitNs;
    return sum;
  };
  std::sort(views.collectives.begin(), views.collectives.end(),
            [&](const auto &a, const auto &b) { return std::tuple(-waited(a), a.name, a.source) < std::tuple(-waited(b), b.name, b.source); });
  if (waitOf.size() < 2)
    return;
  auto less = [](const auto &a, const auto &b) { return a.second < b.second; };
  const auto [slow, patient] = std::minmax_element(waitOf.begin(), waitOf.end(), less);
  double mean = 0;
  for (const auto &[device, ns] : waitOf)
    mean += ns / double(waitOf.size());
  if (mean < 0.05 * lanes.busyNs / double(std::max<size_t>(1, lanes.summary.devices.size())) || patient->second < 2 * slow->second)
    return;
  // Whom the others wait for has something to do that they do not have, or have less of.
  std::string kernel, source;
  double most = 0, here = 0, others = 0;
  for (const auto &[key, times] : kernelTimes) {
    auto found = times.find(slow->first);
    if (found == times.end())
      continue;
    double elsewhere = 0;
    for (const auto &[device, ns] : times)
      elsewhere += device == slow->first ? 0 : ns / double(waitOf.size() - 1);
    if (found->second - elsewhere > most) {
      std::tie(kernel, source) = key;
      most = found->second - elsewhere, here = found->second, others = elsewhere;
    }
  }
  if (most < 0.25 * patient->second || here < 1.3 * others)
    return;
  Finding made{"imbalance", "", source, "", "", "collectives", mean};
  made.title = "Devices wait for " + slow->first + ": it has more to do than the others.";
  made.evidence = "They wait " + durationText(mean) + " each on average; " + kernel + " takes " + durationText(here) + " there and " +
                  durationText(others) + " elsewhere.";
  made.advice = "Split this work evenly: the same number of elements and tokens per device, or another axis for the shards.";
  add(views, std::move(made));
}

} // namespace millrace::runtime::profile
