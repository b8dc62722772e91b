// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- recorder_probe.cpp - What a place costs where nobody records --------===//
// Prints nanoseconds of one question whether somebody records (runtime/profile/Recorder.h), best of some turns: a loop with it less a loop without.
#include "runtime/profile/Recorder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace millrace::runtime::profile {
std::atomic<uint64_t> state{0};
}

template <typename Body>
static double nanoseconds(Body body) {
  constexpr int64_t count = 20'000'000;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) {
    body();
    asm volatile("" ::: "memory");
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / double(count);
}

int main() {
  uint64_t taken = 0;
  double with = 1e9, without = 1e9;
  for (int turn = 0; turn < 15; ++turn) {
    with = std::min(with, nanoseconds([&] { taken += millrace::runtime::profile::isOn() ? 1 : 0; }));
    without = std::min(without, nanoseconds([] {}));
  }
  std::printf("%.4f\n", std::max(0.0, with - without));
  return taken != 0;
}
