// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.h - Kernels that only cut out or join whole ranges of bytes ---===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::lowering {

/// Where the result of `kernel` begins in its operand, in bytes, if it is a slice whose elements lie side by side there.
std::optional<uint64_t> partOf(mlir::func::FuncOp kernel);

/// Where each operand of `kernel` begins in its result, in bytes, if it is a concatenation whose operands stay in one piece; else empty.
std::vector<uint64_t> partsOf(mlir::func::FuncOp kernel);

} // namespace millrace::lowering
