// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Passes of the interpreter dialect -----------------------===//
#pragma once

#include "dialects/interpreter/InterpreterOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::interpreter {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/interpreter/Passes.h.inc"
} // namespace millrace::interpreter
