// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionOps.cpp - Definitions generated from ReductionOps.td, registration -===//
#include "dialects/stablehlo/ReductionOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "dialects/stablehlo/syntax/RegionSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ReductionOps.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ReductionOps.cpp.inc"
      >();
}

} // namespace millrace::stablehlo
