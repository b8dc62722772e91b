// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowEmitter.h - What the emitters of windows share ---------------===//
#pragma once
#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/windows/WindowKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace millrace::lowering {

/// Pooling with windows along the last dimension.
mlir::FailureOr<EmittedKernel> emitWindowReduce(mlir::func::FuncOp fn, const WindowReduce &what, const KernelTarget &target);
/// Gradients of mean pooling, channels last.
mlir::FailureOr<EmittedKernel> emitSpreadWindow(mlir::func::FuncOp fn, const WindowReduce &what, const KernelTarget &target);
/// Gradients of max pooling, channels last.
mlir::FailureOr<EmittedKernel> emitWindowScatter(mlir::func::FuncOp fn, const WindowScatter &what, const KernelTarget &target);
/// Gradients of max pooling, columns last.
mlir::FailureOr<EmittedKernel> emitWindowScatterRows(mlir::func::FuncOp fn, const WindowScatter &what, const KernelTarget &target);

/// Index arithmetic with constants that stand once, where the function begins.
class WindowEmitter {
protected:
  WindowEmitter(mlir::func::FuncOp kernel, const KernelTarget &target) : kernel(kernel), target(target), loc(kernel.getLoc()) {}

  mlir::Value constant(int64_t value) {
    mlir::OpBuilder b(kernel.getContext());
    b.setInsertionPointToStart(&shell.getBody().front());
    mlir::Value &made = constants[value];
    return made ? made : made = mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  mlir::Value sub(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  mlir::Value times(mlir::OpBuilder &b, mlir::Value x, int64_t y) {
    return y == 1 ? x : mlir::arith::MulIOp::create(b, loc, x, constant(y)).getResult();
  }
  mlir::scf::ForOp loop(mlir::OpBuilder &b, mlir::Value begin, int64_t end, int64_t step) {
    return mlir::scf::ForOp::create(b, loc, begin, constant(end), constant(step));
  }

  mlir::func::FuncOp kernel;
  const KernelTarget &target;
  mlir::Location loc;
  mlir::func::FuncOp shell;
  std::string why; ///< it was refused
  int64_t lanes = 1, scratchBytes = 0;

private:
  llvm::DenseMap<int64_t, mlir::Value> constants;
};

/// Both emitters of select_and_scatter: the greatest element of each window is selected, the first of equal ones.
class WindowScatterBase : protected WindowEmitter {
public:
  WindowScatterBase(mlir::func::FuncOp kernel, const WindowScatter &what, const KernelTarget &target)
      : WindowEmitter(kernel, target), what(what) {}

protected:
  /// Fills in the members below; false, with a reason, if there are no elements or too many in a window.
  bool describe();
  /// The shell with the operand, the source and the result.
  void makeShell();
  /// There is no window along the dimension.
  bool isPlain(int64_t dim) const {
    return what.window[dim] == 1 && what.strides[dim] == 1 && what.low[dim] == 0 && shape[dim] == sourceShape[dim];
  }
  /// Some window along the dimension has elements outside of the operand.
  bool reachesOut(int64_t dim) const {
    return what.low[dim] > 0 || (sourceShape[dim] - 1) * what.strides[dim] + what.window[dim] - what.low[dim] > shape[dim];
  }
  mlir::Value splat(mlir::OpBuilder &b, mlir::TypedAttr number) {
    return mlir::arith::ConstantOp::create(b, loc,
                                           mlir::DenseElementsAttr::get(llvm::cast<mlir::ShapedType>(vectorType), llvm::ArrayRef<mlir::Attribute>{number}));
  }
  mlir::Value zeros(mlir::OpBuilder &b) { return splat(b, llvm::cast<mlir::TypedAttr>(b.getZeroAttr(element))); }
  /// The number of an element, or of none: -1, in all lanes.
  mlir::Value position(mlir::OpBuilder &b, int64_t value);
  /// The lanes in which `x` is selected rather than `best`, whose number is `chosen`. Without `isFound` that may be none's.
  mlir::Value isBetter(mlir::OpBuilder &b, mlir::Value best, mlir::Value chosen, bool isFound, mlir::Value x);
  /// A number, or a vector of them, with a source's.
  mlir::Value sum(mlir::OpBuilder &b, mlir::Value x, mlir::Value y);

  const WindowScatter &what;
  llvm::ArrayRef<int64_t> shape, sourceShape;
  llvm::SmallVector<int64_t> strides, sourceStrides;
  mlir::Type element;
  mlir::VectorType vectorType, indexType; ///< of elements, and of their numbers in a window
};

} // namespace millrace::lowering
