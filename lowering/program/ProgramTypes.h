// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramTypes.h - Types, constants and attributes of MLIR as runtime data
#pragma once

#include "runtime/program/Program.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <map>
#include <optional>
#include <string>

namespace millrace::lowering {

/// Returns the runtime's element type; Invalid for types that buffers cannot hold. Quantized types map to their storage type.
runtime::DType dtypeOf(mlir::Type elementType);

/// Returns shape, element type and bounds of a tensor type. Names, shardings and aliases are left empty.
runtime::TensorSpec specOf(mlir::RankedTensorType type);

/// Returns the bytes of a dense constant as buffers store them (one byte per small element). Fails for types without storage.
mlir::FailureOr<std::string> bytesOf(mlir::ElementsAttr value);

/// Returns file.py:10:35 for messages of the runtime; empty if unknown.
std::string locationText(mlir::Location loc);

/// Where a step comes from: the text, and the number that lowering/ModuleLocations.h gave the operation whose location it is, kNone without one. If
/// nothing is known of the place, the first numbered operation.
struct StepLocation {
  std::string text;
  uint32_t source = runtime::kNone;
};
StepLocation stepLocation(mlir::Location loc);

/// The locations of a program that is being built, each once.
class LocationTable {
public:
  /// Begins with those that `program` has.
  explicit LocationTable(runtime::Program &program);
  /// The index of `loc` in Program::locations; kNone if nothing is known of it.
  uint32_t index(mlir::Location loc);

private:
  runtime::Program &program;
  std::map<std::pair<std::string, uint32_t>, uint32_t> indices; ///< by text and source
};

/// A location like `loc` in which stepLocation() finds `source`; names of scopes stay outermost.
mlir::Location withSource(mlir::Location loc, uint32_t source);

/// Converts a dictionary attribute of the custom call `op` to the runtime's attributes. Fails, with a diagnostic, for values other than numbers,
/// strings, arrays of numbers, and dictionaries of these.
mlir::FailureOr<std::vector<runtime::Attribute>> attributesOf(mlir::DictionaryAttr dictionary, mlir::Operation *op);

} // namespace millrace::lowering
