// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RuntimeCall.h - Making calls of the runtime's functions -------------===//
#pragma once
#include "dialects/stablehlo/Ops.h"

namespace millrace::calls {

/// A typed call of `target` without side effects, `config` its attributes.
stablehlo::CustomCallOp callRuntime(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef target, mlir::TypeRange results,
                                    mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> config);

/// All operands and results are tensors of known size.
bool hasStaticShapes(mlir::Operation *op);

/// FewTerms.cpp: products with a constant matrix of zeros, mostly. False if `op` stays.
bool callFewTerms(stablehlo::DotGeneralOp op);

/// FourierCalls.cpp: transforms, along whatever axes.
void callFft(stablehlo::FftOp op);

/// RealMatrices.cpp: triangular systems, Cholesky and LU factors of f32 and f64.
void callMatrices(mlir::Operation *op);

} // namespace millrace::calls
