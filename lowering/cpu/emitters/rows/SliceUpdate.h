// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SliceUpdate.h - Emit in-place slice updates ------------------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"

namespace millrace::lowering {

/// Emits a kernel that stores a slice in the buffer of an operand at offsets it reads (dynamic_update_slice in place); emitter "movement".
mlir::FailureOr<EmittedKernel> emitSliceUpdate(mlir::func::FuncOp fn, const KernelTarget &target);

} // namespace millrace::lowering
