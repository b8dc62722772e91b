// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshFlag.h - --mesh "data=4,model=2" -------------------------------===//
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include <string_view>

namespace millrace::tools {

/// Gives the module's meshes the sizes of `text` and the module as many partitions as they have devices. A module without a
/// mesh gets one of that name, `@mesh`. InvalidArgument if the text is no list of NAME=SIZE, or a mesh of the module has an
/// axis that the text does not name.
runtime::Status applyMesh(mlir::ModuleOp module, std::string_view text);

/// A module with meshes that does not say for how many devices it is (Shardy's programs, written by hand) is one for as many as its largest
/// mesh has, if there are `numDevices` or fewer of them.
void adoptMesh(mlir::ModuleOp module, unsigned numDevices);

/// InvalidArgument if a mesh of the module has more than `numDevices` devices.
runtime::Status checkMeshes(mlir::ModuleOp module, unsigned numDevices);

} // namespace millrace::tools
