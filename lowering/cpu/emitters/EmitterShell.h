// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitterShell.h - What all emitters' functions have in common -------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/KernelModel.h"
#include "lowering/cpu/emitters/model/PointEvaluator.h"

namespace millrace::lowering {

/// The function `<name>_range` with flat buffers, scratch and range arguments, an entry block and a return.
mlir::func::FuncOp createShell(mlir::func::FuncOp kernel, const KernelModel &model);

/// Hands out pieces of the scratch argument.
class Scratch {
public:
  explicit Scratch(mlir::func::FuncOp shell) : shell(shell) {}
  /// memref<elements x type> at the next multiple of 64 bytes.
  mlir::Value take(mlir::Type type, int64_t elements);
  int64_t bytes() const { return used; }

private:
  mlir::func::FuncOp shell;
  int64_t used = 0;
};

inline mlir::Value rangeBegin(mlir::func::FuncOp shell) { return shell.getArgument(shell.getNumArguments() - 2); }
inline mlir::Value rangeEndArg(mlir::func::FuncOp shell) { return shell.getArgument(shell.getNumArguments() - 1); }

/// The storage type of a tensor element: i1 is a byte.
mlir::Type storageType(mlir::Type element);

/// scf.for at the evaluator's place.
mlir::scf::ForOp openLoop(PointEvaluator &at, mlir::Value begin, mlir::Value end, int64_t step,
                          mlir::ValueRange inits = {});
/// Ends a loop that carries values.
void yieldFrom(mlir::scf::ForOp loop, mlir::ValueRange next);

/// The values of all lanes combined to scalars: lane l with lane l + width/2, and so on. Both arguments of `combine` and its result
/// are one value per element of `values`.
mlir::SmallVector<mlir::Value>
foldLanes(PointEvaluator &at, mlir::SmallVector<mlir::Value> values,
          llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::ArrayRef<mlir::Value>, mlir::ArrayRef<mlir::Value>)> combine);

/// Splits a linear index into the indices of `atoms` (last fastest) and binds them in the current scope.
void bindLinear(PointEvaluator &at, mlir::Value linear, mlir::ArrayRef<int> atoms);

/// A remark `<emitter>: not emitted: <why>` at the kernel.
mlir::LogicalResult refuse(mlir::func::FuncOp fn, llvm::StringRef emitter, const llvm::Twine &why);
/// The kernel's model; a kernel that has none is refused for `emitter`.
mlir::FailureOr<KernelModel> modelFor(mlir::func::FuncOp fn, llvm::StringRef emitter);
/// The end of an emitter that fills `shell` through a PointEvaluator: what it made, without range and cost. Unless all of it was emitted,
/// the emitter has a fault: the shell is erased, and the kernel refused with a remark that says so.
mlir::FailureOr<EmittedKernel> conclude(mlir::func::FuncOp kernel, mlir::func::FuncOp shell, llvm::StringRef emitter, bool isWhole);

/// Largest of the sizes in a set of access strides first: the order in which loops over atoms should nest.
mlir::SmallVector<int> outermostFirst(const KernelModel &model, AtomSet atoms);

/// The number e with combine(e, x) = x, null if the operation has none that is known.
mlir::TypedAttr identityOf(mlir::Operation *combine, mlir::Type type);

} // namespace millrace::lowering
