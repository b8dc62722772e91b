// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sort.h - Sort lines of tensors ----------------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_sort: sorts operands of one shape along `dimension` by one or more keys; stable. Attributes:
///   dimension   the dimension that is sorted
///   keys        operands that are compared, the most significant one first
///   descending  one flag per key
///   total       one flag per key, whether floats are in total order (OrderKey.h)
///   results     for each result the operand whose elements it gets, or -1 for the elements' original positions (any integer type)
/// Lines are distributed over the threads of the pool; all threads sort a long one together. The result does not depend on the number of threads.
Status sort(const CustomCall &call);

} // namespace millrace::runtime
