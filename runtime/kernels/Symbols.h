// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Symbols.h - What kernels may call -----------------------------------===//
// Machine code of programs is linked against this list and nothing else of the process:
//   memcpy memmove memset, the C library's math functions in float and double,
//   compiler support (half and bfloat conversions, 128-bit division, powi),
//   millrace_rt_*: ours, declared below.
// Complex functions take parts and write {re, im} to `out`; names: millrace_rt_c<op>f (float), millrace_rt_c<op>
// (double), op = exp expm1 log log1p sqrt rsqrt cbrt sin cos tan tanh logistic (one operand) and pow div (two).
// They are computed in extended precision, so their error is below 1 ULP per part where the C library's is.
#pragma once
#include <cstdint>
#include <vector>

extern "C" {
#define MILLRACE_COMPLEX_UNARY(op)                                                                                     \
  void millrace_rt_c##op##f(float re, float im, float *out);                                                           \
  void millrace_rt_c##op(double re, double im, double *out);
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
#undef MILLRACE_COMPLEX_UNARY
void millrace_rt_cpowf(float re, float im, float re2, float im2, float *out);
void millrace_rt_cpow(double re, double im, double re2, double im2, double *out);
void millrace_rt_cdivf(float re, float im, float re2, float im2, float *out);
void millrace_rt_cdiv(double re, double im, double re2, double im2, double *out);
/// 64-byte aligned memory for kernels whose temporaries have run-time size; nullptr if there is none.
void *millrace_rt_alloc(uint64_t bytes);
void millrace_rt_free(void *data);
}

namespace millrace::runtime {

struct RuntimeSymbol {
  const char *name;
  void *address;
};
/// The whole list. Process lifetime.
const std::vector<RuntimeSymbol> &runtimeSymbols();

} // namespace millrace::runtime
