// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Expansion of mathematical functions ---------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::lowering {

#define GEN_PASS_DECL
#include "lowering/cpu/math/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/cpu/math/Passes.h.inc"

} // namespace millrace::lowering
