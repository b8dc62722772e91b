// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LargeKernels.cpp - Kernels that take long, below the machine's roofs ---===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <set>

namespace millrace::runtime::profile {
namespace {

/// A kernel is looked at from this share on. Unit: share of the devices' time. Source: judgement, not measured alone.
constexpr double kLargeShare = 0.2;

/// Functions of Python that programs call: each time the device waits for the interpreter.
void addCallbacks(const Lanes &lanes, Views &views) {
  for (const Summary::Row &row : lanes.summary.steps) {
    if (row.name.find("python_callback") == std::string::npos || row.calls < kHabit)
      continue;
    Finding made{"fallback", "", row.source, "", "", "timeline", row.ns / double(std::max<size_t>(1, lanes.summary.devices.size()))};
    made.title = "A program calls a function of Python " + std::to_string(row.calls) + " times: each time devices wait for the interpreter.";
    made.evidence = durationText(row.ns) + " within it.";
    made.advice = "Write it with jax.numpy, or take it out of the compiled function: jax.pure_callback, io_callback and jax.debug.print call Python.";
    add(views, std::move(made));
  }
}

/// Names of steps that threads of the pool take part in.
std::set<std::string> stepsOfManyThreads(const Lanes &lanes) {
  std::set<std::string> names;
  for (const Events &events : lanes.host)
    for (const Event &event : events)
      if (event.text("category") == "piece")
        names.insert(event.name());
  return names;
}

} // namespace

void addKernels(const Lanes &lanes, Views &views) {
  addCallbacks(lanes, views);
  if (lanes.busyNs <= 0)
    return;
  const std::set<std::string> parallel = stepsOfManyThreads(lanes);
  for (const Summary::Row &row : lanes.summary.steps) {
    if (row.ns < kLargeShare * lanes.busyNs)
      break;
    const bool isLibrary = row.category == "step" && row.name.starts_with("custom_call") && row.name.find("python_callback") == std::string::npos;
    if (row.category == "collective" || (row.category == "step" && !isLibrary))
      continue;
    const double share = row.ns / lanes.busyNs, perDevice = row.ns / double(std::max<size_t>(1, lanes.summary.devices.size()));
    if ((row.pieces == 1 || (isLibrary && !parallel.contains(row.name))) && row.ns / double(row.calls) > 50e3 && lanes.roofs.threads > 1) {
      Finding made{"serial", "", row.source, "", "", "kernels", perDevice * (1 - 1.0 / lanes.roofs.threads)};
      made.title = "Kernel " + row.name + " runs on one thread of " + std::to_string(lanes.roofs.threads) + ", and takes " +
                   format("%.0f %%", 100 * share) + " of the devices' time.";
      made.evidence = durationText(row.ns / double(row.calls)) + " per call, " + std::to_string(row.calls) + " calls.";
      made.advice = "Each of its elements depends on the one before, or it has one result: sum along another axis first, use a batch of such "
                    "problems, or a scan over larger pieces.";
      add(views, std::move(made));
      continue;
    }
    double bandwidth = lanes.roofs.levels.empty() ? 0 : lanes.roofs.levels.back().gbps;
    const double least = std::max(lanes.roofs.gflops ? row.flops / lanes.roofs.gflops : 0, bandwidth ? row.bytes / bandwidth : 0);
    if (least > 0 && least < 0.25 * row.ns) {
      Finding made{"kernel", "", row.source, "", "", "kernels", (row.ns - least) / double(std::max<size_t>(1, lanes.summary.devices.size()))};
      made.title = "Kernel " + row.name + " reaches " + format("%.0f %%", 100 * least / row.ns) + " of what this machine can do, and takes " +
                   format("%.0f %%", 100 * share) + " of the devices' time.";
      made.evidence = format("%.1f GFLOP/s, %.1f GB/s; made by the emitter '", row.flops / row.ns, row.bytes / row.ns) + row.category + "'.";
      made.advice = "Its operations: see the program with `xla-prof --out=page.html`; larger batches, bfloat16, or another order of axes may help.";
      add(views, std::move(made));
    }
  }
}

} // namespace millrace::runtime::profile
