// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramTypes.h - Types, constants and attributes of MLIR as runtime data
#pragma once

#include "runtime/program/Program.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace millrace::lowering {

/// Returns the runtime's element type; Invalid for types that buffers cannot hold. Quantized types map to their storage type.
runtime::DType dtypeOf(mlir::Type elementType);

/// Returns shape, element type and bounds of a tensor type. Names, shardings and aliases are left empty.
runtime::TensorSpec specOf(mlir::RankedTensorType type);

/// Returns the bytes of a dense constant as buffers store them (one byte per small element). Fails for types without storage.
mlir::FailureOr<std::string> bytesOf(mlir::ElementsAttr value);

/// Returns "file.py":10:35 for messages of the runtime; empty if unknown.
std::string locationText(mlir::Location loc);

/// Converts a dictionary attribute of the custom call `op` to the runtime's attributes. Fails, with a diagnostic, for values other than numbers,
/// strings, arrays of numbers, and dictionaries of these.
mlir::FailureOr<std::vector<runtime::Attribute>> attributesOf(mlir::DictionaryAttr dictionary, mlir::Operation *op);

} // namespace millrace::lowering
