// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatModes.h - Floating-point modes of a thread --------------------===//
// By default a thread rounds to nearest, keeps subnormal numbers and traps no exception. Libraries change that: jaxlib's thread pools and
// torch.set_flush_denormal flush subnormal numbers, fesetround() changes the rounding, feenableexcept() enables traps. Results must not depend on the
// caller's modes, also because folded constants are stored in the compilation cache. All code that computes for a program therefore holds a
// DefaultFloatModes: compilation (lowering/Compile.cpp, and tools that run passes before it), the evaluator, the execution of a program, and threads
// that serve several callers. A thread that is started meanwhile inherits the modes. Kernels may flush inside (lowering/cpu/emitters/FloatControl.h).
#pragma once
#include <cstdint>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace millrace::runtime {

/// Sets the default modes of this thread for its lifetime: rounding to nearest with ties to even, subnormal operands and results are kept, nothing
/// traps. Its destructor restores the caller's modes and exception flags (those of the x87 unit if it had other modes). A compiler may move
/// arithmetic of the same function across both ends, so that the protected code must be a call of a function that is not inlined.
class DefaultFloatModes {
public:
  DefaultFloatModes();
  ~DefaultFloatModes();
  DefaultFloatModes(const DefaultFloatModes &) = delete;
  DefaultFloatModes &operator=(const DefaultFloatModes &) = delete;

private:
#if defined(__x86_64__)
  /// The environment that FNSTENV stores: the x87 unit computes `long double`.
  struct X87 {
    uint32_t words[7];
  };
  /// Fact: bits of MXCSR that are modes: FTZ, rounding, masks, DAZ; without the flags.
  static constexpr uint32_t kVectorModes = 0xffc0;
  /// Fact: MXCSR when a process starts.
  static constexpr uint32_t kVectorDefault = 0x1f80;
  /// Fact: bits of x87's control word that are modes: rounding, precision, masks.
  static constexpr uint16_t kX87Modes = 0x0f3f;
  /// Fact: x87's control word when a process starts.
  static constexpr uint16_t kX87Default = 0x033f;
  static uint16_t x87Control() {
    uint16_t word;
    asm volatile("fnstcw %0" : "=m"(word));
    return word;
  }
  uint32_t vector;
  uint16_t x87Word;
  bool hasX87 = false; ///< the caller's x87 unit had other modes, which are in `x87`
  X87 x87;
#elif defined(__aarch64__)
  uint64_t control, flags;
  static uint64_t currentControl() {
    uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
#else
  std::fenv_t before;
#endif
};

#if defined(__x86_64__)

inline DefaultFloatModes::DefaultFloatModes() : vector(__builtin_ia32_stmxcsr()), x87Word(x87Control()) {
  if ((vector & kVectorModes) != kVectorDefault)
    __builtin_ia32_ldmxcsr((vector & ~kVectorModes) | kVectorDefault);
  if ((x87Word & kX87Modes) == kX87Default)
    return;
  // FNSTENV masks the exceptions in the unit. Exceptions that are pending in the copy trap when the caller's next operation runs, as without this
  // class.
  hasX87 = true;
  const uint16_t word = uint16_t((x87Word & ~kX87Modes) | kX87Default);
  asm volatile("fnstenv %0\n\tfnclex\n\tfldcw %1" : "=m"(x87) : "m"(word));
}

inline DefaultFloatModes::~DefaultFloatModes() {
  if (__builtin_ia32_stmxcsr() != vector)
    __builtin_ia32_ldmxcsr(vector);
  if (hasX87)
    asm volatile("fldenv %0" : : "m"(x87));
  else if (x87Control() != x87Word)
    asm volatile("fldcw %0" : : "m"(x87Word));
}

#elif defined(__aarch64__)

inline DefaultFloatModes::DefaultFloatModes() : control(currentControl()) {
  asm volatile("mrs %0, fpsr" : "=r"(flags));
  if (control)
    asm volatile("msr fpcr, %0" : : "r"(uint64_t(0)));
}

inline DefaultFloatModes::~DefaultFloatModes() {
  if (currentControl() != control)
    asm volatile("msr fpcr, %0" : : "r"(control));
  asm volatile("msr fpsr, %0" : : "r"(flags));
}

#else

inline DefaultFloatModes::DefaultFloatModes() {
  std::feholdexcept(&before);
  std::fesetround(FE_TONEAREST);
}

inline DefaultFloatModes::~DefaultFloatModes() { std::fesetenv(&before); }

#endif

} // namespace millrace::runtime
