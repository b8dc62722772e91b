// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explain.cpp - xla-compile --explain-sharding, xs.explain() ---------===//
#include "passes/spmd/Explain.h"
#include "passes/spmd/Communication.h"
#include "passes/spmd/Partition.h"

using namespace mlir;

namespace millrace::spmd {

LogicalResult explainSharding(ModuleOp module, llvm::raw_ostream &os) {
  if (!hasShardings(module)) {
    os << "nothing is annotated with a sharding\n";
    return success();
  }
  if (failed(propagate(module, &os)))
    return failure();
  os << "\n";
  return explainCollectives(module, os);
}

LogicalResult explainCollectives(ModuleOp module, llvm::raw_ostream &os) {
  if (failed(partition(module)))
    return failure();
  os << "collectives of each device:\n";
  printCommunication(module, os);
  return success();
}

} // namespace millrace::spmd
