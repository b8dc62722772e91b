// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramBlocks.h - Blocks whose operations become kernels or steps --===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace millrace::fusion {

/// Calls `visit` with the body of `function` and with the regions of the loops and branches in it that the runtime executes as steps, inner
/// ones first, and erases the operations that have no effect and no reader afterwards. Does nothing for kernels and declarations.
void forEachProgramBlock(mlir::func::FuncOp function, llvm::function_ref<void(mlir::Block &)> visit);

/// The same for every function that is in `module` when it is called: `visit` may add functions.
void forEachProgramBlock(mlir::ModuleOp module, llvm::function_ref<void(mlir::Block &)> visit);

} // namespace millrace::fusion
