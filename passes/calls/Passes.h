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

/// What xla-prepare-collectives does. It has to come before shardings are dropped, and meshes with them.
void prepareCollectives(mlir::ModuleOp module);
/// Where replica groups are axes of a mesh that an sdy.mesh operation names: the mesh itself instead of its name.
void writeMeshInPlace(mlir::Operation *op);

#define GEN_PASS_DECL
#include "passes/calls/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/calls/Passes.h.inc"

} // namespace millrace::calls
