// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshFlag.h - Devices of a module and of a tool ---------------------===//
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace millrace::tools {

/// A module with meshes that does not say for how many devices it is (Shardy's programs, written by hand) is one for as many as its largest
/// mesh has, if there are `numDevices` or fewer of them.
void adoptMesh(mlir::ModuleOp module, unsigned numDevices);

/// InvalidArgument if a mesh of the module has more than `numDevices` devices.
runtime::Status checkMeshes(mlir::ModuleOp module, unsigned numDevices);

} // namespace millrace::tools
