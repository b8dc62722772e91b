// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SliceUpdate.h - Slices written into an operand's buffer ------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"

namespace millrace::lowering {

/// A kernel that writes a slice into the buffer of an operand at offsets it reads (dynamic_update_slice in place); emitter "movement".
mlir::FailureOr<EmittedKernel> emitSliceUpdate(mlir::func::FuncOp fn, const KernelTarget &target);

} // namespace millrace::lowering
