// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lapack.h - Matrix factorizations as custom calls --------------------===//
// The targets are lapack_*_ffi and tridiagonal_solve_perturbed_ffi, which JAX's rules for CPUs emit. They call Debian's OpenBLAS, which is opened
// when first needed, with one thread per call; batches are distributed over the pool. Handlers that are registered later under the same names replace
// these: under JAX those of jaxlib. The compiler converts some of the calls to millrace_*, which needs no library (RealMatrices.cpp).
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

std::vector<std::pair<std::string, CustomCallHandler>> lapackCustomCalls();

} // namespace millrace::runtime
