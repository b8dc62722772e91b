// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplainSharding.cpp - xla-compile --explain-sharding ---------------===//
#include "tools/support/ExplainSharding.h"

#include "passes/calls/Passes.h"
#include "passes/spmd/Communication.h"
#include "passes/spmd/Partition.h"

using namespace mlir;

namespace millrace::tools {

bool explainSharding(ModuleOp module, llvm::raw_ostream &os) {
  if (!spmd::hasShardings(module)) {
    os << "nothing is annotated with a sharding\n";
    return true;
  }
  calls::prepareCollectives(module);
  if (failed(spmd::propagate(module, &os)) || failed(spmd::partition(module)))
    return false;
  os << "\ncollectives of each device:\n";
  spmd::printCommunication(module, os);
  return true;
}

} // namespace millrace::tools
