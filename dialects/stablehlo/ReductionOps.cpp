// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionOps.cpp - Registration of the Reduction ops -------------------===//
#include "dialects/stablehlo/ReductionOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerReductionOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/ReductionOps.cpp.inc"
