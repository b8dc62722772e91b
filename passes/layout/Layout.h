// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.h - Orders of dimensions ------------------------------------===//
#pragma once

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace millrace::layout {

/// Longer windows' factors do not stay in registers together: for depthwise convolutions, of which PadConvolutions.cpp copies the borders and the row
/// emitter (lowering/cpu/emitters/rows/RowBlocks.cpp) computes the sums. Unit: elements of a window along a row. Source: judgement, not measured alone;
/// commit 58a7193 has the figures of the whole change.
inline constexpr int64_t kMaxWindowInRegisters = 7;

/// Dimension i of a moved value is dimension layout[i] of the value.
using Layout = llvm::SmallVector<int64_t, 6>;

Layout identityLayout(int64_t rank);
bool isIdentity(llvm::ArrayRef<int64_t> layout);
/// Position of every dimension in the moved value.
Layout inverse(llvm::ArrayRef<int64_t> layout);
/// values[layout[0]], values[layout[1]], ...
template <typename T> llvm::SmallVector<T> permuted(llvm::ArrayRef<T> values, llvm::ArrayRef<int64_t> layout) {
  llvm::SmallVector<T> result;
  for (int64_t dim : layout)
    result.push_back(values[dim]);
  return result;
}
mlir::RankedTensorType permuted(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> layout);
/// transpose, or a reshape where only dimensions of size one move; `value` itself if nothing does.
mlir::Value transpose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> permutation);

/// A tensor whose dimensions have an order worth choosing: three or more, all known.
bool hasLayout(mlir::Value value);
int64_t bytesOf(mlir::Value value);

/// The orders of a convolution's operands and result.
struct ConvolutionLayouts {
  Layout lhs, rhs, result;
};

/// What suits the kernels: channels last, but before the image for groups of few of them; for gradients of weights (the window is an image) what was
/// the batch is last in the left operand. Null if nothing would be gained.
std::optional<ConvolutionLayouts> preferredLayouts(stablehlo::ConvolutionOp op);
/// Groups of few channels: lanes along an image's rows are better.
bool wantsChannelsFirst(stablehlo::ConvolutionOp op);
/// The window has one element: a matrix product, good in any order.
bool isPointwise(stablehlo::ConvolutionOp op);
/// One input channel and one window per output channel: no product of matrices.
bool isDepthwise(stablehlo::ConvolutionOp op);
/// Few products per sum: the result is most of what is read and written, and any order of it is good.
bool isShort(stablehlo::ConvolutionOp op);
/// The dimension numbers of `op` after its operands and its result were moved.
stablehlo::ConvDimensionNumbersAttr movedNumbers(stablehlo::ConvDimensionNumbersAttr numbers, const ConvolutionLayouts &layouts);

} // namespace millrace::layout
