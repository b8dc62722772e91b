// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.cpp - Registration of the Collective ops -------------------===//
#include "dialects/stablehlo/CollectiveOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerCollectiveOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/CollectiveOps.cpp.inc"
