// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorTranspose.h - Transpose a square of vectors by shuffles ------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace millrace::lowering {

/// Transposes n vectors of n lanes (n a power of two): lane j of vector i becomes lane i of vector j.
void transposeInRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::MutableArrayRef<mlir::Value> vectors);

} // namespace millrace::lowering
