// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WideVectors.h - Compile a function for several vector widths --------===//
#pragma once

/// Before a function: compiles it for AVX-512, for AVX2 and for any processor; the loader selects the best version that the processor supports.
#if defined(__x86_64__)
#define MILLRACE_FOR_WIDE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MILLRACE_FOR_WIDE_VECTORS
#endif
