// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TopK.h - The k largest or smallest elements of every row ------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_top_k: x [..., n] -> values [..., k] in order, positions [..., k] (i32 or i64). Equal elements are in the order of their positions.
/// Attributes: `largest`; `total_order`, as in OrderKey.h.
Status topK(const CustomCall &call);

} // namespace millrace::runtime
