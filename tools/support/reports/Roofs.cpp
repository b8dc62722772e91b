// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Roofs.cpp - Measure this machine's peak rates -----------------------===//
#include "tools/support/reports/Roofs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <sched.h>
#include <thread>
#include <vector>

namespace millrace::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns the number of processors that this process may use, as the runtime's pool counts them.
unsigned processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? unsigned(std::max(1, CPU_COUNT(&set))) : std::max(1u, std::thread::hardware_concurrency());
}

/// Runs `work` on `threads` threads in parallel, several times; returns the seconds of the shortest run.
double shortest(unsigned threads, const std::function<void(unsigned)> &work) {
  constexpr int kAttempts = 5;
  double least = 1e9;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::atomic<unsigned> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> others;
    for (unsigned thread = 1; thread < threads; ++thread)
      others.emplace_back([&, thread] {
        ready.fetch_add(1);
        while (!go.load())
          std::this_thread::yield();
        work(thread);
      });
    while (ready.load() + 1 < threads)
      std::this_thread::yield();
    auto begin = Clock::now();
    go = true;
    work(0);
    for (std::thread &other : others)
      other.join();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least;
}

#if defined(__x86_64__)
/// Runs as many chains of dependent multiply-adds as cover their latency. Returns the number of operations.
template <int Bytes>
__attribute__((always_inline)) inline double multiplyAdds(int64_t rounds) {
  typedef float Vector __attribute__((vector_size(Bytes)));
  constexpr int kChains = 12;
  Vector sums[kChains], factor, term;
  for (size_t i = 0; i < Bytes / sizeof(float); ++i)
    factor[i] = 0.999f, term[i] = 0.001f;
  for (Vector &sum : sums)
    sum = term;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (Vector &sum : sums)
      sum = __builtin_elementwise_fma(sum, factor, term);
  }
  for (int i = 1; i < kChains; ++i)
    sums[0] += sums[i];
  asm volatile("" : : "m"(sums[0]));
  return double(rounds) * kChains * double(Bytes / sizeof(float)) * 2;
}
__attribute__((target("avx512f,fma"))) double wide(int64_t rounds) { return multiplyAdds<64>(rounds); }
__attribute__((target("avx2,fma"))) double narrow(int64_t rounds) { return multiplyAdds<32>(rounds); }

double gflops(unsigned threads) {
  auto kernel = __builtin_cpu_supports("avx512f") ? wide : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? narrow : nullptr;
  if (!kernel)
    return 0;
  constexpr int64_t kRounds = 400'000;
  std::vector<double> done(threads);
  const double seconds = shortest(threads, [&](unsigned thread) { done[thread] = kernel(kRounds); });
  return done[0] * threads / seconds / 1e9;
}
#else
double gflops(unsigned) { return 0; }
#endif

typedef uint64_t Line __attribute__((vector_size(64)));

__attribute__((always_inline)) inline void sumUp(const Line *data, size_t lines) {
  Line sums[4] = {};
  for (size_t i = 0; i + 4 <= lines; i += 4)
    for (size_t k = 0; k < 4; ++k)
      sums[k] += data[i + k];
  Line sum = sums[0] + sums[1] + sums[2] + sums[3];
  asm volatile("" : : "m"(sum));
}
void readAny(const Line *data, size_t lines) { sumUp(data, lines); }
#if defined(__x86_64__)
__attribute__((target("avx512f"))) void readWide(const Line *data, size_t lines) { sumUp(data, lines); }
__attribute__((target("avx2"))) void readNarrow(const Line *data, size_t lines) { sumUp(data, lines); }
auto readerOfProcessor() { return __builtin_cpu_supports("avx512f") ? readWide : __builtin_cpu_supports("avx2") ? readNarrow : readAny; }
#else
auto readerOfProcessor() { return readAny; }
#endif

} // namespace

runtime::profile::Roofs measureRoofs() {
  runtime::profile::Roofs roofs;
  roofs.threads = processors();
  roofs.gflops = gflops(roofs.threads);
  constexpr size_t kSets[] = {size_t(24) << 10, size_t(512) << 10, size_t(8) << 20, size_t(256) << 20}; // level 1, 2 and 3 cache, memory
  const auto read = readerOfProcessor();
  std::vector<Line> data(kSets[3] / sizeof(Line) + 1, Line{1});
  for (size_t bytes : kSets) {
    const size_t each = std::max<size_t>(4, bytes / sizeof(Line) / (bytes > kSets[1] ? roofs.threads : 1)); // a level 1 cache per thread
    const bool isShared = bytes > kSets[1];
    const size_t room = data.size() / roofs.threads, rounds = std::max<size_t>(1, (size_t(64) << 20) / bytes);
    const double seconds = shortest(roofs.threads, [&](unsigned thread) {
      const Line *own = data.data() + std::min(thread * (isShared ? each : room), data.size() - each);
      for (size_t round = 0; round < rounds; ++round)
        read(own, each);
    });
    const double moved = double(each * sizeof(Line)) * double(rounds) * roofs.threads;
    roofs.levels.push_back({double(bytes), moved / seconds / 1e9});
  }
  for (size_t i = roofs.levels.size() - 1; i-- > 0;) // a nearer level is at least as fast, even if its measurements were disturbed
    roofs.levels[i].gbps = std::max(roofs.levels[i].gbps, roofs.levels[i + 1].gbps);
  return roofs;
}

} // namespace millrace::tools
