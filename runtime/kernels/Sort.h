// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sort.h - Lines of tensors in order -----------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_sort: operands of one shape, whose lines along `dimension` are ordered by one or more keys; stable. Attributes:
///   dimension   the dimension that is sorted
///   keys        operands that are compared, the most significant one first
///   descending  one flag per key
///   total       one flag per key: floats in total order (OrderKey.h)
///   results     for each result the operand whose elements it gets, or -1: their positions before (any integer type)
/// Lines are spread over the threads of the pool; a long one is sorted by all of them. The result is the same for any number.
Status sort(const CustomCall &call);

} // namespace millrace::runtime
