// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - Passes that check a program without changing it ----------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace millrace::stablehlo {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/stablehlo/Passes.h.inc"
} // namespace millrace::stablehlo
