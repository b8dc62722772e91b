// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopOrder.cpp - Order loops for contiguous innermost accesses ------===//
// Input:   linalg.generic of C(m, n) += A(m, k) * B(k, n) with loops m, n, k: the innermost loop reads a column of B
// Output:  the same with loops m, k, n: the innermost loop reads rows of B and C, and LLVM can vectorize it
// Leaves alone operations whose innermost loop is as good as any other.
#include "lowering/cpu/LoopOrder.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// The distance in memory between an operand's elements in consecutive iterations of a loop.
enum class Step { Same, Next, Far };

Step stepOf(OpOperand &operand, AffineMap map, unsigned loop) {
  // A view may have any strides: only the last dimension of one with unit stride is contiguous.
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  bool isUsed = map.isFunctionOfDim(loop);
  if (!isUsed)
    return Step::Same;
  if (!type || map.getNumResults() == 0 || !type.isLastDimUnitStride())
    return Step::Far;
  for (AffineExpr result : map.getResults().drop_back())
    if (result.isFunctionOfDim(loop))
      return Step::Far;
  // d and d + constant are contiguous; d * 2 is not.
  AffineExpr last = map.getResults().back(), dim = getAffineDimExpr(loop, map.getContext());
  AffineExpr next = last.replace(dim, dim + 1);
  auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(next - last, map.getNumDims(), map.getNumSymbols()));
  return difference && difference.getValue() == 1 ? Step::Next : Step::Far;
}

/// Returns the score of `loop` as innermost loop; larger is better.
int64_t score(linalg::LinalgOp op, unsigned loop) {
  int64_t total = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    Step step = stepOf(operand, op.getMatchingIndexingMap(&operand), loop);
    bool isOutput = op.isDpsInit(&operand);
    // A strided output costs a read and a write per iteration. An output that does not move is a sum in a register, whose additions form a dependence
    // chain.
    if (step == Step::Far)
      total -= isOutput ? 20 : 10;
    else if (step == Step::Next)
      total += isOutput ? 3 : 1;
  }
  return total;
}

} // namespace

SmallVector<unsigned> chooseLoopOrder(linalg::LinalgOp op) {
  unsigned count = op.getNumLoops();
  SmallVector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (count < 2)
    return order;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isReduction = [&](unsigned loop) { return linalg::isReductionIterator(iterators[loop]); };
  unsigned lastReduction = count;
  for (unsigned loop = 0; loop < count; ++loop)
    if (isReduction(loop))
      lastReduction = loop;
  unsigned best = count - 1;
  int64_t bestScore = score(op, best);
  // The first parallel loop stays outermost.
  for (unsigned loop = isReduction(0) ? 0 : 1; loop + 1 < count; ++loop) {
    if (isReduction(loop) && loop != lastReduction)
      continue;
    // A short innermost loop is mostly overhead.
    if (!ShapedType::isDynamic(ranges[loop]) && ranges[loop] < 4)
      continue;
    int64_t candidate = score(op, loop);
    if (candidate > bestScore) {
      bestScore = candidate;
      best = loop;
    }
  }
  order.erase(order.begin() + best);
  order.push_back(best);
  return order;
}

void orderLoops(Operation *root) {
  IRRewriter rewriter(root->getContext());
  SmallVector<linalg::GenericOp> work;
  root->walk([&](linalg::GenericOp op) { work.push_back(op); });
  for (linalg::GenericOp op : work) {
    SmallVector<unsigned> order = chooseLoopOrder(op);
    if (llvm::is_sorted(order))
      continue;
    rewriter.setInsertionPoint(op);
    // The old operation, without results, becomes the new one.
    (void)linalg::interchangeGenericOp(rewriter, op, order);
  }
}

} // namespace millrace::lowering
