// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.cpp - Definitions generated from CollectiveOps.td, registration -===//
#include "dialects/stablehlo/CollectiveOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "dialects/stablehlo/syntax/RegionSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/stablehlo/CollectiveOps.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/CollectiveOps.cpp.inc"
      >();
}

} // namespace millrace::stablehlo
