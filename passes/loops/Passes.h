// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - While loops ---------------------------------------------===//
#pragma once

#include "dialects/millrace/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::loops {

#define GEN_PASS_DECL
#include "passes/loops/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/loops/Passes.h.inc"

} // namespace millrace::loops
