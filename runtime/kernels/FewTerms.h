// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewTerms.h - Products with matrices of zeros, mostly -----------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_few_terms: x [outer, k, size], positions [terms, n] (i32, below k) and weights [terms, n] of the type of x, f32 or f64 ->
/// [outer, n, size]: sums over k of x times a matrix that has weights[t, j] in row positions[t, j] of column j and zeros elsewhere, zeros
/// that make NaN of what is not finite; a weight of zero is no entry. Attribute `sizes`: outer, k and size; x and the result may have
/// other dimensions that hold as many elements.
Status fewTerms(const CustomCall &call);

} // namespace millrace::runtime
