// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Relayout.h - Tensors whose axes lie in another order ----------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// Copies between `tensor`, row-major and of rank 2 or more, and `other`, the same shape with axes in memory as `minorToMajor`
/// says; `toOther` is the direction. Large ones on the threads of the pool.
void relayout(const TensorView &tensor, const std::vector<int64_t> &minorToMajor, void *other, bool toOther);

bool isRowMajor(const std::vector<int64_t> &minorToMajor);

} // namespace millrace::runtime
