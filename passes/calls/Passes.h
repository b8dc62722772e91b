// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Functions, calls and their signatures -------------------===//
#pragma once

#include "dialects/chlo/Ops.h"
#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::calls {

/// Does what xla-prepare-collectives does. It has to run before shardings, and meshes with them, are dropped.
void prepareCollectives(mlir::ModuleOp module);
/// Replaces the name of a mesh in replica groups by the mesh of the sdy.mesh operation.
void writeMeshInPlace(mlir::Operation *op);

#define GEN_PASS_DECL
#include "passes/calls/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/calls/Passes.h.inc"

} // namespace millrace::calls
