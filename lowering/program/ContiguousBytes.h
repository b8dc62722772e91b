// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContiguousBytes.h - Recognize kernels that are slices or concatenations of bytes ===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::lowering {

/// Returns the offset in bytes of the result of `kernel` in its operand, if the result is a slice that is contiguous there.
std::optional<uint64_t> contiguousSliceOffset(mlir::func::FuncOp kernel);

/// Returns the offset in bytes of each operand of `kernel` in its result, if that is a concatenation of contiguous operands; else empty.
std::vector<uint64_t> contiguousOperandOffsets(mlir::func::FuncOp kernel);

} // namespace millrace::lowering
