// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IntegerRanges.h - Ranges of the integers of a value ----------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace millrace::fusion {

/// More operations are not followed: each is repeated for each part, and all of them are one kernel; a value behind more of them has the range of its
/// type. Unit: operations. Source: arithmetic: with eight parts, what remains of them after integers have become bits of words is as much as a kernel
/// takes in (kMaxClusterOps).
inline constexpr unsigned kMaxFollowedOps = 32;

/// The least and the largest of some integers.
using IntegerRange = std::pair<int64_t, int64_t>;

/// Returns true for integers of more than one bit, which are no booleans.
inline bool isInteger(mlir::Type type) { return mlir::isa<mlir::IntegerType>(type) && type.getIntOrFloatBitWidth() > 1; }

/// Returns the integers that a type holds, as far as 64 bits with sign hold them.
IntegerRange rangeOf(mlir::IntegerType type);
/// Returns true if an integer type holds all integers of a range.
bool holds(mlir::Type type, int64_t low, int64_t high);
inline bool isIn32Bits(int64_t low, int64_t high) { return low >= INT32_MIN && high <= INT32_MAX; }

/// Returns the integer of a splat constant; none if `value` is something else.
std::optional<int64_t> integerSplatOf(mlir::Value value);
/// Returns a range that contains the integers of `value`, from the operations that compute it as far as they are known, else from its type.
IntegerRange rangeOf(mlir::Value value);

/// Returns whether `left direction right` holds for all numbers of two ranges; none if it holds for some.
std::optional<bool> decided(stablehlo::ComparisonDirection direction, IntegerRange left, IntegerRange right);

} // namespace millrace::fusion
