// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - The order of dimensions in memory -----------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::layout {

#define GEN_PASS_DECL
#include "passes/layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/layout/Passes.h.inc"

} // namespace millrace::layout
