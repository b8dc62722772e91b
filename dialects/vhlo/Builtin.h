// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Builtin.h - Portable types <-> builtin, quant, stablehlo types -----===//
// Both directions are total functions: a value without counterpart, from a file of anybody, gives null, not a crash.
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The portable form of `type`, which may be portable already; null if there is none.
mlir::Type toVhlo(mlir::Type type);
/// The type that the portable `type` stands for; null after an error. Other types are returned as they are.
mlir::Type fromVhlo(mlir::Type type, EmitError emitError);

/// Elements <-> their portable form; null if the type has none, or (after an error) if type and data disagree.
TensorV1Attr toVhlo(mlir::DenseIntOrFPElementsAttr elements);
mlir::DenseElementsAttr fromVhlo(TensorV1Attr tensor, EmitError emitError);
/// Checks type and data of a tensor attribute.
mlir::LogicalResult verifyElements(mlir::Type type, llvm::ArrayRef<char> data, EmitError emitError);

/// The semantics of a float type, the width of an integer, boolean or index type; null and 0 for other types.
const llvm::fltSemantics *floatSemantics(mlir::Type type);
unsigned integerWidth(mlir::Type type);

} // namespace millrace::vhlo
