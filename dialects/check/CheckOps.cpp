// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckOps.cpp - Assertions in test programs --------------------------===//
#include "dialects/check/CheckOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "mlir/IR/OpImplementation.h"

#include "dialects/check/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/check/CheckOps.cpp.inc"

void millrace::check::CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/check/CheckOps.cpp.inc"
      >();
}
