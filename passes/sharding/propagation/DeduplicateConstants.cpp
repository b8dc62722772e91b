// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeduplicateConstants.cpp - Equal constants are one -----------------===//
// Input:   %0 = sdy.constant dense<1> ; %1 = sdy.constant dense<1> ; stablehlo.add %0, %1
// Output:  %0 = sdy.constant dense<1> ; stablehlo.add %0, %0
// Leaves alone constants of different regions or with different attributes, shardings among them.
#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_DEDUPLICATECONSTANTSPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

struct DeduplicateConstants : impl::DeduplicateConstantsPassBase<DeduplicateConstants> {
  void runOnOperation() override {
    llvm::DenseMap<std::pair<Block *, std::pair<Attribute, Attribute>>, sdy::ConstantOp> first;
    SmallVector<sdy::ConstantOp> repeated;
    getOperation().walk([&](sdy::ConstantOp op) {
      auto &known = first[{op->getBlock(), {op.getValue(), op->getDiscardableAttrDictionary()}}];
      if (!known)
        known = op;
      else
        repeated.push_back(op);
    });
    for (sdy::ConstantOp op : repeated) {
      op.replaceAllUsesWith(first[{op->getBlock(), {op.getValue(), op->getDiscardableAttrDictionary()}}].getResult());
      op.erase();
    }
  }
};

} // namespace
} // namespace millrace::sharding
