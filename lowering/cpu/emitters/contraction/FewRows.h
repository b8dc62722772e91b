// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewRows.h - Emit contractions of few rows with a matrix -------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/KernelModel.h"

namespace millrace::lowering {

/// Emits a contraction of one to sixteen rows with a matrix of contiguous rows, which is bound by memory. Refuses all others without a remark.
mlir::FailureOr<EmittedKernel> emitFewRows(mlir::func::FuncOp fn, const KernelModel &model, const KernelTarget &target);

} // namespace millrace::lowering
