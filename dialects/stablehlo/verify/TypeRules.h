// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TypeRules.h - Constraints of the specification on types ------------===//
// MLIR builds types that StableHLO does not allow: a zero point outside of the storage type, an axis that its tensor lacks, complex numbers of
// integers. Operations refuse them as operands and results (their type constraints call the predicates here, with upstream's messages); verifyTypes()
// checks the values of other operations, above all function arguments.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"

#include <string>

namespace millrace::stablehlo {

/// Returns what is wrong with a quantized element type by (C2), (C4), (C5), (C6) and the kinds of storage and expressed types of the specification,
/// "Quantized types". Empty if nothing is, or if `elementType` is not quantized.
std::string whyInvalidQuantizedElement(mlir::Type elementType);

/// Returns true for a type that is quantized per tensor or per axis with parameters that the specification allows.
bool isValidQuantizedElement(mlir::Type elementType);

/// Returns true if the quantization axis of a tensor is one of its dimensions, with a scale for each position. True for other types.
bool hasValidQuantizedDimension(mlir::Type type);

/// Returns what is wrong with a type, including the parts of tuples, futures and functions; empty if nothing is. Only types of StableHLO are checked;
/// with `onlyKnown` types that StableHLO does not have are wrong, too.
std::string whyInvalidType(mlir::Type type, bool onlyKnown = false);

/// Checks the types of all block arguments, results and functions in `root`; an error names the first wrong one at its location.
mlir::LogicalResult verifyTypes(mlir::Operation *root, bool onlyKnown = false);

} // namespace millrace::stablehlo
