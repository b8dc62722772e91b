// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowAttributes.h - Attributes of programs for a number of rows ------===//
// Those of Attributes.h that only the code of lowering/program/OpenRows.h and kernels for it look at. The dialect checks them, too.
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace millrace {

/// Dense i64 array, of a function for a run-time number of rows: the largest number; of a kernel, then the elements of one row of each result,
/// from row to row.
inline constexpr llvm::StringLiteral kRowsAttr = "millrace.rows";
/// Integer, of a kernel for a run-time number of rows: there are so many at most, although its buffers have room for more.
inline constexpr llvm::StringLiteral kFewRowsAttr = "millrace.few_rows";
/// Integer, of an argument or result of a function for a run-time number of rows: so many indices of its first dimension are one row.
inline constexpr llvm::StringLiteral kRowIndicesAttr = "millrace.row_indices";
/// Symbol, of a call of a kernel for a run-time number of rows: the kernel that is called instead where there are few.
inline constexpr llvm::StringLiteral kFewRowsKernelAttr = "millrace.few_rows_kernel";

} // namespace millrace
