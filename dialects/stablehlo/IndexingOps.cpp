// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingOps.cpp - Registration of the Indexing ops -------------------===//
#include "dialects/stablehlo/IndexingOps.h"
#include "dialects/stablehlo/syntax/OpSyntax.h"
#include "dialects/stablehlo/verify/TypeRules.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/IndexingOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/IndexingOps.cpp.inc"
