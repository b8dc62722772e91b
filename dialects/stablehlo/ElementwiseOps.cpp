// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementwiseOps.cpp - Registration of the Elementwise ops -------------------===//
#include "dialects/stablehlo/ElementwiseOps.h"
#include "dialects/stablehlo/syntax/OpSyntax.h"
#include "dialects/stablehlo/verify/TypeRules.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ElementwiseOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/ElementwiseOps.cpp.inc"
