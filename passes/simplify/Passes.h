// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Simplification of StableHLO programs --------------------===//
#pragma once

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace millrace::simplify {

#define GEN_PASS_DECL
#include "passes/simplify/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/simplify/Passes.h.inc"

} // namespace millrace::simplify
