// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executions.cpp - Execution times of programs as samples -------------===//
#include "tracing/programs/Executions.h"

namespace millrace::tracing {
namespace {

/// The running executions. The mutex guards the members and makes each change of them and of the programs' samples atomic for readers.
struct UnderWay {
  std::mutex mutex;
  uint64_t cleared = 0; ///< number of calls of clearSamplesNow()
  std::map<std::string, uint64_t> counts;
  static UnderWay &get() {
    static auto *all = new UnderWay; // never destroyed, because programs may end after main()
    return *all;
  }
};

} // namespace

void sampleExecution(const char *name, std::chrono::steady_clock::time_point start, const runtime::Event &done) {
  UnderWay &all = UnderWay::get();
  uint64_t when;
  {
    std::lock_guard lock(all.mutex);
    ++all.counts[name];
    when = all.cleared;
  }
  done.observe([&all, name, start, when](const runtime::Status &) {
    std::lock_guard lock(all.mutex);
    if (when != all.cleared)
      return;
    --all.counts[name];
    Metrics::get().sample(name, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  });
}

std::map<std::string, Metrics::Samples> samplesNow() {
  UnderWay &all = UnderWay::get();
  std::lock_guard lock(all.mutex);
  std::map<std::string, Metrics::Samples> made = Metrics::get().samples();
  for (const auto &[name, count] : all.counts)
    if (count)
      made[name].total += count;
  return made;
}

void clearSamplesNow() {
  UnderWay &all = UnderWay::get();
  std::lock_guard lock(all.mutex);
  ++all.cleared;
  all.counts.clear();
  Metrics::get().clearSamples();
}

} // namespace millrace::tracing
