// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionOps.cpp - Registration of the Contraction ops -------------------===//
#include "dialects/stablehlo/ContractionOps.h"
#include "dialects/stablehlo/syntax/OpSyntax.h"
#include "dialects/stablehlo/verify/TypeRules.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ContractionOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/ContractionOps.cpp.inc"
