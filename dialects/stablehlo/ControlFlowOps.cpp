// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowOps.cpp - Registration of the ControlFlow ops -------------------===//
#include "dialects/stablehlo/ControlFlowOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerControlFlowOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/ControlFlowOps.cpp.inc"
