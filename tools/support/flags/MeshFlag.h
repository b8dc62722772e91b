// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshFlag.h - Number of devices of a module and a tool --------------===//
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace millrace::tools {

/// Sets the number of devices of a module with meshes that has none (hand-written programs for Shardy) to that of its largest mesh, if that has at
/// most `numDevices`.
void adoptMesh(mlir::ModuleOp module, unsigned numDevices);

/// Returns InvalidArgument if a mesh of the module has more than `numDevices` devices.
runtime::Status checkMeshes(mlir::ModuleOp module, unsigned numDevices);

} // namespace millrace::tools
