// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ForeignModes.h - A thread in the modes that other libraries leave ----===//
#pragma once
#include <cfenv>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::test {

/// As long as it lives, this thread computes as somebody else wanted it. Arithmetic that has to be inside is a call.
class ForeignModes {
public:
  struct Kind {
    std::string name;
    bool flushes;   ///< subnormal operands and results are zeros
    int rounding;
  };
  static const std::vector<Kind> &all() {
    static const std::vector<Kind> kinds{{"flush", true, FE_TONEAREST}, {"towards zero", false, FE_TOWARDZERO}, {"flush, upward", true, FE_UPWARD}};
    return kinds;
  }
  explicit ForeignModes(const Kind &kind) {
    std::fegetenv(&before);
    std::fesetround(kind.rounding);
    if (kind.flushes)
      setWord(word() | kFlush);
  }
  ~ForeignModes() { std::fesetenv(&before); }
  ForeignModes(const ForeignModes &) = delete;
  ForeignModes &operator=(const ForeignModes &) = delete;

  /// The control word, flags of exceptions included where the processor keeps them there.
#if defined(__x86_64__)
  static constexpr uint64_t kFlush = 0x8040;
  static uint64_t word() { return __builtin_ia32_stmxcsr(); }
  static void setWord(uint64_t word) { __builtin_ia32_ldmxcsr(unsigned(word)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t(1) << 24;
  static uint64_t word() {
    uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void setWord(uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
  static constexpr uint64_t kFlush = 0;
  static uint64_t word() { return uint64_t(std::fegetround()); }
  static void setWord(uint64_t) {}
#endif

private:
  std::fenv_t before;
};

} // namespace millrace::test
