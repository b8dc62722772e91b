// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Metrics.cpp - Named counters and samples ----------------------------===//
#include "tracing/reports/Metrics.h"

#include "runtime/base/Environment.h"

#include <cstdlib>
#include <string_view>

namespace millrace::tracing {

/// Returns true for times that a profile shows on the sampling thread: not for executions, which end on another thread.
static bool isTimeOfThread(std::string_view name) {
  return (name.ends_with("Time") && name.find("Execute") == name.npos) || name == "LazyTracing" || name == "DeviceLockWait";
}

Timed::Timed(const char *name) : name(name), start(std::chrono::steady_clock::now()) {
  using namespace runtime::profile;
  if (isOn() && isTimeOfThread(name)) [[unlikely]]
    record.emplace(Kind::Tracing, name);
}

Metrics &Metrics::get() {
  static auto *metrics = new Metrics;
  return *metrics;
}

std::atomic<int64_t> &Metrics::counter(const std::string &name) {
  std::lock_guard lock(mutex);
  return counts[name];
}

/// Returns the number of samples that are kept: XLA_METRICS_SAMPLES, default 1024.
static size_t samplesKept() {
  static const size_t kept = [] {
    const uint64_t wanted = runtime::environment::count("XLA_METRICS_SAMPLES").value_or(0);
    return wanted ? size_t(wanted) : size_t(1024);
  }();
  return kept;
}

void Metrics::sample(const std::string &name, double value) {
  const size_t kept = samplesKept();
  double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::lock_guard lock(mutex);
  Samples &samples = values[name];
  if (samples.recent.size() < kept)
    samples.recent.emplace_back(now, value);
  else
    samples.recent[samples.total % kept] = {now, value};
  ++samples.total;
  samples.accumulated += value;
}

void Metrics::sampleTransfer(int64_t buffers, double bytes) {
  sample("OutboundData", bytes);
  countBuffers(buffers);
}
void Metrics::countBuffers(int64_t buffers) {
  static std::atomic<int64_t> &created = get().counter("CreateDataHandles");
  created += buffers;
}

std::map<std::string, int64_t> Metrics::counters() const {
  std::lock_guard lock(mutex);
  std::map<std::string, int64_t> made;
  for (const auto &[name, value] : counts)
    if (int64_t now = value)
      made[name] = now;
  return made;
}
std::map<std::string, Metrics::Samples> Metrics::samples() const {
  std::lock_guard lock(mutex);
  return values;
}
void Metrics::clearCounters() {
  std::lock_guard lock(mutex);
  for (auto &[name, value] : counts)
    value = 0;
}
void Metrics::clearSamples() {
  std::lock_guard lock(mutex);
  values.clear();
  shortThings = 0;
}

} // namespace millrace::tracing
