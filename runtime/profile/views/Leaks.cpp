// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Leaks.cpp - Memory that grows with each execution -------------------===//
#include "runtime/profile/views/Leaks.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>

namespace millrace::runtime::profile {

void addLeak(const Lanes &lanes, const Events &events, const MemoryReplay::Blocks &live, double peak, Views &views) {
  // What is in use whenever the program of the steps has run: of those that run often the one that takes most time. Programs that make parameters run
  // often, too, and what they make stays.
  constexpr size_t kWarmUp = 2, kLeast = 6;
  const std::string &device = events[0].plane->name;
  std::map<std::string, std::vector<double>> runs;
  std::map<std::string, double> times;
  double first = std::numeric_limits<double>::max(), last = 0;
  for (const Events &all : lanes.executions)
    if (all[0].plane->name == device)
      for (const Event &event : all) {
        const std::string program = event.text("hlo_module");
        runs[program].push_back(event.end);
        times[program] += event.ns();
        first = std::min(first, event.begin);
        last = std::max(last, event.end);
      }
  const std::pair<const std::string, std::vector<double>> *often = nullptr;
  for (const auto &each : runs)
    if (each.second.size() >= kLeast + kWarmUp && (!often || times[each.first] > times[often->first]))
      often = &each;
  if (!often || often->second.back() < (first + last) / 2) // what grows only at the beginning is no leak
    return;
  std::vector<double> samples;
  size_t at = 0;
  double now = 0;
  for (double end : often->second) {
    while (at < events.size() && events[at].begin <= end)
      now = events[at++].number("bytes in use");
    samples.push_back(now);
  }
  samples.erase(samples.begin(), samples.begin() + kWarmUp);
  size_t rises = 0, falls = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    rises += samples[i] > samples[i - 1];
    falls += samples[i] < samples[i - 1];
  }
  // Less is what a process keeps anyway: tables of programs, numbers. Unit: bytes. Source: judgement, not measured alone.
  constexpr double kLeastBytes = 1 << 16;
  const double growth = samples.back() - samples.front();
  if (growth < kLeastBytes || growth < 0.02 * peak || rises * 2 < samples.size() || falls * 4 > samples.size())
    return;
  // Of what was allocated in the first half and still lives, the line that has most bytes.
  std::string source = lanes.sourceOf(often->first);
  const double half = (often->second[kWarmUp] + often->second.back()) / 2;
  std::map<std::string, double> bytes;
  for (const auto &[address, block] : live)
    if (block.begin < half && block.begin > often->second[kWarmUp] && !block.source->empty())
      bytes[*block.source] += double(block.bytes);
  double most = 0;
  for (const auto &[place, sum] : bytes)
    if (sum > most)
      most = sum, source = place;
  // A process of Python takes as much before it computes: what grows beside that is compared with it. Unit: bytes. Source: judgement, not measured alone.
  constexpr double kLeastPeak = 64 << 20;
  Finding made{"leak", "", source, "", "", "memory", lanes.summary.wallNs * std::min(0.5, growth / std::max(peak, kLeastPeak))};
  made.title =
      "Memory in use grows by " + bytesText(growth / double(samples.size() - 1)) + " with each execution of " + often->first + " on " + device + ".";
  made.cost = bytesText(growth);
  made.evidence = bytesText(growth) + " over " + std::to_string(samples.size()) + " executions, of " + bytesText(peak) + " at most.";
  made.advice = "Something keeps a result of each step: a list of losses that are tensors (append loss.detach() or a number read now and then), a "
                "graph that autograd retains, a cache without a limit.";
  add(views, std::move(made));
}

} // namespace millrace::runtime::profile
