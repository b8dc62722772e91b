// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowOps.cpp - Definitions generated from ControlFlowOps.td, registration -===//
#include "dialects/stablehlo/ControlFlowOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "dialects/stablehlo/syntax/RegionSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ControlFlowOps.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerControlFlowOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ControlFlowOps.cpp.inc"
      >();
}

} // namespace millrace::stablehlo
