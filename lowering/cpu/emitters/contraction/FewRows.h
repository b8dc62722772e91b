// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewRows.h - Emit contractions of few rows with a matrix -------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/KernelModel.h"

namespace millrace::lowering {

/// More rows do not read a matrix where it lies: it is packed, or read some columns at a time. Unit: rows. Source: commit ffd4955, one thread, 2048x2048
/// transposed: 16 rows 1.56 to 1.21 ms, 8 rows 1.14 to 0.76.
inline constexpr int64_t kMaxFewRows = 16;

/// Emits a contraction of one to sixteen rows with a matrix of contiguous rows, which is bound by memory. Refuses all others without a remark.
mlir::FailureOr<EmittedKernel> emitFewRows(mlir::func::FuncOp fn, const KernelModel &model, const KernelTarget &target);

} // namespace millrace::lowering
