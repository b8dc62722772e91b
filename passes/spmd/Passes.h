// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - From global programs to programs of one device ----------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::spmd {

#define GEN_PASS_DECL
#include "passes/spmd/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/spmd/Passes.h.inc"

} // namespace millrace::spmd
