// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixUnitShapes.h - Shapes that AMX supports ----------------------===//
// One rule for passes that make a contraction fit (passes/calls, passes/fusion) and for the emitter that uses AMX.
#pragma once

#include <cstdint>

namespace millrace::fusion {

/// Fact: an AMX tile has 16 rows.
inline constexpr int64_t kMatrixUnitRows = 16;
/// Fact: a row of an AMX tile has 64 bytes.
inline constexpr int64_t kMatrixUnitRowBits = 512;
/// Fewer rows would leave most of an AMX tile empty, and packing costs as much as the contraction. Unit: rows of the result. Source: judgement, not
/// measured alone; commit 5313dea has the figures of the whole change.
inline constexpr int64_t kMinMatrixUnitRows = 8;
/// The same for columns. Unit: columns of the result. Source: judgement, not measured alone; commit 5313dea has the figures of the whole change.
inline constexpr int64_t kMinMatrixUnitColumns = 8;

/// Returns the elements of `bits` bits in a row of an AMX tile: 32 of bf16, 64 bytes. Contracted dimensions are padded to a multiple of it.
inline int64_t matrixUnitTerms(int64_t bits) { return kMatrixUnitRowBits / bits; }

/// Returns true if AMX pays for a contraction with so many rows and columns.
inline bool suitsMatrixUnit(int64_t rows, int64_t columns) { return rows >= kMinMatrixUnitRows && columns >= kMinMatrixUnitColumns; }

} // namespace millrace::fusion
