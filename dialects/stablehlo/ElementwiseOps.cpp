// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementwiseOps.cpp - Registration of the Elementwise ops -------------------===//
#include "dialects/stablehlo/ElementwiseOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerElementwiseOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/ElementwiseOps.cpp.inc"
