// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomOps.cpp - Registration of the Random ops -------------------===//
#include "dialects/stablehlo/RandomOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerRandomOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/RandomOps.cpp.inc"
