// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramPasses.h - What prepares or tidies programs around propagation ===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::sharding {

#define GEN_PASS_DECL
#include "passes/sharding/ProgramPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/sharding/ProgramPasses.h.inc"

} // namespace millrace::sharding
