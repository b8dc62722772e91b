// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Relayout.h - Copies between layouts --------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// Copies between `tensor`, row-major and of rank 2 or more, and `other`, a tensor of the same shape with the layout `minorToMajor`; `toOther` is the
/// direction. Large tensors are copied by the threads of the pool.
void relayout(const TensorView &tensor, const std::vector<int64_t> &minorToMajor, void *other, bool toOther);

bool isRowMajor(const std::vector<int64_t> &minorToMajor);

} // namespace millrace::runtime
