// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitCollectives.cpp - One large message as several ----------------===//
// Input:   %g:3 = all_reduce(%a, %b, %c), 20, 15 and 10 MB, with max-bytes 25 MB
// Output:  %g#1, %g#2 = all_reduce(%b, %c) ; %g#0 = all_reduce(%a)
// The operands of the last message are reduced first: gradients come in the order of their parameters, and the backward pass makes the last ones first.
// The cut depends on the operation alone, not on where its operands are made: processes with different programs cut it alike.
// Leaves alone collectives with one operand, and all but all_reduce.
#include "passes/spmd/Communication.h"
#include "passes/spmd/Passes.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_SPLITCOLLECTIVESPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// Creates an all_reduce of the operands from `begin` to `end` before `op`, whose results it replaces.
void reducePart(AllReduceOp op, unsigned begin, unsigned end) {
  OpBuilder builder(op);
  OperationState state(op.getLoc(), op->getName(), op->getOperands().slice(begin, end - begin),
                       llvm::to_vector(TypeRange(op->getResultTypes()).slice(begin, end - begin)));
  state.addAttributes(op->getAttrs());
  IRMapping mapping;
  op.getComputation().cloneInto(state.addRegion(), mapping);
  Operation *part = builder.create(state);
  for (unsigned i = begin; i < end; ++i)
    op->getResult(i).replaceAllUsesWith(part->getResult(i - begin));
}

struct SplitCollectives : impl::SplitCollectivesPassBase<SplitCollectives> {
  using SplitCollectivesPassBase::SplitCollectivesPassBase;

  void runOnOperation() override {
    SmallVector<AllReduceOp> large;
    getOperation().walk([&](AllReduceOp op) {
      int64_t bytes = 0;
      for (Type type : op->getOperandTypes())
        bytes += bytesOf(type);
      if (op->getNumOperands() > 1 && bytes > maxBytes && !isa<AsyncStartOp>(op->getParentOp()))
        large.push_back(op);
    });
    for (AllReduceOp op : large)
      split(op);
  }

  void split(AllReduceOp op) {
    for (unsigned end = op->getNumOperands(); end > 0;) {
      unsigned begin = end - 1;
      int64_t bytes = bytesOf(op->getOperand(begin).getType());
      while (begin > 0 && bytes + bytesOf(op->getOperand(begin - 1).getType()) <= maxBytes)
        bytes += bytesOf(op->getOperand(--begin).getType());
      reducePart(op, begin, end);
      end = begin;
    }
    op.erase();
  }
};

} // namespace
} // namespace millrace::spmd
