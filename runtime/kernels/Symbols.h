// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Symbols.h - Symbols that kernels may use ----------------------------===//
// The machine code of programs is linked against this list and nothing else of the process:
//   memcpy memmove memset, the C library's math functions in float and double,
//   compiler support (half and bfloat conversions, 128-bit division, powi),
//   millrace_rt_*: ours, declared below.
// Complex functions take parts as doubles and return them as a pair, which comes back in two registers; names:
// millrace_rt_c<op>f (float parts, exact in double; the caller rounds the result) and millrace_rt_c<op> (double parts),
// op = exp expm1 log log1p sqrt rsqrt cbrt sin cos tan tanh logistic (one operand) and pow div atan2 (two).
// They are computed in extended precision, so their error is below 1 ULP per part where the C library's is.
#pragma once
#include <cstdint>
#include <vector>

extern "C" {
struct MillraceComplex {
  double re, im;
};
#define MILLRACE_COMPLEX_UNARY(op)                                                                                     \
  MillraceComplex millrace_rt_c##op##f(double re, double im);                                                          \
  MillraceComplex millrace_rt_c##op(double re, double im);
#define MILLRACE_COMPLEX_BINARY(op)                                                                                    \
  MillraceComplex millrace_rt_c##op##f(double re, double im, double re2, double im2);                                  \
  MillraceComplex millrace_rt_c##op(double re, double im, double re2, double im2);
MILLRACE_COMPLEX_UNARY(exp)
MILLRACE_COMPLEX_UNARY(expm1)
MILLRACE_COMPLEX_UNARY(log)
MILLRACE_COMPLEX_UNARY(log1p)
MILLRACE_COMPLEX_UNARY(sqrt)
MILLRACE_COMPLEX_UNARY(rsqrt)
MILLRACE_COMPLEX_UNARY(cbrt)
MILLRACE_COMPLEX_UNARY(sin)
MILLRACE_COMPLEX_UNARY(cos)
MILLRACE_COMPLEX_UNARY(tan)
MILLRACE_COMPLEX_UNARY(tanh)
MILLRACE_COMPLEX_UNARY(logistic)
MILLRACE_COMPLEX_BINARY(pow)
MILLRACE_COMPLEX_BINARY(div)
MILLRACE_COMPLEX_BINARY(atan2)
#undef MILLRACE_COMPLEX_UNARY
#undef MILLRACE_COMPLEX_BINARY
/// Allocates 64-byte aligned memory for temporaries of a kernel whose size is known at run time; nullptr on failure.
void *millrace_rt_alloc(uint64_t bytes);
void millrace_rt_free(void *data);
}

namespace millrace::runtime {

struct RuntimeSymbol {
  const char *name;
  void *address;
};
/// Returns the whole list, which is never destroyed.
const std::vector<RuntimeSymbol> &runtimeSymbols();

} // namespace millrace::runtime
