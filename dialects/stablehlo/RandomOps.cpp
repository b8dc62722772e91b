// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomOps.cpp - Definitions generated from RandomOps.td, registration -===//
#include "dialects/stablehlo/RandomOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/stablehlo/RandomOps.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/RandomOps.cpp.inc"
      >();
}

} // namespace millrace::stablehlo
