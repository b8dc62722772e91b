// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewTerms.h - Products with matrices of few entries per column -------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_few_terms: x [outer, k, size], positions [terms, n] (i32, below k) and weights [terms, n] of the type of x, f32 or f64 -> [outer, n,
/// size]: the contraction of x over k with a matrix that has weights[t, j] in row positions[t, j] of column j and zeros elsewhere. As in a dense
/// product, a zero times an infinity or NaN is NaN; a weight of zero counts as no entry. Attribute `sizes`: outer, k and size; x and the result may
/// have other dimensions with as many elements.
Status fewTerms(const CustomCall &call);

} // namespace millrace::runtime
