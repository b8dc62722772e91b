// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Random.h - Reproducible random numbers ------------------------------===//
// The standard library's distributions differ between implementations, which would make plans differ.
#pragma once

#include <cstdint>

namespace millrace::autosharding {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t value = state += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
  }
  /// Returns a number from 0 to count - 1; the smallest ones are more likely by at most 2^-32.
  uint32_t below(uint32_t count) { return uint32_t(((next() >> 32) * count) >> 32); }
  /// Returns a number in [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace millrace::autosharding
