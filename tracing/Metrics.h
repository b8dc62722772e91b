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
  /// For those who count often: it stays where it is.
  std::atomic<int64_t> &counter(const std::string &name);
  /// A sample of `name` in its own unit: nanoseconds for times, bytes for sizes.
  void sample(const std::string &name, double value);
  /// Data of the host that devices got, in so many buffers.
  void sampleTransfer(int64_t buffers, double bytes);
  /// Buffers of devices that came to be.
  void countBuffers(int64_t buffers);
  struct Samples {
    uint64_t total = 0;     ///< since clear()
    double accumulated = 0;
    std::vector<std::pair<double, double>> recent; ///< (seconds of the steady clock, value), the last 1024
  };
  std::map<std::string, int64_t> counters() const; ///< that are not 0
  std::map<std::string, Samples> samples() const;
  void clearCounters();
  void clearSamples();
  /// Whether this one of many short things is to be timed: the first 16 since clearSamples(), then every 16th.
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

/// Samples the time from construction to destruction. A recording shows it on the thread that ran it, unless it is an execution, which ends on another
/// thread and which the runtime records itself.
class Timed {
public:
  explicit Timed(const char *name);
  ~Timed() {
    Metrics::get().sample(name, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  Timed(const Timed &) = delete;

private:
  std::optional<runtime::profile::Scope> record; ///< its own two readings of the recorder's clock: what is timed inside nests in it exactly
  const char *name;
  std::chrono::steady_clock::time_point start;
};

} // namespace millrace::tracing
