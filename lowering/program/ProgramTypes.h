// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramTypes.h - Types, constants and attributes of MLIR as runtime data
#pragma once

#include "runtime/program/Program.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace millrace::lowering {

/// The runtime's element type; Invalid for types that buffers cannot hold. Quantized types map to their storage type.
runtime::DType dtypeOf(mlir::Type elementType);

/// Shape, element type and bounds of a tensor type. Names, shardings and aliases are left empty.
runtime::TensorSpec specOf(mlir::RankedTensorType type);

/// The bytes of a dense constant as buffers store them (one byte per small element). Fails for types without storage.
mlir::FailureOr<std::string> bytesOf(mlir::ElementsAttr value);

/// "file.py":10:35 for messages of the runtime; empty if unknown.
std::string locationText(mlir::Location loc);

/// A dictionary attribute of the custom call `op` as the runtime's attributes. Fails, with a diagnostic, for values that
/// are no numbers, strings, arrays of numbers or dictionaries of these.
mlir::FailureOr<std::vector<runtime::Attribute>> attributesOf(mlir::DictionaryAttr dictionary, mlir::Operation *op);

} // namespace millrace::lowering
