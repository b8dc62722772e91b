// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeRecipe.h - Run-time sizes of a kernel's results ---------------===//
//
// A kernel whose results have `?` dimensions cannot allocate them: its caller must know their sizes before. A recipe
// says how to compute one size from the kernel's arguments: from their sizes and from elements of those that hold
// shapes. Recipes are derived from the operations in the kernel and evaluated by steps of the runtime.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/stablehlo/ElementwiseOps.h"
#include "dialects/stablehlo/ReductionOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::fusion {

/// An integer expression in postfix order.
struct ShapeRecipe {
  enum class Op { Constant, ArgumentDim, ArgumentElement, Add, Sub, Mul, FloorDiv, CeilDiv, Max, Min };
  struct Term {
    Op op;
    int64_t value = 0; ///< Constant: the value; ArgumentDim, ArgumentElement: number of the argument
    int64_t index = 0; ///< ArgumentDim: the dimension; ArgumentElement: the flat index of the element
    bool operator==(const Term &) const = default;
  };
  std::vector<Term> terms;

  static ShapeRecipe constant(int64_t value) { return {{{Op::Constant, value, 0}}}; }
  static ShapeRecipe binary(Op op, ShapeRecipe lhs, const ShapeRecipe &rhs);
  std::optional<int64_t> asConstant() const;
  bool operator==(const ShapeRecipe &) const = default;
};

/// The size of dimension `dim` of `value`, which is defined in `kernel`. Empty if it depends on something computed
/// inside the kernel; the fusion policy keeps such producers outside.
std::optional<ShapeRecipe> sizeOf(mlir::Value value, int64_t dim);

/// The size that dimension `dim` of a result has by the operation's operands, also where the result's type states a size.
std::optional<ShapeRecipe> computedSizeOf(mlir::OpResult result, int64_t dim);

/// Element `index`, in row-major order, of an integer tensor that holds a shape. Empty if it is computed inside the kernel.
std::optional<ShapeRecipe> shapeElementOf(mlir::Value shape, int64_t index);

/// The number of windows of a select_and_scatter in dimension `dim`.
std::optional<ShapeRecipe> numWindowsOf(stablehlo::SelectAndScatterOp scatter, int64_t dim);

/// The number of narrower elements that are one wider element.
std::optional<ShapeRecipe> numPartsOf(stablehlo::BitcastConvertOp convert);

/// The number of elements of `value`.
std::optional<ShapeRecipe> numElementsOf(mlir::Value value);

/// An operand of `op` is read as a shape (sizes, starts or strides). The runtime reads it, too, before the kernel runs: what computes it is not part of
/// the kernel.
bool hasShapeOperand(mlir::Operation *op);

} // namespace millrace::fusion
