// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - What XLA means where StableHLO's text says otherwise ----===//
// For programs that were written for XLA (by JAX or PyTorch/XLA); see CompileOptions::xlaSemantics.
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::xla_semantics {

#define GEN_PASS_DECL
#include "passes/xla/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/xla/Passes.h.inc"

} // namespace millrace::xla_semantics
