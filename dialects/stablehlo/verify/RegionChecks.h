// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionChecks.h - Checks that several region, window and group operations share -===//
// Messages have upstream's wording, because tools match on them.
#pragma once
#include "dialects/stablehlo/Dialect.h"
#include "mlir/IR/Region.h"

namespace millrace::stablehlo::checks {

/// Values of the `type` of a channel handle.
enum ChannelType : int64_t { deviceToDevice = 1, deviceToHost = 2, hostToDevice = 3 };

/// Returns true if sizes are equal or unknown.
bool dimsAgree(int64_t a, int64_t b);
bool isUnique(llvm::ArrayRef<int64_t> values);
/// Returns true if shapes agree except for dynamic dimensions, and element types are equal, except for float precision if requested.
bool sameShapeAndElementType(mlir::Type a, mlir::Type b, bool ignoreFpPrecision = false);
/// Returns the bits of an element: of the storage of a quantized one, of both parts of a complex one.
unsigned elementBits(mlir::Type type);
/// Returns true if `from` is of the same kind as `to` (int, float, complex, quantized) and not wider.
bool isPromotable(mlir::Type from, mlir::Type to, bool ignoreFpPrecision = false);

struct WindowDim {
  int64_t size = 0, stride = 1, padLow = 0, padHigh = 0, windowDilation = 1, baseDilation = 1;
};
/// Returns `{N, 2}` padding as pairs; empty if absent.
mlir::FailureOr<llvm::SmallVector<std::pair<int64_t, int64_t>>>
paddingPairs(std::optional<mlir::DenseIntElementsAttr> padding, std::optional<mlir::Location> loc);
/// Checks that sizes match the window and are positive, and returns the window's dimensions.
mlir::FailureOr<llvm::SmallVector<WindowDim>>
checkWindow(std::optional<mlir::Location> loc, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> strides,
            llvm::ArrayRef<std::pair<int64_t, int64_t>> padding, llvm::ArrayRef<int64_t> baseDilation,
            llvm::ArrayRef<int64_t> windowDilation);
/// Returns the number of window positions per dimension of `base`.
llvm::SmallVector<int64_t> windowPositions(llvm::ArrayRef<int64_t> base, llvm::ArrayRef<WindowDim> window);

/// Returns the element types that a reduction body returns; an error if there is no body yet.
mlir::FailureOr<llvm::SmallVector<mlir::ShapedType>> accumulatorTypes(std::optional<mlir::Location> loc,
                                                                      mlir::Region &region);
/// Checks that the body takes and returns one tensor per input, of a type that inputs and init values promote to, and of a shape that is a
/// subsequence of `allowedDims`.
mlir::LogicalResult checkReducer(std::optional<mlir::Location> loc, mlir::Block &body,
                                 llvm::ArrayRef<mlir::ShapedType> inputs, llvm::ArrayRef<mlir::ShapedType> inits,
                                 llvm::ArrayRef<int64_t> allowedDims);

/// Checks that groups of process ids are a permutation of 0..n-1; -1 pads a short group if sizes may differ. Groups of mesh axes are valid by
/// construction.
mlir::LogicalResult checkReplicaGroups(std::optional<mlir::Location> loc, mlir::Attribute groups, bool sameSize,
                                       bool useGlobalDeviceIds, std::optional<size_t> groupSize);

} // namespace millrace::stablehlo::checks
