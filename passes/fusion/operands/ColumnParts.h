// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ColumnParts.h - Readers of parts of a product's columns ------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace millrace::fusion {

/// A kernel that computes a product of `columns` columns, and the kernel that reads nothing of it but parts of its columns: the gates of a
/// recurrent network.
struct ColumnParts {
  mlir::func::CallOp product, reader;
  unsigned argument = 0;             ///< of the reader
  int64_t width = 0;                 ///< of all parts
  llvm::SmallVector<int64_t> begins; ///< of the parts, ascending
};

/// The reader of the parts of what `product` computes, if both can be one kernel with a product for each part, computed from panels of the
/// weights that a loop does not change.
std::optional<ColumnParts> findColumnParts(mlir::func::CallOp product, mlir::SymbolTable &symbols);

/// Makes one kernel of both. The product's right operand is packed in panels whose width divides that of a part. `erased`: calls that were erased.
void joinColumnParts(const ColumnParts &parts, mlir::SymbolTable &symbols, llvm::SmallPtrSetImpl<mlir::Operation *> &erased);

} // namespace millrace::fusion
