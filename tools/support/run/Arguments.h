// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arguments.h - Values of a program's arguments ----------------------===//
#pragma once

#include "runtime/program/Program.h"
#include "tools/support/run/Npy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace millrace::tools {

/// Returns the arrays of the comma-separated .npy and .npz files in `files`, in order.
runtime::StatusOr<std::vector<Array>> loadArguments(const std::string &files,
                                                    const std::vector<runtime::Argument> &specs);

/// Returns values for `specs` from `seed`: floats uniform in [-1, 1), integers small and non-negative, booleans fair. A seed gives the same values on
/// every machine. `?` dimensions get their bound, or 2 if they have none.
std::vector<Array> randomArguments(const std::vector<runtime::Argument> &specs, uint64_t seed);

/// Returns the values that xla-hoist-constants moved into arguments of @`entry`; empty if there are none.
std::vector<Array> hoistedArguments(mlir::ModuleOp module, const std::string &entry);

/// Returns InvalidArgument with the first argument whose count, element type or shape does not fit, and both values.
runtime::Status checkArguments(const std::vector<Array> &arrays, const std::vector<runtime::Argument> &specs);

/// Returns the types that the arguments of `function` must have.
std::vector<runtime::Argument> argumentSpecs(mlir::func::FuncOp function);

/// Returns the MLIR type with the name of `dtype`.
mlir::Type parseElementType(runtime::DType dtype, mlir::MLIRContext &context);

/// Returns, for example, "f32[2,3]".
std::string describe(runtime::DType dtype, const std::vector<int64_t> &dims);

} // namespace millrace::tools
