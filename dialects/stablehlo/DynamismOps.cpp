// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismOps.cpp - Definitions generated from DynamismOps.td, registration -===//
#include "dialects/stablehlo/DynamismOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/stablehlo/DynamismOps.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerDynamismOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/DynamismOps.cpp.inc"
      >();
}

} // namespace millrace::stablehlo
