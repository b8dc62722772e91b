// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Builtin.h - Portable types <-> builtin, quant, stablehlo types -----===//
// Both directions are total functions: a value of an untrusted file without a counterpart gives null, not a crash.
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Returns the portable form of `type`, which may be portable already; null if there is none.
mlir::Type toVhlo(mlir::Type type);
/// Returns the type that the portable `type` represents; null after an error. Other types are returned unchanged.
mlir::Type fromVhlo(mlir::Type type, EmitError emitError);

/// Elements <-> their portable form; null if the type has none, or (after an error) if type and data disagree.
TensorV1Attr toVhlo(mlir::DenseIntOrFPElementsAttr elements);
mlir::DenseElementsAttr fromVhlo(TensorV1Attr tensor, EmitError emitError);
/// Checks the type and data of a tensor attribute.
mlir::LogicalResult verifyElements(mlir::Type type, llvm::ArrayRef<char> data, EmitError emitError);

/// Return the semantics of a float type, and the width of an integer, boolean or index type; null and 0 for other types.
const llvm::fltSemantics *floatSemantics(mlir::Type type);
unsigned integerWidth(mlir::Type type);

} // namespace millrace::vhlo
