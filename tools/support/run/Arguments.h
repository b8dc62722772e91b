// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arguments.h - Values for the arguments of a program ----------------===//
#pragma once

#include "runtime/program/Program.h"
#include "tools/support/run/Npy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace millrace::tools {

/// The arrays of the comma-separated .npy and .npz files in `files`, in order.
runtime::StatusOr<std::vector<Array>> loadArguments(const std::string &files,
                                                    const std::vector<runtime::Argument> &specs);

/// Values for `specs` from `seed`: floats uniform in [-1, 1), integers small and non-negative, booleans fair. The same
/// seed gives the same values on every machine. `?` dimensions take their bound, else 2.
std::vector<Array> randomArguments(const std::vector<runtime::Argument> &specs, uint64_t seed);

/// The values that xla-hoist-constants moved into arguments of @`entry`; empty if there are none.
std::vector<Array> hoistedArguments(mlir::ModuleOp module, const std::string &entry);

/// InvalidArgument naming the first argument whose count, element type or shape does not fit, with both.
runtime::Status checkArguments(const std::vector<Array> &arrays, const std::vector<runtime::Argument> &specs);

/// What the arguments of `function` must look like.
std::vector<runtime::Argument> argumentSpecs(mlir::func::FuncOp function);

/// The MLIR type with the name of `dtype`.
mlir::Type parseElementType(runtime::DType dtype, mlir::MLIRContext &context);

/// "f32[2,3]".
std::string describe(runtime::DType dtype, const std::vector<int64_t> &dims);

} // namespace millrace::tools
