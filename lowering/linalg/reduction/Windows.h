// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Windows.h - Padding and dilation of window operations --------------===//
// reduce_window and convolution first dilate and pad their input, and then read windows of a plain tensor.
#pragma once

#include "lowering/linalg/Loops.h"

namespace millrace::lowering {

/// Returns the values of a window attribute, or ones if it is absent.
llvm::SmallVector<int64_t> orOnes(std::optional<llvm::ArrayRef<int64_t>> values, size_t rank);
/// Returns the (low, high) pairs of an Nx2 attribute; zeros if it is absent.
llvm::SmallVector<std::pair<int64_t, int64_t>> paddingPairs(std::optional<mlir::DenseIntElementsAttr> padding, size_t rank);

/// Returns `input` with `dilation[d] - 1` copies of `padValue` between adjacent elements and `low[d]`/`high[d]` of them before and after (negative
/// amounts remove elements). Returns `input` itself if nothing is to be done.
mlir::Value dilateAndPad(LoopBuilder &l, mlir::Value input, mlir::Value padValue, llvm::ArrayRef<mlir::OpFoldResult> low,
                         llvm::ArrayRef<mlir::OpFoldResult> high, llvm::ArrayRef<int64_t> dilation);

/// Returns the number of windows of `window` elements, `windowDilation` apart, that start every `stride` elements of `size` elements.
mlir::OpFoldResult windowCount(LoopBuilder &l, mlir::OpFoldResult size, mlir::OpFoldResult window, int64_t windowDilation,
                               int64_t stride);

} // namespace millrace::lowering
