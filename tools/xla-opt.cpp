// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-opt.cpp - Pass driver ------------------------------------------===//
#include "tools/RegisterAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  millrace::registerAllDialects(registry);
  millrace::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Millrace optimizer driver\n", registry));
}
