// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionMask.cpp - Recognize masks that exclude the last keys of a row ===//
#include "lowering/cpu/emitters/attention/AttentionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;

namespace millrace::lowering::attention {

/// Returns the integer operand as a linear expression of the indices, if it is one.
std::optional<LinearExpr> AttentionEmitter::linearOf(const Operand &operand) const {
  if (operand.kind == Operand::Scalar) {
    auto integer = dyn_cast<IntegerAttr>(operand.scalar);
    LinearExpr constant;
    constant.offset = integer ? integer.getInt() : 0;
    return integer ? std::optional(constant) : std::nullopt;
  }
  if (operand.kind != Operand::Intermediate)
    return std::nullopt;
  const Node &node = model.nodeOf(operand);
  if (!node.body)
    return linearOf(node.inputs.front());
  return node.reduction ? std::nullopt : linearOf(node, node.body->getTerminator()->getOperand(0));
}

std::optional<LinearExpr> AttentionEmitter::linearOf(const Node &node, Value value) const {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    LinearExpr expr;
    expr.offset = constant.getInt();
    return expr;
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() < node.inputs.size() ? linearOf(node.inputs[argument.getArgNumber()]) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return node.loops[index.getDim()];
  bool isWide = value.getType().isIndex() || value.getType().getIntOrFloatBitWidth() >= 32;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>(op) && isWide)
    return linearOf(node, op->getOperand(0));
  if (!isa<arith::AddIOp, arith::SubIOp>(op) || !isWide)
    return std::nullopt;
  std::optional<LinearExpr> left = linearOf(node, op->getOperand(0)), right = linearOf(node, op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
  for (auto [atom, coefficient] : right->terms)
    left->add(atom, sign * coefficient);
  left->offset += sign * right->offset;
  return left;
}

/// Returns an expression that is at least 0 exactly where the boolean is true.
std::optional<LinearExpr> AttentionEmitter::marginOf(const Operand &operand) const {
  if (operand.kind != Operand::Intermediate)
    return std::nullopt;
  const Node &node = model.nodeOf(operand);
  if (!node.body)
    return marginOf(node.inputs.front());
  Value yielded = node.body->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(yielded))
    return argument.getArgNumber() < node.inputs.size() ? marginOf(node.inputs[argument.getArgNumber()]) : std::nullopt;
  auto compare = yielded.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  std::optional<LinearExpr> left = linearOf(node, compare.getLhs()), right = linearOf(node, compare.getRhs());
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  bool isLess = predicate == Predicate::sle || predicate == Predicate::slt;
  if (!left || !right || (!isLess && predicate != Predicate::sge && predicate != Predicate::sgt))
    return std::nullopt;
  if (isLess)
    std::swap(left, right);
  for (auto [atom, coefficient] : right->terms)
    left->add(atom, -coefficient);
  left->offset -= right->offset + (predicate == Predicate::slt || predicate == Predicate::sgt);
  return left;
}

/// Returns true if the operand depends on the index of the keys only through values that a masked point has, too.
bool AttentionEmitter::followsFrom(const Mask &found, const Operand &operand) const {
  if (!(model.depends(operand) & atomBit(n)))
    return true;
  if (operand.kind != Operand::Intermediate)
    return false;
  if (operand.value == found.chosen || llvm::is_contained(found.conditions, operand.value))
    return true;
  if (const Source *source = sourceOf(operand.value))
    return source == found.other;
  const Node &node = model.nodeOf(operand);
  return !llvm::any_of(node.loops, [&](const LinearExpr &loop) { return node.usesIndex && (loop.atoms() & atomBit(n)); }) &&
         llvm::all_of(node.inputs, [&](const Operand &input) { return followsFrom(found, input); }) &&
         llvm::all_of(node.captured, [&](const auto &captured) { return followsFrom(found, captured.second); });
}

/// Returns the nodes whose elements change with those of the source (not through sums of rows), if they are linear in them: their values then are
/// between those for the largest and the smallest source value.
std::optional<std::vector<bool>> AttentionEmitter::linearIn(const Source &source) const {
  std::vector<bool> changes(model.nodes.size());
  auto doesChange = [&](const Operand &operand) {
    return operand.kind == Operand::Intermediate && changes[&model.nodeOf(operand) - model.nodes.data()];
  };
  for (auto [index, node] : llvm::enumerate(model.nodes)) {
    bool isSource = &node == source.sum.node;
    changes[index] = isSource || (!node.reduction && llvm::any_of(node.inputs, doesChange));
    if (llvm::any_of(node.captured, [&](const auto &captured) { return doesChange(captured.second); }))
      return std::nullopt;
    if (!changes[index] || isSource || !node.body)
      continue;
    auto doesArgument = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getArgNumber() < node.inputs.size() && doesChange(node.inputs[argument.getArgNumber()]);
    };
    Value result = node.body->getTerminator()->getOperand(0);
    if (isa<BlockArgument>(result))
      continue;
    Operation *op = result.getDefiningOp();
    Attribute constant;
    if (llvm::any_of(op->getOperands(), [&](Value value) { return !isa<BlockArgument>(value) && !matchPattern(value, m_Constant(&constant)); }))
      return std::nullopt;
    bool isLinear = isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::TruncFOp, arith::ExtFOp>(op) ||
                    (isa<arith::MulFOp>(op) && !(doesArgument(op->getOperand(0)) && doesArgument(op->getOperand(1)))) ||
                    (isa<arith::DivFOp>(op) && !doesArgument(op->getOperand(1))) ||
                    (isa<arith::SelectOp>(op) && !doesArgument(op->getOperand(0)));
    if (!isLinear)
      return std::nullopt;
  }
  return changes;
}

/// Returns the operand that a node without arithmetic forwards.
static const Operand *passedOn(const Node &node) {
  if (!node.body)
    return &node.inputs.front();
  auto argument = dyn_cast<BlockArgument>(node.body->getTerminator()->getOperand(0));
  return argument && argument.getArgNumber() < node.inputs.size() ? &node.inputs[argument.getArgNumber()] : nullptr;
}

/// Returns true for the scores themselves, possibly reshaped.
bool AttentionEmitter::areScores(const Operand &operand) const {
  if (operand.kind != Operand::Intermediate)
    return false;
  const Node &node = model.nodeOf(operand);
  const Operand *source = node.reduction ? nullptr : passedOn(node);
  return sourceOf(operand.value) || (source && areScores(*source));
}

/// Matches the node as condition ? first : second, which are all three inputs of it.
static bool matchChoice(const Node &node, const Operand *&condition, const Operand *&first, const Operand *&second) {
  auto select = node.body ? node.body->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  auto inputOf = [&](Value value) -> const Operand * {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() < node.inputs.size() ? &node.inputs[argument.getArgNumber()] : nullptr;
  };
  if (!select)
    return false;
  condition = inputOf(select.getCondition());
  first = inputOf(select.getTrueValue());
  second = inputOf(select.getFalseValue());
  return condition && first && second;
}

/// Matches a select between scores and one value, or scores + (a select between 0 and one value, which must be -inf).
std::optional<Mask> AttentionEmitter::maskOf(const Node &node, const Operand *&condition) const {
  const Operand *first = nullptr, *low = nullptr;
  Mask found;
  found.chosen = node.op->getResult(0);
  if (matchChoice(node, condition, first, low) && low->kind == Operand::Scalar && isa<FloatType>(low->scalar.getType())) {
    found.low = low;
    return found;
  }
  auto add = node.body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || node.inputs.size() != 2 || !isa<BlockArgument>(add.getLhs()) || !isa<BlockArgument>(add.getRhs()) ||
      add.getLhs() == add.getRhs() || getElementTypeOrSelf(found.chosen.getType()) != type)
    return std::nullopt;
  const Operand *bias = &node.inputs[areScores(node.inputs[0]) ? 1 : 0];
  if (!areScores(node.inputs[areScores(node.inputs[0]) ? 0 : 1]))
    return std::nullopt;
  while (bias && bias->kind == Operand::Intermediate) {
    const Node &source = model.nodeOf(*bias);
    if (source.reduction || source.op->getNumResults() != 1)
      return std::nullopt;
    if (matchChoice(source, condition, first, low)) {
      bool isZero = first->kind == Operand::Scalar && matchPattern(first->scalar, m_AnyZeroFloat());
      if (!isZero || reads(*low))
        return std::nullopt;
      found.low = low;
      found.isSum = true;
      return found;
    }
    bias = passedOn(source);
  }
  return std::nullopt;
}

/// Returns true if reductions and weights depend on masked keys only through what atMaskedPoints() evaluates.
bool AttentionEmitter::canLeaveOut(const Mask &found) const {
  std::optional<std::vector<bool>> changes;
  if (found.other && !(changes = linearIn(*found.other)))
    return false;
  for (const Node &node : model.nodes) {
    if (!node.reduction || sourceOf(node.op->getResult(0)) || reachOf(node).products)
      continue;
    Value element;
    Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
    bool isSum = isa<arith::AddFOp>(combine) && (!found.other || isa<BlockArgument>(element) || isa<arith::ExtFOp>(element.getDefiningOp()));
    bool isExtreme = isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(combine) ||
                     (!found.other && isa<arith::AddFOp>(combine));
    if (!isSum && !isExtreme)
      return false;
    for (const Operand &input : node.inputs)
      if (!followsFrom(found, input) ||
          (!isSum && changes && input.kind == Operand::Intermediate && (*changes)[&model.nodeOf(input) - model.nodes.data()]))
        return false;
  }
  return llvm::all_of(products, [&](const Product &product) { return followsFrom(found, *product.weights.operand); });
}

/// Matches a value that replaces the scores where the index of the keys is too far after the row's, if everything else depends on that.
void AttentionEmitter::matchMask() {
  // Fact: no 32-bit index below it wraps.
  constexpr int64_t kMaxIndexDistance = int64_t(1) << 30;
  for (const Node &node : model.nodes) {
    if (!node.body || node.reduction || node.op->getNumResults() != 1 || !(node.kept & atomBit(n)) || !llvm::isPowerOf2_32(reachOf(node).sources))
      continue;
    const Operand *condition = nullptr;
    std::optional<Mask> found = maskOf(node, condition);
    std::optional<LinearExpr> margin = found ? marginOf(*condition) : std::nullopt;
    if (!margin || margin->coefficient(n) != -1 || (margin->atoms() & ~(batch | rowAtoms | atomBit(n))))
      continue;
    found->scores = &sources[llvm::countr_zero(reachOf(node).sources)];
    if (sources.size() == 2)
      found->other = &sources[1 - llvm::countr_zero(reachOf(node).sources)];
    int64_t most = std::abs(margin->offset);
    for (auto [atom, coefficient] : margin->terms)
      most += std::abs(coefficient) * model.atomSizes[atom];
    // In gradients the same condition occurs once more.
    for (const Node &other : model.nodes) {
      if (other.reduction || other.op->getNumResults() != 1 || !getElementTypeOrSelf(other.op->getResult(0).getType()).isInteger(1))
        continue;
      Operand operand;
      operand.kind = Operand::Intermediate;
      operand.value = other.op->getResult(0);
      std::optional<LinearExpr> same = marginOf(operand);
      if (same && same->offset == margin->offset && same->atoms() == margin->atoms() &&
          llvm::all_of(margin->terms, [&](const auto &term) { return same->coefficient(term.first) == term.second; }))
        found->conditions.push_back(operand.value);
    }
    if (most >= kMaxIndexDistance || !canLeaveOut(*found))
      continue;
    for (auto [atom, coefficient] : margin->terms)
      if (atom != n)
        found->limit.add(atom, coefficient);
    found->limit.offset = margin->offset + 1;
    mask = found;
    keyStep = std::lcm(scoreTile.vectors * lanes, kVectorsOfStrip * lanes);
    return;
  }
}

} // namespace millrace::lowering::attention
