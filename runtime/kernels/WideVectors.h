// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WideVectors.h - One function for each width of vectors -------------===//
#pragma once

/// Before a function: it is compiled for AVX-512, for AVX2 and for any processor, and the loader takes the best that there is.
#if defined(__x86_64__)
#define MILLRACE_FOR_WIDE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MILLRACE_FOR_WIDE_VECTORS
#endif
