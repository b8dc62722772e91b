// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KeepDimensions.cpp - Reshapes that hide what is split --------------===//
// Input:   %1 = reshape %0 : 2x8x4 -> 16x4 ; %2 = dot_general %1, %w, contracting [1] x [0] ; %3 = reshape %2 : 16x6 -> 2x8x6
// Output:  dot_general %0, %w, contracting [2] x [0]    if the dimension of 8 may be sharded, in %0 or in %3
// Leaves alone merged dimensions of which only the first one may be sharded, and operations with a sharding of their own.
#include "passes/spmd/KeepDimensions.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/spmd/CutDimensions.h"
#include "passes/spmd/SplitDimensions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
namespace {

/// Merges reshape(reshape(x)) into reshape(x), and replaces a reshape to the same type by its operand.
void mergeReshapes(ModuleOp module) {
  SmallVector<ReshapeOp> ops;
  module.walk([&](ReshapeOp op) { ops.push_back(op); });
  for (ReshapeOp op : ops) { // in program order, so that the operand's reshape has been merged already
    if (auto inner = op->getOperand(0).getDefiningOp<ReshapeOp>(); inner && namesNoSharding(inner))
      op->setOperand(0, inner->getOperand(0));
    if (op->getOperand(0).getType() == op->getResult(0).getType() && namesNoSharding(op))
      op->replaceAllUsesWith(op->getOperands());
  }
}

/// Erases unused values, which would otherwise be gathered.
void eraseUnread(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<ReshapeOp, TransposeOp, BroadcastInDimOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && namesNoSharding(op))
      op->erase();
}

/// Returns parts that begin wherever parts of both lists begin.
SmallVector<int64_t> commonParts(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  SmallVector<int64_t> ends, parts;
  int64_t end = 1, begin = 1;
  for (int64_t size : first)
    ends.push_back(end *= size);
  end = 1;
  for (int64_t size : second) {
    end *= size;
    if (size > 1 && llvm::is_contained(ends, end)) {
      parts.push_back(end / begin);
      begin = end;
    }
  }
  return parts;
}

/// Returns the products of the sizes up to the end of each dimension.
SmallVector<int64_t> endsOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> ends;
  int64_t end = 1;
  for (int64_t size : shape)
    ends.push_back(end *= size);
  return ends;
}

/// Returns the dimensions of `to`, a shape with the same number of elements, in parts that begin at the dimensions of `from` for which `isCut` holds;
/// nullopt if no dimension is divided. `begin` is the product of the sizes of the dimensions before `dim`.
std::optional<SplitSizes> partsBefore(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                          llvm::function_ref<bool(int64_t dim, int64_t begin)> isCut) {
  if (llvm::is_contained(from, 0))
    return std::nullopt;
  SmallVector<int64_t> fromEnds = endsOf(from), begins;
  for (size_t dim = 0; dim < from.size(); ++dim)
    if (int64_t begin = fromEnds[dim] / from[dim]; from[dim] > 1 && isCut(int64_t(dim), begin))
      begins.push_back(begin);
  SplitSizes parts;
  bool found = false;
  int64_t begin = 1;
  for (int64_t size : to) {
    SmallVector<int64_t> &sizes = parts.emplace_back();
    int64_t end = begin * size, last = begin;
    for (int64_t place : begins)
      if (place > last && place < end && place % last == 0 && end % place == 0) {
        sizes.push_back(place / last);
        last = place;
      }
    found |= last != begin;
    sizes.push_back(end / last);
    begin = end;
  }
  return found ? std::optional(parts) : std::nullopt;
}

/// Moves reshapes that hide dimensions which may be sharded after the operations that read them, as far as these operations also work on the unmerged
/// dimensions.
class Sinking {
public:
  explicit Sinking(ModuleOp module) : cuts(module) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      visit(&op);
      if (!dead.contains(&op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            run(inner);
    }
  }
  void eraseDead() {
    for (Operation *op : llvm::reverse(dead))
      op->erase();
  }

private:
  void visit(Operation *op) {
    if (!namesNoSharding(op))
      return;
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return visitReshape(reshape);
    bool readsHidden = llvm::any_of(op->getOperands(), [&](Value operand) { return bool(hiddenBy(operand)); });
    if (readsHidden && isa<OptimizationBarrierOp>(op))
      sinkBarrier(op);
    else if (readsHidden)
      sink(op);
  }

  /// Returns the parts of a value's dimensions if the value is the result of a reshape that hides some of them.
  const SplitSizes *hiddenBy(Value value) {
    auto found = hidden.find(value);
    return found == hidden.end() ? nullptr : &found->second;
  }

  void visitReshape(ReshapeOp op) {
    if (hiddenBy(op.getOperand())) {
      op->setOperand(0, op.getOperand().getDefiningOp<ReshapeOp>().getOperand());
      cuts.tie(op);
    }
    if (op->getOperand(0).getType() == op->getResult(0).getType())
      return replace(op, op->getOperands());
    auto parts = partsBefore(sharding::shapeOf(op.getOperand()), sharding::shapeOf(op.getResult()),
                             [&](int64_t dim, int64_t begin) { return cuts.mayBeCut(op.getOperand(), dim) || isCutLater(op, begin); });
    if (!parts)
      return;
    // Another reshape before this one makes the remaining changes.
    RankedTensorType from = typeOf(op.getOperand()), type = from.clone(splitShape(*parts));
    if (type != from) {
      OpBuilder builder(op);
      auto apart = ReshapeOp::create(builder, op.getLoc(), type, op.getOperand());
      cuts.tie(apart);
      op->setOperand(0, apart);
    }
    hidden[op.getResult()] = *parts;
  }

  /// Returns true if a user of the reshape divides its result again at `begin`, and may shard that dimension.
  bool isCutLater(ReshapeOp op, int64_t begin) {
    int64_t end = 1;
    for (auto [dim, size] : llvm::enumerate(sharding::shapeOf(op.getResult()))) {
      if (begin > end && begin < end * size && begin % end == 0 && cuts.mayBeCutBehind(op.getResult(), int64_t(dim), begin / end))
        return true;
      end *= size;
    }
    return false;
  }

  void replace(Operation *op, ValueRange values) {
    for (auto [old, value] : llvm::zip_equal(op->getResults(), values))
      cuts.tie(old, value);
    op->replaceAllUsesWith(values);
    dead.insert(op);
  }

  /// Replaces the results of `op` by those of `made`, reshaped to the original types; records the reshapes.
  void replaceByMerged(Operation *op, Operation *made, ArrayRef<std::optional<SplitSizes>> parts) {
    OpBuilder builder(op);
    SmallVector<Value> values;
    for (auto [old, value, each] : llvm::zip_equal(op->getResults(), made->getResults(), parts)) {
      values.push_back(value);
      if (!each)
        continue;
      auto merged = ReshapeOp::create(builder, op->getLoc(), old.getType(), value);
      cuts.tie(merged);
      hidden[merged.getResult()] = *each;
      values.back() = merged.getResult();
    }
    replace(op, values);
  }

  void sinkBarrier(Operation *op) {
    OpBuilder builder(op);
    Operation *made = builder.clone(*op);
    SmallVector<std::optional<SplitSizes>> parts;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      const SplitSizes *each = hiddenBy(operand);
      parts.push_back(each ? std::optional(*each) : std::nullopt);
      if (!each)
        continue;
      made->setOperand(i, operand.getDefiningOp()->getOperand(0));
      made->getResult(i).setType(made->getOperand(i).getType());
    }
    cuts.tie(made);
    replaceByMerged(op, made, parts);
  }

  void sink(Operation *op) {
    std::optional<sharding::Rule> rule = sharding::ruleOf(op);
    if (!rule)
      return;
    // Operands with hidden dimensions determine the parts; the other operands follow.
    SmallVector<SmallVector<int64_t>> wanted(rule->factors.size());
    for (auto [operand, dims] : llvm::zip_equal(op->getOperands(), rule->operands)) {
      const SplitSizes *parts = hiddenBy(operand);
      if (!parts)
        continue;
      for (auto [sizes, factors] : llvm::zip_equal(*parts, dims)) {
        if (factors.size() != 1 || !canSplitDimensions(op, *rule, factors.front()))
          continue;
        SmallVector<int64_t> &each = wanted[factors.front()];
        if (sizes.size() > 1)
          each = each.empty() ? sizes : commonParts(each, sizes);
      }
    }
    for (auto &sizes : wanted)
      if (sizes.size() < 2)
        sizes.clear();
    if (llvm::all_of(wanted, [](const auto &sizes) { return sizes.empty(); }))
      return;
    Operation *made = cloneWithSplitDimensions(op, *rule, wanted);
    cuts.tie(made);
    SmallVector<std::optional<SplitSizes>> parts;
    for (auto [result, dims] : llvm::zip_equal(op->getResults(), rule->results)) {
      SplitSizes each;
      bool isHidden = false;
      for (auto [size, factors] : llvm::zip_equal(sharding::shapeOf(result), dims)) {
        bool isSplit = factors.size() == 1 && !wanted[factors.front()].empty();
        isHidden |= isSplit;
        each.push_back(isSplit ? wanted[factors.front()] : SmallVector<int64_t>{size});
      }
      parts.push_back(isHidden ? std::optional(each) : std::nullopt);
    }
    replaceByMerged(op, made, parts);
  }

  CutDimensions cuts;
  llvm::DenseMap<Value, SplitSizes> hidden; ///< results of reshapes, with the parts that are dimensions of the operand
  llvm::SetVector<Operation *> dead;                  ///< replaced operations, kept because `cuts` identifies them by address
};

} // namespace

void keepDimensions(ModuleOp module) {
  mergeReshapes(module);
  Sinking sinking(module);
  for (auto function : module.getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      sinking.run(block);
  sinking.eraseDead();
  eraseUnread(module);
}

} // namespace millrace::spmd
