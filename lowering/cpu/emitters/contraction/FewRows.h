// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewRows.h - Few rows times a matrix ---------------------------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/KernelModel.h"

namespace millrace::lowering {

/// One to sixteen rows times a matrix with contiguous rows, bound by memory: streams through the matrix. Fails without a remark at everything else.
mlir::FailureOr<EmittedKernel> emitFewRows(mlir::func::FuncOp fn, const KernelModel &model, const KernelTarget &target);

} // namespace millrace::lowering
