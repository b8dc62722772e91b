// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingOps.cpp - Registration of the Indexing ops -------------------===//
#include "dialects/stablehlo/IndexingOps.h"

using namespace mlir;

void millrace::stablehlo::StablehloDialect::registerIndexingOps() {
  // No ops yet.
}

#define GET_OP_CLASSES
#include "dialects/stablehlo/IndexingOps.cpp.inc"
