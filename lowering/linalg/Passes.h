// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - stablehlo to linalg -------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::lowering {

#define GEN_PASS_DECL
#include "lowering/linalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/linalg/Passes.h.inc"

} // namespace millrace::lowering
