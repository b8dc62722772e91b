// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Symbols.cpp - Symbols that kernels may use --------------------------===//
#include "runtime/kernels/Symbols.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

void *millrace_rt_alloc(uint64_t bytes) {
  if (bytes > (uint64_t(1) << 46))
    return nullptr;
  return std::aligned_alloc(64, (bytes + 127) / 64 * 64);
}
void millrace_rt_free(void *data) { std::free(data); }

// The compiler-support functions of libgcc that generated code calls. Their declarations use the compiler's own types.
extern "C" {
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
float __powisf2(float, int);
double __powidf2(double, int);
#if defined(__x86_64__)
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
float __extendhfsf2(_Float16);
#endif
}

namespace millrace::runtime {
namespace {

#if defined(__x86_64__)
// libgcc 12 has no bfloat conversions. The conversion rounds to nearest even and keeps NaN.
__bf16 truncateToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return std::bit_cast<__bf16>(uint16_t(bits >> 16 | 0x40));
  bits += 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<__bf16>(uint16_t(bits >> 16));
}
// Rounds once: the conversion to float rounds towards odd, so that its extra bits keep the information about ties.
__bf16 truncateDoubleToBfloat(double value) {
  float narrow = float(value);
  if (std::isfinite(value) && std::isfinite(narrow) && double(narrow) != value) {
    uint32_t bits = std::bit_cast<uint32_t>(narrow);
    if (std::fabs(double(narrow)) > std::fabs(value))
      --bits; // rounds towards zero
    narrow = std::bit_cast<float>(bits | 1);
  }
  return truncateToBfloat(narrow);
}
#endif

template <typename F>
void *address(F *function) {
  return reinterpret_cast<void *>(function);
}

} // namespace

const std::vector<RuntimeSymbol> &runtimeSymbols() {
  using F1 = float (*)(float);
  using D1 = double (*)(double);
  using F2 = float (*)(float, float);
  using D2 = double (*)(double, double);
#define UNARY(name) {#name, address(static_cast<D1>(::name))}, {#name "f", address(static_cast<F1>(::name##f))}
#define BINARY(name) {#name, address(static_cast<D2>(::name))}, {#name "f", address(static_cast<F2>(::name##f))}
#define OURS(name) {"millrace_rt_" #name, address(millrace_rt_##name)}
#define COMPLEX(name) OURS(c##name), OURS(c##name##f)
  static const std::vector<RuntimeSymbol> symbols = {
      {"memcpy", address(::memcpy)},
      {"memmove", address(::memmove)},
      {"memset", address(::memset)},
      {"memcmp", address(static_cast<int (*)(const void *, const void *, size_t)>(::memcmp))},
      UNARY(exp), UNARY(exp2), UNARY(expm1), UNARY(log), UNARY(log2), UNARY(log10), UNARY(log1p), UNARY(sqrt),
      UNARY(cbrt), UNARY(sin), UNARY(cos), UNARY(tan), UNARY(asin), UNARY(acos), UNARY(atan), UNARY(sinh),
      UNARY(cosh), UNARY(tanh), UNARY(asinh), UNARY(acosh), UNARY(atanh), UNARY(erf), UNARY(erfc), UNARY(lgamma),
      UNARY(tgamma), UNARY(floor), UNARY(ceil), UNARY(round), UNARY(roundeven), UNARY(rint), UNARY(nearbyint),
      UNARY(trunc), UNARY(fabs),
      BINARY(pow), BINARY(atan2), BINARY(fmod), BINARY(remainder), BINARY(hypot), BINARY(copysign), BINARY(nextafter),
      BINARY(fmin), BINARY(fmax),
      {"fma", address(static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", address(static_cast<float (*)(float, float, float)>(::fmaf))},
      {"ldexp", address(static_cast<double (*)(double, int)>(::ldexp))},
      {"ldexpf", address(static_cast<float (*)(float, int)>(::ldexpf))},
      {"sincos", address(static_cast<void (*)(double, double *, double *)>(::sincos))},
      {"sincosf", address(static_cast<void (*)(float, float *, float *)>(::sincosf))},
      {"__divti3", address(__divti3)},
      {"__modti3", address(__modti3)},
      {"__udivti3", address(__udivti3)},
      {"__umodti3", address(__umodti3)},
      {"__powisf2", address(__powisf2)},
      {"__powidf2", address(__powidf2)},
#if defined(__x86_64__)
      {"__truncsfhf2", address(__truncsfhf2)},
      {"__truncdfhf2", address(__truncdfhf2)},
      {"__extendhfsf2", address(__extendhfsf2)},
      {"__truncsfbf2", address(truncateToBfloat)},
      {"__truncdfbf2", address(truncateDoubleToBfloat)},
#endif
      COMPLEX(exp), COMPLEX(expm1), COMPLEX(log), COMPLEX(log1p), COMPLEX(sqrt), COMPLEX(rsqrt), COMPLEX(cbrt),
      COMPLEX(sin), COMPLEX(cos), COMPLEX(tan), COMPLEX(tanh), COMPLEX(logistic), COMPLEX(pow), COMPLEX(div),
      COMPLEX(atan2),
      OURS(alloc), OURS(free),
      // Lowerings of buffers allocate memory with these functions.
      {"malloc", address(::malloc)}, {"free", address(::free)}, {"aligned_alloc", address(::aligned_alloc)},
  };
#undef UNARY
#undef BINARY
#undef OURS
#undef COMPLEX
  return symbols;
}

} // namespace millrace::runtime
