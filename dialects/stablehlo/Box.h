// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Box.h - Elements of a tensor, and those that they are computed from ---===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>
#include <vector>

namespace millrace::stablehlo {

/// Elements of a tensor as a slice names them: along each dimension every `strides`-th one from `start` on, before `limit`.
struct Box {
  llvm::SmallVector<int64_t> start, limit, strides;

  static Box of(SliceOp slice);
  static Box whole(llvm::ArrayRef<int64_t> shape);
  /// The elements of a tensor of `shape` whose indices along `dim` are in [begin, end).
  static Box along(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t begin, int64_t end);
  llvm::SmallVector<int64_t> shape() const;
  bool isEmpty() const { return llvm::is_contained(shape(), 0); }
  bool isWhole(mlir::RankedTensorType type) const { return llvm::ArrayRef(shape()) == type.getShape(); }
};

/// Returns the result dimension of each operand dimension of a reshape that only adds unit dimensions; none if it does more.
std::optional<llvm::SmallVector<int64_t>> addedUnits(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// Returns, for each operand of `op`, the elements from which the elements `box` of its result come; an empty box for a piece of a concatenation that
/// has none of them. None if they are no boxes, or if `op` is not one of those that have such maps: elementwise operations, broadcasts, contractions, slices,
/// reverses, concatenations, reshapes, and splat constants.
std::optional<llvm::SmallVector<Box>> boxesRead(mlir::Operation *op, const Box &box);

/// Elements of values that boxOf() has computed, by value and box.
using KnownBoxes = std::map<std::pair<void *, std::vector<int64_t>>, mlir::Value>;

/// Returns the elements `box` of `value`; `value` itself if these are all. Operations for which `isFollowed` returns true are computed anew for these
/// elements alone, if they have boxes of operands, and what they read is followed, too. Other values are sliced.
/// `known`, if given, is asked first, and gets what is made: calls with the same map must be in the order of the places at which they build.
mlir::Value boxOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const Box &box,
                  llvm::function_ref<bool(mlir::Operation *)> isFollowed = [](mlir::Operation *) { return false; }, KnownBoxes *known = nullptr);

/// Returns the result of `slice`, computed by the operation whose result it slices from slices of what that operation reads.
mlir::Value sliceBefore(mlir::OpBuilder &builder, SliceOp slice);

} // namespace millrace::stablehlo
