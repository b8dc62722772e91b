// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Windows.h - Padding and dilation of window operations --------------===//
// reduce_window and convolution first spread (dilate) and pad their input; both then read windows of a plain tensor.
#pragma once

#include "lowering/linalg/Loops.h"

namespace millrace::lowering {

/// Window attributes with their defaults filled in.
llvm::SmallVector<int64_t> orOnes(std::optional<llvm::ArrayRef<int64_t>> values, size_t rank);
/// The (low, high) pairs of an Nx2 attribute; zeros if absent.
llvm::SmallVector<std::pair<int64_t, int64_t>> paddingPairs(std::optional<mlir::DenseIntElementsAttr> padding, size_t rank);

/// `input` with `dilation[d] - 1` copies of `padValue` between neighbours and `low[d]`/`high[d]` of them before and after
/// (negative amounts cut off). `input` itself if nothing is to be done.
mlir::Value dilateAndPad(LoopBuilder &l, mlir::Value input, mlir::Value padValue, llvm::ArrayRef<mlir::OpFoldResult> low,
                         llvm::ArrayRef<mlir::OpFoldResult> high, llvm::ArrayRef<int64_t> dilation);

/// Number of windows of `window` elements, `windowDilation` apart, that start every `stride` elements of `size` elements.
mlir::OpFoldResult windowCount(LoopBuilder &l, mlir::OpFoldResult size, mlir::OpFoldResult window, int64_t windowDilation,
                               int64_t stride);

} // namespace millrace::lowering
