// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementOps.cpp - Registration of the DataMovement ops -------------------===//
#include "dialects/stablehlo/DataMovementOps.h"
#include "dialects/stablehlo/syntax/OpSyntax.h"
#include "dialects/stablehlo/verify/TypeRules.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerDataMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/DataMovementOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/DataMovementOps.cpp.inc"
