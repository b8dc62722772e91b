// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementFold.cpp - Cheap folds of data movement ops ------------===//
#include "dialects/stablehlo/DataMovementOps.h"

using namespace mlir;
namespace millrace::stablehlo {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

} // namespace millrace::stablehlo
