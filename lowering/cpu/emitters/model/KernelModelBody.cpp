// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModelBody.cpp - Reads and cost of an operation's body ---------===//
#include "lowering/cpu/emitters/model/KernelModelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {

static double costOf(Operation &op) {
  if (isa<math::SqrtOp, math::RsqrtOp, arith::DivFOp, arith::RemFOp>(op))
    return 5;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return 15;
  if (isa<math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp, math::CeilOp>(op))
    return 1;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return 18;
  if (isa<arith::ConstantOp, linalg::YieldOp, linalg::IndexOp>(op))
    return 0;
  return 1;
}

LogicalResult KernelModelBuilder::checkBody(Block *body, RawNode &raw) {
  for (Operation &op : *body) {
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    for (Value operand : op.getOperands()) {
      Attribute attr;
      if (operand.getParentBlock() == body || matchPattern(operand, m_Constant(&attr)) || (extract && operand == extract.getTensor()) ||
          llvm::any_of(raw.captured, [&](auto &known) { return known.first == operand; }))
        continue;
      RawOperand outside;
      if (failed(scalarOperand(operand, outside)))
        return failure();
      raw.captured.push_back({operand, outside});
    }
    if (isa<linalg::YieldOp, linalg::IndexOp>(op))
      continue;
    if (extract) {
      bool isOperand = false;
      if (failed(addExtracted(extract, raw, isOperand)))
        return failure();
      if (isOperand)
        continue;
      auto it = viewOf.find(extract.getTensor());
      if (it == viewOf.end() || !views[it->second].pads.empty())
        return fail("a computed or padded value read at computed indices");
      const KernelView &view = views[it->second];
      RawRead read;
      read.read.op = extract;
      read.read.access.buffer = view.buffer;
      read.read.access.elementType = view.elementType;
      read.read.access.numElements = view.numElements;
      read.read.access.address.offset = view.offset;
      for (auto [index, stride] : llvm::zip(extract.getIndices(), view.strides))
        decompose(index, stride, read);
      raw.reads.push_back(read);
      continue;
    }
    if (op.getNumRegions() || !(isa<arith::ConstantOp>(op) || OpTrait::hasElementwiseMappableTraits(&op)))
      return fail("scalar operation '" + op.getName().getStringRef() + "'");
    for (Value result : op.getResults())
      if (!result.getType().isIntOrIndexOrFloat())
        return fail("scalar of a type without vectors");
  }
  return success();
}

/// Adds an element at the body's own loop indices as an ordinary operand.
LogicalResult KernelModelBuilder::addExtracted(tensor::ExtractOp extract, RawNode &raw, bool &done) {
  SmallVector<AffineExpr> exprs;
  for (Value index : extract.getIndices()) {
    if (auto loop = index.getDefiningOp<linalg::IndexOp>())
      exprs.push_back(getAffineDimExpr(loop.getDim(), fn.getContext()));
    else if (TypedAttr constant = constantOf(index))
      exprs.push_back(getAffineConstantExpr(cast<IntegerAttr>(constant).getInt(), fn.getContext()));
    else
      return success();
  }
  RawOperand operand;
  if (failed(operandFor(extract.getTensor(), AffineMap::get(raw.loops.size(), 0, exprs, fn.getContext()), raw.loops, operand)))
    return failure();
  raw.captured.push_back({extract.getResult(), operand});
  done = true;
  return success();
}

/// Adds `scale` times `index`, a value of a body, to an address.
void KernelModelBuilder::decompose(Value index, int64_t scale, RawRead &out) {
  if (TypedAttr constant = constantOf(index)) {
    out.read.access.address.offset += scale * cast<IntegerAttr>(constant).getInt();
    return;
  }
  if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
    out.terms.push_back({static_cast<unsigned>(loop.getDim()), scale});
    return;
  }
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    decompose(sum.getLhs(), scale, out);
    decompose(sum.getRhs(), scale, out);
    return;
  }
  if (auto difference = index.getDefiningOp<arith::SubIOp>()) {
    decompose(difference.getLhs(), scale, out);
    decompose(difference.getRhs(), -scale, out);
    return;
  }
  out.read.computed.push_back({index, scale});
}

/// Counts the cost of a body and its widest element; operations that only compute indices are hoisted or cheap.
void KernelModelBuilder::countWork(Block *body, RawNode &raw, Node &node) {
  SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> indices;
  bool isIndex = false;
  std::function<void(Value)> visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || !seen.insert(op).second)
      return;
    for (auto &[captured, operand] : raw.captured)
      if (captured == value) {
        if (isIndex && operand.view >= 0)
          node.indexBuffers.push_back(views[operand.view].buffer);
        return;
      }
    node.usesIndex |= isa<linalg::IndexOp>(op);
    if (!isIndex) {
      node.cost += costOf(*op);
      if (!value.getType().isIndex())
        model.maxElementBits = std::max<int>(model.maxElementBits, value.getType().getIntOrFloatBitWidth());
    }
    auto read = llvm::find_if(raw.reads, [&](const RawRead &known) { return known.read.op == op; });
    if (read == raw.reads.end()) {
      for (Value operand : op->getOperands())
        visit(operand);
      return;
    }
    read->read.isIndex = isIndex;
    for (auto [term, stride] : read->read.computed)
      indices.push_back(term);
  };
  for (Value yielded : body->getTerminator()->getOperands())
    visit(yielded);
  isIndex = true;
  while (!indices.empty())
    visit(indices.pop_back_val());
}

} // namespace millrace::lowering
