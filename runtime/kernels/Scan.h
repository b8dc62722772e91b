// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scan.h - Cumulative sums, products, minima and maxima ----------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_scan: x, init (a scalar of the same type) -> y of the shape of x, y[i] = init op x[0] op ... op x[i] along `dimension`. Attributes:
/// `dimension`; `reverse`, from the last element on; `reduction`: add, multiply, minimum or maximum. Floats are accumulated in order, long lines in
/// blocks of a fixed size whose totals are accumulated first, so that the result does not depend on the number of threads.
Status scan(const CustomCall &call);

} // namespace millrace::runtime
