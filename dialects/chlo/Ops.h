// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.h - CHLO dialect -----------------------------------------------===//
#pragma once
#include "dialects/stablehlo/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/chlo/ChloDialect.h.inc"
#include "dialects/chlo/ChloEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/chlo/ChloAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/chlo/ChloOps.h.inc"

namespace millrace::chlo {
/// Returns true if `dims` has one position in the larger rank, in increasing order, for each dimension of the smaller.
bool areValidBroadcastDimensions(llvm::ArrayRef<int64_t> dims, int64_t lhsRank, int64_t rhsRank);
/// Emits upstream's warning for broadcast dimensions that it does not legalize.
mlir::InFlightDiagnostic emitUnsupportedBroadcastDimensions(mlir::Operation *op, llvm::ArrayRef<int64_t> dims);
} // namespace millrace::chlo
