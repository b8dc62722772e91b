// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RuntimeCall.h - Create calls of the runtime's functions -------------===//
#pragma once
#include "dialects/stablehlo/Ops.h"

namespace millrace::calls {

/// Creates a typed custom call of `target` without side effects, with the attributes `config`.
stablehlo::CustomCallOp callRuntime(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef target, mlir::TypeRange results,
                                    mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> config);

/// Returns true if all operands and results are tensors of static shape.
bool hasStaticShapes(mlir::Operation *op);

/// FewTerms.cpp: calls for contractions with a sparse constant matrix. Returns false if `op` is not replaced.
bool callFewTerms(stablehlo::DotGeneralOp op);

/// FourierCalls.cpp: calls for transforms along any axes.
void callFft(stablehlo::FftOp op);

/// RealMatrices.cpp: calls for triangular systems, Cholesky and LU factorizations of f32 and f64.
void callMatrices(mlir::Operation *op);

} // namespace millrace::calls
