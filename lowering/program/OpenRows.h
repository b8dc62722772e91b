// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpenRows.h - Programs for a run-time number of rows -----------------===//
// A program whose function has the attribute `millrace.rows` is compiled for the largest number of rows and runs for any smaller one, too: all
// shapes are static, a row (an image, a sequence, a token) is an index, or some neighbouring ones, of the first dimension of arguments and results,
// and no row of a result depends on another row. Kernels compute the rows that there are, at most a tile more; what their buffers hold behind is
// never looked at.
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>

namespace millrace::lowering {

struct KernelSummary;

/// Fact: the number of the run-time dim that is the number of rows.
inline constexpr uint32_t kRowsDim = 0;

/// Products of up to so many rows have code of their own: it reads weights where they lie, as that for many rows, which packs them, does not. Unit:
/// rows of the program. Source: arithmetic: those of one register tile of 12 rows.
inline constexpr int64_t kFewRows = 12;

/// Follows rows through operations: which dimension of each value has rows as its outermost index.
class RowTracker {
public:
  explicit RowTracker(int64_t bound) : bound(bound) {}

  std::optional<int64_t> dimOf(mlir::Value value) const;
  void set(mlir::Value value, int64_t dim) { dims[value] = dim; }
  /// The same for the results of an operation, whose operands are known. Fails, with `why`, if rows are mixed, or if it is not known that they are
  /// not.
  mlir::LogicalResult visit(mlir::Operation *op, std::string &why);
  /// Of all operations of a block.
  mlir::LogicalResult visit(mlir::Block &block, std::string &why);

private:
  mlir::LogicalResult visitCall(mlir::func::CallOp call, std::string &why);

  int64_t bound;
  llvm::DenseMap<mlir::Value, int64_t> dims;
  llvm::DenseSet<mlir::Operation *> visited; ///< functions
};

/// Gives kernels the attribute `millrace.rows` if the function that calls them has it. Fails with a diagnostic if rows are mixed.
std::unique_ptr<mlir::Pass> createMarkRowsPass();
void registerMarkRowsPass();

/// After all passes: gives the calls of contractions in `entry`, whose kernels are marked, another kernel for few rows.
void addKernelsForFewRows(mlir::func::FuncOp entry);

/// 1 where there are few rows (`few`) or more, else 0.
runtime::DimExpr oneIfFewRows(bool few = true);

/// Lets `program`, which was built for the largest number of rows, take and return as many as there are. Kernels that touch no row behind the last
/// one read the caller's memory and write results where they stay; others have buffers for all rows, from and to which the rows that there are are copied.
void openRows(mlir::func::FuncOp entry, const llvm::StringMap<KernelSummary> &kernels, runtime::Program &program);

} // namespace millrace::lowering
