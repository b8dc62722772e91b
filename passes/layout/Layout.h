// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.h - Orders of dimensions ------------------------------------===//
#pragma once

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace millrace::layout {

/// The weights of a longer window do not stay in registers together. This applies to depthwise convolutions, whose borders PadConvolutions.cpp copies
/// and whose sums the row emitter (lowering/cpu/emitters/rows/RowBlocks.cpp) computes. Unit: elements of a window along a row. Source: judgement, not
/// measured alone; commit 58a7193 has the figures of the whole change.
inline constexpr int64_t kMaxWindowInRegisters = 7;

/// Dimension i of a transposed value is dimension layout[i] of the value.
using Layout = llvm::SmallVector<int64_t, 6>;

Layout identityLayout(int64_t rank);
bool isIdentity(llvm::ArrayRef<int64_t> layout);
/// Returns the position of every dimension in the transposed value.
Layout inverse(llvm::ArrayRef<int64_t> layout);
/// values[layout[0]], values[layout[1]], ...
template <typename T> llvm::SmallVector<T> permuted(llvm::ArrayRef<T> values, llvm::ArrayRef<int64_t> layout) {
  llvm::SmallVector<T> result;
  for (int64_t dim : layout)
    result.push_back(values[dim]);
  return result;
}
mlir::RankedTensorType permuted(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> layout);
/// Returns a transpose of `value`, or a reshape where only unit dimensions move; `value` itself if the order stays.
mlir::Value transpose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> permutation);

/// Returns true for a tensor of static shape and rank 3 or more: matrices have no order worth choosing.
bool hasLayout(mlir::Value value);
int64_t bytesOf(mlir::Value value);

/// The dimension orders of a convolution's operands and result.
struct ConvolutionLayouts {
  Layout lhs, rhs, result;
};

/// Returns the orders that suit the kernels: channels last, but before the image for groups of few channels; for gradients of weights (the window is
/// an image) the former batch dimension last in the left operand. Null if the convolution gains nothing from another order.
std::optional<ConvolutionLayouts> preferredLayouts(stablehlo::ConvolutionOp op);
/// Returns true for groups of few channels, where lanes along an image's rows are better.
bool wantsChannelsFirst(stablehlo::ConvolutionOp op);
/// Returns true if the window has one element: the convolution is a matrix product, fast in any order.
bool isPointwise(stablehlo::ConvolutionOp op);
/// Returns true if every output channel reads one input channel: such a convolution is no matrix product.
bool isDepthwise(stablehlo::ConvolutionOp op);
/// Returns true if each sum has few products: the result then is most of what is read and written, and any order of it is good.
bool isShort(stablehlo::ConvolutionOp op);
/// Returns the dimension numbers of `op` after its operands and its result were transposed.
stablehlo::ConvDimensionNumbersAttr movedNumbers(stablehlo::ConvDimensionNumbersAttr numbers, const ConvolutionLayouts &layouts);

} // namespace millrace::layout
