// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - Registration of the portable format ------------------===//
#include "dialects/vhlo/Dialect.h"

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Shape/IR/Shape.h"

#include "dialects/vhlo/Dialect.cpp.inc"

namespace millrace::vhlo {

void VhloDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerBytecode();
}

} // namespace millrace::vhlo
