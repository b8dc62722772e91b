// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UnrollLoops.cpp - Unroll loops with small bodies -------------------===//
// Input:   a while loop with known trip count n, and n times its body has at most max-ops operations; four times as many if the body is a short
//          chain of integer operations on tensors (random bits), which unrolled is one kernel instead of some per iteration; eight times as many if
//          it selects elements of a table (a binary search)
// Output:  n copies of the body
// Leaves alone all other loops.
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"
#include "passes/loops/TripCount.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "passes/loops/Passes.h.inc"

namespace {

struct UnrollLoops : impl::UnrollLoopsPassBase<UnrollLoops> {
  using UnrollLoopsPassBase::UnrollLoopsPassBase;

  void runOnOperation() override {
    SmallVector<shlo::WhileOp> loops;
    getOperation().walk<WalkOrder::PostOrder>([&](shlo::WhileOp loop) { loops.push_back(loop); });
    for (shlo::WhileOp loop : loops)
      if (auto counted = countedLoop(loop); counted && keepsTypes(loop) && isSmall(loop, counted->tripCount))
        unroll(loop, counted->tripCount);
  }

  /// Returns true if the carried values have the types of the results: a user of a dynamic type (a return) may not get a static one instead.
  static bool keepsTypes(shlo::WhileOp loop) {
    return llvm::equal(loop->getOperandTypes(), loop->getResultTypes()) &&
           llvm::equal(loop.getBody().front().getTerminator()->getOperandTypes(), loop->getResultTypes());
  }

  bool isSmall(shlo::WhileOp loop, int64_t tripCount) const {
    if (tripCount > maxOps)
      return false;
    int64_t ops = 0;
    bool isOfIntegers = true, isSearch = true, reads = false;
    loop.getBody().walk([&](Operation *op) {
      ops += !isa<shlo::ConstantOp>(op);
      reads |= isa<shlo::GatherOp>(op);
      bool isChoice = isa<shlo::CompareOp, shlo::ConstantOp, shlo::ConvertOp, shlo::BroadcastInDimOp, shlo::GatherOp, shlo::ReshapeOp, shlo::ReturnOp,
                          shlo::SelectOp>(op);
      bool isCount = isa<shlo::AddOp, shlo::DivOp, shlo::ShiftRightArithmeticOp, shlo::ShiftRightLogicalOp, shlo::SubtractOp>(op) &&
                     isa<IntegerType>(getElementTypeOrSelf(op->getResult(0)));
      isSearch &= isChoice || isCount;
      isOfIntegers &= isa<shlo::AddOp, shlo::AndOp, shlo::BroadcastInDimOp, shlo::ConstantOp, shlo::ConvertOp, shlo::MulOp, shlo::NotOp, shlo::OrOp,
                          shlo::ReshapeOp, shlo::ReturnOp, shlo::ShiftLeftOp, shlo::ShiftRightLogicalOp, shlo::SliceOp, shlo::SubtractOp,
                          shlo::XorOp>(op) &&
                      llvm::all_of(op->getResultTypes(), [](Type type) { return isa<IntegerType>(getElementTypeOrSelf(type)); });
    });
    return ops * tripCount <= (isSearch && reads ? 8 : isOfIntegers ? 4 : 1) * maxOps;
  }

  static void unroll(shlo::WhileOp loop, int64_t tripCount) {
    OpBuilder builder(loop);
    SmallVector<Value> state(loop->getOperands());
    Block &body = loop.getBody().front();
    for (int64_t i = 0; i < tripCount; ++i) {
      IRMapping mapping;
      mapping.map(body.getArguments(), state);
      for (Operation &op : body.without_terminator())
        builder.clone(op, mapping);
      for (auto [value, next] : llvm::zip_equal(state, body.getTerminator()->getOperands()))
        value = mapping.lookupOrDefault(next);
    }
    loop->replaceAllUsesWith(state);
    loop->erase();
  }
};

} // namespace
} // namespace millrace::loops
