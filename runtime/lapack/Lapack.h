// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lapack.h - Matrix factorizations as custom calls --------------------===//
// The targets lapack_*_ffi and tridiagonal_solve_perturbed_ffi that JAX's rules for CPUs emit, on Debian's OpenBLAS:
// opened when first needed, one thread per call (batches are spread over the pool). Handlers registered under the same
// names later win: under JAX those of jaxlib. What the compiler makes of some of them, millrace_*, needs no library (RealMatrices.cpp).
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

std::vector<std::pair<std::string, CustomCallHandler>> lapackCustomCalls();

} // namespace millrace::runtime
