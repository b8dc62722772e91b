// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Passes that choose shardings -----------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::autosharding {

#define GEN_PASS_DECL
#include "passes/autosharding/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/autosharding/Passes.h.inc"

} // namespace millrace::autosharding
