// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshText.h - A mesh that is given from outside of the program ------===//
#pragma once

#include "dialects/sdy/Ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace millrace::sharding {

/// "data=4,model=2". The error says that `option` ("--mesh") is no list of NAME=SIZE.
llvm::Expected<sdy::MeshAttr> parseMesh(mlir::MLIRContext *context, llvm::StringRef text, llvm::StringRef option);

/// Gives the module's meshes the sizes of `text`, "data=4,model=2", and the module as many partitions as they have devices. A module without a
/// mesh gets one of that name, `@mesh`. The error says that `option` ("--mesh") is no list of NAME=SIZE, or that a mesh of the module has an axis
/// that the text does not name.
llvm::Error applyMesh(mlir::ModuleOp module, llvm::StringRef text, llvm::StringRef option);

} // namespace millrace::sharding
