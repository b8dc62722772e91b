// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - What operations say about themselves, as passes ---------===//
// Interfaces of operations have no text of their own; these passes turn their answers into text that FileCheck reads.
// Names of passes and of test operations are upstream's.
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace millrace::testing {

#define GEN_PASS_DECL
#include "passes/testing/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/testing/Passes.h.inc"

} // namespace millrace::testing
