// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitterShell.h - The function that emitters generate ---------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/KernelModel.h"
#include "lowering/cpu/emitters/model/PointEvaluator.h"

namespace millrace::lowering {

/// Creates the function `<name>_range` with flat buffers, scratch and range arguments, an entry block and a return.
mlir::func::FuncOp createShell(mlir::func::FuncOp kernel, const KernelModel &model);

/// Allocates parts of the scratch argument.
class Scratch {
public:
  explicit Scratch(mlir::func::FuncOp shell) : shell(shell) {}
  /// Returns a memref<elements x type> at the next multiple of 64 bytes.
  mlir::Value take(mlir::Type type, int64_t elements);
  int64_t bytes() const { return used; }

private:
  mlir::func::FuncOp shell;
  int64_t used = 0;
};

inline mlir::Value rangeBegin(mlir::func::FuncOp shell) { return shell.getArgument(shell.getNumArguments() - 2); }
inline mlir::Value rangeEndArg(mlir::func::FuncOp shell) { return shell.getArgument(shell.getNumArguments() - 1); }

/// Returns the storage type of a tensor element: i1 is a byte.
mlir::Type storageType(mlir::Type element);

/// Creates an scf.for at the evaluator's insertion point.
mlir::scf::ForOp openLoop(PointEvaluator &at, mlir::Value begin, mlir::Value end, int64_t step,
                          mlir::ValueRange inits = {});
/// Terminates a loop that carries values.
void yieldFrom(mlir::scf::ForOp loop, mlir::ValueRange next);

/// Combines the values of all lanes to scalars: lane l with lane l + width/2, and so on. Both arguments of `combine` and its result have one value
/// per element of `values`.
mlir::SmallVector<mlir::Value>
foldLanes(PointEvaluator &at, mlir::SmallVector<mlir::Value> values,
          llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::ArrayRef<mlir::Value>, mlir::ArrayRef<mlir::Value>)> combine);

/// Splits a linear index into the indices of `atoms` (last fastest) and binds them in the current scope.
void bindLinear(PointEvaluator &at, mlir::Value linear, mlir::ArrayRef<int> atoms);

/// Emits the remark `<emitter>: not emitted: <why>` at the kernel.
mlir::LogicalResult refuse(mlir::func::FuncOp fn, llvm::StringRef emitter, const llvm::Twine &why);
/// Returns the kernel's model; a kernel without one is refused for `emitter`.
mlir::FailureOr<KernelModel> modelFor(mlir::func::FuncOp fn, llvm::StringRef emitter);
/// Returns the kernel of an emitter that fills `shell` through a PointEvaluator, without range and cost. If some value could not be emitted, which is
/// a fault of the emitter, the shell is erased and the kernel refused with a remark that says so.
mlir::FailureOr<EmittedKernel> conclude(mlir::func::FuncOp kernel, mlir::func::FuncOp shell, llvm::StringRef emitter, bool isWhole);

/// The part of the range that a kernel for a run-time number of rows needs if the indices `order` count up in it, outermost first, `perUnit` of the
/// first one at a time: all of it unless rows are outermost.
runtime::RowRange rowRange(const KernelModel &model, llvm::ArrayRef<int> order, int64_t rangeEnd, int64_t perUnit = 1);
/// A value in the entry block of `shell` that stands for the number of rows until takeRows() makes it an argument.
mlir::Value rowsToCome(mlir::func::FuncOp shell);
void takeRows(mlir::func::FuncOp shell, mlir::Value rowsToCome);

/// Rows first, then the largest of the sizes in a set of access strides first: the order in which loops over atoms should nest.
mlir::SmallVector<int> outermostFirst(const KernelModel &model, AtomSet atoms);

/// Returns the element e with combine(e, x) = x, null if none is known.
mlir::TypedAttr identityOf(mlir::Operation *combine, mlir::Type type);

} // namespace millrace::lowering
