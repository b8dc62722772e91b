// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Passes that choose shardings -----------------------------===//
#pragma once

#include "passes/autosharding/Memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::autosharding {

#define GEN_PASS_DECL
#include "passes/autosharding/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/autosharding/Passes.h.inc"

/// Registers the passes of this folder. `memoryOf`: returns a function for xla-auto-sharding with a limit, by which a plan counts the memory of the
/// compiled program; this folder knows no compiler.
void registerPasses(const std::function<MemoryOf()> &memoryOf);

} // namespace millrace::autosharding
