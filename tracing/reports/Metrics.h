// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Metrics.h - Named counters and samples ------------------------------===//
// The names are those that users of PyTorch/XLA look for: CompileTime, ExecuteTime, CachedCompile, UncachedCompile, ...
#pragma once
#include "runtime/profile/Recorder.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::tracing {

class Metrics {
public:
  static Metrics &get();
  void count(const std::string &name, int64_t by = 1) { counter(name) += by; }
  /// Returns the counter itself, whose address never changes, for callers that count often.
  std::atomic<int64_t> &counter(const std::string &name);
  /// Adds a sample of `name` in the unit of the metric: nanoseconds for times, bytes for sizes.
  void sample(const std::string &name, double value);
  /// Adds a sample of a transfer from the host to devices.
  void sampleTransfer(int64_t buffers, double bytes);
  /// Counts new buffers of devices.
  void countBuffers(int64_t buffers);
  struct Samples {
    uint64_t total = 0;     ///< since clear()
    double accumulated = 0;
    std::vector<std::pair<double, double>> recent; ///< the last 1024 samples as (seconds of the steady clock, value)
  };
  std::map<std::string, int64_t> counters() const; ///< that are not 0
  std::map<std::string, Samples> samples() const;
  void clearCounters();
  void clearSamples();
  /// Returns true if this one of many short events is to be timed: the first 16 since clearSamples(), then every 16th.
  bool isDue() {
    uint32_t now = shortThings.fetch_add(1, std::memory_order_relaxed);
    return now < 16 || now % 16 == 0;
  }

private:
  std::atomic<uint32_t> shortThings{0};
  mutable std::mutex mutex;
  std::map<std::string, std::atomic<int64_t>> counts;
  std::map<std::string, Samples> values;
};

/// Samples the time from its construction to its destruction. A profile shows it on the thread that ran it, unless it is an execution, which ends on
/// another thread and is recorded by the runtime.
class Timed {
public:
  explicit Timed(const char *name);
  ~Timed() {
    Metrics::get().sample(name, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  Timed(const Timed &) = delete;

private:
  std::optional<runtime::profile::Scope> record; ///< reads the recorder's clock itself, so that events inside nest exactly
  const char *name;
  std::chrono::steady_clock::time_point start;
};

} // namespace millrace::tracing
