// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionValues.h - A function whose values all change their types ---===//
#pragma once

#include "dialects/sdy/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

namespace millrace::spmd {

/// The values of a function before it is changed.
struct FunctionValues {
  explicit FunctionValues(mlir::func::FuncOp function);
  llvm::SmallVector<mlir::Operation *> ops; ///< those of regions before their owners
  llvm::SmallVector<mlir::Value> values;    ///< arguments of the function and of regions, results of operations
};

/// Sets the function's type once its arguments have theirs. Results of the function may say more than what is returned does:
/// `typeOf` is asked with their shardings, null ones too. Returns them for checkReturned.
llvm::SmallVector<mlir::Type> retypeSignature(mlir::func::FuncOp function,
                                              llvm::function_ref<mlir::Type(mlir::Type, sdy::TensorShardingAttr)> typeOf);

/// An error at the terminator if it returns other types; `of` says what they are types of.
mlir::LogicalResult checkReturned(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Type> results, llvm::StringRef of);

} // namespace millrace::spmd
