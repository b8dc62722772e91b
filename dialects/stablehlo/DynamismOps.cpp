// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismOps.cpp - Registration of the Dynamism ops -------------------===//
#include "dialects/stablehlo/DynamismOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerDynamismOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/DynamismOps.cpp.inc"
