// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scan.h - Running sums, products, minima and maxima -------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_scan: x, init (a scalar of the same type) -> y of the shape of x, y[i] = init op x[0] op ... op x[i] along `dimension`.
/// Attributes: `dimension`; `reverse`: from the end; `reduction`: add, multiply, minimum or maximum. Lines of floats are summed from
/// one end to the other; long ones in blocks of a fixed size, whose sums are added first: the result is the same for any number
/// of threads.
Status scan(const CustomCall &call);

} // namespace millrace::runtime
