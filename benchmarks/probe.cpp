// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- probe.cpp - What this machine can do at most, measured now ----------===//
// probe THREADS [flops|WORKING_SET]: fused multiply-adds per second in registers (of bf16: as the processor does them best), and bytes per second of reading and of copying for working sets
// from a cache to memory, as one JSON object. With the second argument only the one, or only the other for a working set of so many
// bytes. Each figure is the best of several short attempts: a ceiling, not an average.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <immintrin.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

template <int Bytes, typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes)));
};

/// Chains of dependent multiply-adds, enough of them to cover the latency. Returns floating point operations.
template <int Bytes, typename T>
__attribute__((always_inline)) inline double multiplyAdds(int64_t rounds) {
  using V = typename VectorOf<Bytes, T>::type;
  constexpr int kChains = 14;
  V sums[kChains], factor, term;
  for (size_t i = 0; i < Bytes / sizeof(T); ++i)
    factor[i] = T(0.999), term[i] = T(0.001);
  for (V &sum : sums)
    sum = term;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (V &sum : sums)
      sum = __builtin_elementwise_fma(sum, factor, term);
  }
  V total = sums[0];
  for (V &sum : sums)
    total += sum;
  asm volatile("" : : "m"(total));
  return double(rounds) * kChains * (Bytes / sizeof(T)) * 2;
}
__attribute__((target("avx512f,fma"))) double wideF32(int64_t rounds) { return multiplyAdds<64, float>(rounds); }
__attribute__((target("avx512f,fma"))) double wideF64(int64_t rounds) { return multiplyAdds<64, double>(rounds); }
__attribute__((target("avx2,fma"))) double narrowF32(int64_t rounds) { return multiplyAdds<32, float>(rounds); }
__attribute__((target("avx2,fma"))) double narrowF64(int64_t rounds) { return multiplyAdds<32, double>(rounds); }

/// Pairs of bf16 products, added to floats.
__attribute__((target("avx512f,avx512bf16"))) double pairsBf16(int64_t rounds) {
  constexpr int kChains = 14;
  __m512 sums[kChains];
  __m512bh ones = (__m512bh)_mm512_set1_epi16(0x3f80);
  for (__m512 &sum : sums)
    sum = _mm512_setzero_ps();
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (__m512 &sum : sums)
      sum = _mm512_dpbf16_ps(sum, ones, ones);
  }
  __m512 total = sums[0];
  for (__m512 &sum : sums)
    total = _mm512_add_ps(total, sum);
  asm volatile("" : : "m"(total));
  return double(rounds) * kChains * 32 * 2;
}

/// Products of 16x32 by 32x16 numbers in the registers of the matrix unit, six sums of them.
__attribute__((target("amx-tile,amx-bf16"))) double tilesBf16(int64_t rounds) {
  struct alignas(64) {
    uint8_t palette = 1, startRow = 0, reserved[14] = {};
    uint16_t columnBytes[16] = {};
    uint8_t rows[16] = {};
  } layout;
  for (int tile = 0; tile < 8; ++tile)
    layout.columnBytes[tile] = 64, layout.rows[tile] = 16;
  _tile_loadconfig(&layout);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5), _tile_zero(6), _tile_zero(7);
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  _tile_release();
  return double(rounds) * 6 * 16 * 16 * 32 * 2;
}

/// Linux gives the registers of the matrix unit to processes that ask.
bool hasTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return __builtin_cpu_supports("amx-bf16") && ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// In huge pages where there are any, as the runtime asks for its own memory: less is a ceiling for nobody.
char *allocate(size_t bytes) {
  constexpr size_t kHugePage = 2 << 20;
  size_t unit = bytes < kHugePage ? 4096 : kHugePage, rounded = (bytes + unit - 1) / unit * unit;
  auto *memory = static_cast<char *>(std::aligned_alloc(unit, rounded));
  if (memory && unit == kHugePage)
    ::madvise(memory, rounded, MADV_HUGEPAGE); // a hint: failure changes nothing
  return memory;
}

typedef uint64_t Line __attribute__((vector_size(64), aligned(64)));

/// Sums `bytes` at `data`.
void readAll(const char *data, size_t bytes) {
  auto *lines = reinterpret_cast<const Line *>(data);
  Line sums[4] = {};
  for (size_t i = 0; i + 4 <= bytes / sizeof(Line); i += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += lines[i + k];
  Line sum = sums[0] + sums[1] + sums[2] + sums[3];
  asm volatile("" : : "m"(sum));
}

void copyAll(char *to, const char *from, size_t bytes) {
  auto *target = reinterpret_cast<Line *>(to);
  auto *source = reinterpret_cast<const Line *>(from);
  for (size_t i = 0; i < bytes / sizeof(Line); ++i)
    target[i] = source[i];
  asm volatile("" : : : "memory");
}

/// Runs `work(thread)` on all threads at once, `attempts` times; the best time in seconds.
double best(unsigned threads, int attempts, const std::function<void(unsigned)> &work) {
  std::atomic<int> arrived{0}, finished{0};
  std::vector<std::thread> others;
  double least = 1e9;
  auto attempt = [&](unsigned thread, int number) {
    arrived.fetch_add(1);
    while (arrived.load() < int(threads) * (number + 1)) {
    }
    auto start = Clock::now();
    work(thread);
    finished.fetch_add(1);
    while (finished.load() < int(threads) * (number + 1)) {
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      for (int number = 0; number < attempts; ++number)
        attempt(thread, number);
    });
  for (int number = 0; number < attempts; ++number)
    least = std::min(least, attempt(0, number));
  for (std::thread &other : others)
    other.join();
  return least;
}

double gigaflops(unsigned threads, double (*work)(int64_t), int64_t rounds = 400'000) {
  double operations = 0;
  double seconds = best(threads, 8, [&](unsigned thread) {
    double mine = work(rounds);
    if (thread == 0)
      operations = mine;
  });
  return operations * threads / seconds / 1e9;
}

} // namespace

int main(int argc, char **argv) {
  unsigned threads = argc > 1 ? unsigned(std::max(1, std::atoi(argv[1]))) : 1;
  bool operations = argc < 3 || std::string_view(argv[2]) == "flops", moves = argc < 3 || !operations;
  size_t least = size_t(256) << 10, most = size_t(256) << 20;
  if (!operations)
    least = most = std::max<size_t>(size_t(1) << 12, std::strtoull(argv[2], nullptr, 10));
  bool wide = __builtin_cpu_supports("avx512f");
  double f32 = operations ? gigaflops(threads, wide ? wideF32 : narrowF32) : 0;
  double f64 = operations ? gigaflops(threads, wide ? wideF64 : narrowF64) : 0;
  // Of bf16: the best that the processor has for it, at least what converting to f32 reaches.
  double bf16 = f32;
  if (operations && __builtin_cpu_supports("avx512bf16"))
    bf16 = std::max(bf16, gigaflops(threads, pairsBf16));
  if (operations && hasTiles())
    bf16 = std::max(bf16, gigaflops(threads, tilesBf16, 100'000));
  std::printf("{\"threads\": %u, \"f32_gflops\": %.1f, \"f64_gflops\": %.1f, \"bf16_gflops\": %.1f, \"bandwidth\": [", threads, f32, f64,
              bf16);
  const char *separator = "";
  // Working sets of all threads together: what is read and what is written.
  for (size_t total = least; moves && total <= most; total *= 4) {
    size_t each = total / threads / 512 * 512, repeat = std::max<size_t>(1, (size_t(8) << 20) / total);
    std::vector<char *> memory;
    for (unsigned thread = 0; thread < threads; ++thread) {
      memory.push_back(allocate(each));
      std::memset(memory.back(), 1, each);
    }
    double read = best(threads, 10, [&](unsigned thread) {
      for (size_t k = 0; k < repeat; ++k)
        readAll(memory[thread], each);
    });
    double copy = best(threads, 10, [&](unsigned thread) {
      for (size_t k = 0; k < repeat; ++k)
        copyAll(memory[thread] + each / 2, memory[thread], each / 2);
    });
    double bytes = double(each) * threads * double(repeat) / 1e9;
    std::printf("%s{\"bytes\": %zu, \"read_gbs\": %.1f, \"copy_gbs\": %.1f}", separator, total, bytes / read, bytes / copy);
    separator = ", ";
    for (char *block : memory)
      std::free(block);
  }
  std::printf("]}\n");
}
