// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TypeRules.h - Constraints of the specification on types ------------===//
// MLIR builds types that StableHLO does not have: a zero point outside of the storage type, an axis that its tensor lacks, complex
// numbers of integers. Operations refuse them as operands and results (their type constraints ask the predicates here, with
// upstream's messages); values of other operations, function arguments above all, are checked by verifyTypes().
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"

#include <string>

namespace millrace::stablehlo {

/// What is wrong with a quantized element type: (C2), (C4), (C5), (C6) and the kinds of storage and expressed types of the
/// specification, "Quantized types". Empty if nothing is, or if `elementType` is not quantized.
std::string whyInvalidQuantizedElement(mlir::Type elementType);

/// Quantized per tensor or per axis, with parameters that the specification allows.
bool isValidQuantizedElement(mlir::Type elementType);

/// The quantization axis of a tensor is one of its dimensions, with a scale for each position. True for other types.
bool hasValidQuantizedDimension(mlir::Type type);

/// What is wrong with a type wherever it stands, parts of tuples, futures and functions included; empty if nothing is. Only
/// types of StableHLO are judged; with `onlyKnown` those that StableHLO does not have are wrong, too.
std::string whyInvalidType(mlir::Type type, bool onlyKnown = false);

/// Checks the types of all block arguments, results and functions in `root`; an error names the first wrong one at its place.
mlir::LogicalResult verifyTypes(mlir::Operation *root, bool onlyKnown = false);

} // namespace millrace::stablehlo
