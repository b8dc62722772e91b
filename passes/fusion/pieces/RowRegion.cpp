// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowRegion.cpp - Find operations that work row by row ----------------===//
#include "passes/fusion/pieces/RowRegion.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/pieces/Combiners.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/sharding/rules/ExplicitBatching.h"
#include "passes/sharding/rules/OpRules.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace millrace::stablehlo;
using millrace::sharding::FactorKind;
using millrace::sharding::Rule;
using millrace::sharding::TensorFactors;

namespace millrace::fusion {

Operation *combinerOfRows(Operation *op) {
  if (isa<DotGeneralOp>(op))
    return op;
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getInputs().size() != 1)
    return nullptr;
  Operation *combine = combinerOf(reduce.getBody());
  return combine && neutralElement(*combine, typeOf(reduce.getResult(0)).getElementType()) ? combine : nullptr;
}

namespace {

bool isLeaf(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  return isa_and_nonnull<IotaOp>(op) || (constant && isa<SplatElementsAttr>(constant.getValue()));
}

/// Operations that BlockRows.cpp can write for fewer rows.
bool isKnown(Operation *op) {
  if (op->getNumResults() != 1 || !isMemoryEffectFree(op))
    return false;
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return scatter.getInputs().size() == 1;
  return isElementwise(op) || isa<BroadcastInDimOp, ReshapeOp, TransposeOp, ReduceOp, DotGeneralOp, GatherOp, ConcatenateOp>(op);
}

/// How an operation treats the rows of the value that it was asked about.
enum class RowUse { Whole, Parallel, Combined };

class Finder {
public:
  Finder(DotGeneralOp seed, int64_t rows, int64_t minBytes) : seed(seed), block(seed->getBlock()), minBytes(minBytes) {
    region.seed = seed;
    region.rows = rows;
  }

  std::optional<RowRegion> find(RowDim lhs, StringRef &why) {
    if (!tryAdd(seed, seed->getOperand(0), lhs)) {
      why = "the rows cannot be told apart";
      return std::nullopt;
    }
    grow();
    prune();
    if (!collect(why) || !isClosed(why))
      return std::nullopt;
    return std::move(region);
  }

private:
  /// A mask of the contraction's shape is large, too.
  bool isLarge(Value value) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && (bytesOf(type).value_or(0) >= minBytes || type.getNumElements() >= typeOf(seed->getResult(0)).getNumElements());
  }

  /// The factor of the rows in a tensor that has them at `at`.
  std::optional<int> factorAt(const Rule &rule, const TensorFactors &tensor, RowDim at) const {
    std::optional<int> found;
    int64_t minor = 1;
    for (int factor : tensor[at.dim]) {
      int64_t size = rule.factors[factor].size;
      if (found)
        minor *= size;
      else if (size == region.rows)
        found = factor;
      else if (size != 1)
        return std::nullopt;
    }
    return found && minor == at.minor ? found : std::nullopt;
  }

  /// Where `factor` is in a tensor: false if it is in several dimensions, or behind other factors of one. None: the tensor has no rows.
  bool place(const Rule &rule, const TensorFactors &tensor, int factor, std::optional<RowDim> &found) const {
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      auto *at = llvm::find(factors, factor);
      if (at == factors.end())
        continue;
      int64_t major = 1, minor = 1;
      for (auto *each = factors.begin(); each != at; ++each)
        major *= rule.factors[*each].size;
      for (auto *each = at + 1; each != factors.end(); ++each)
        minor *= rule.factors[*each].size;
      if (found || major != 1)
        return false;
      found = RowDim{int64_t(dim), minor};
    }
    return true;
  }

  /// Adds `op`, of which `value`, an operand or the result, has rows at `at`, with all that its other operands need. Changes nothing if
  /// it returns false.
  bool tryAdd(Operation *op, Value value, RowDim at) {
    sharding::makeBatchingExplicit(op);
    if (!isKnown(op) || op->getBlock() != block)
      return false;
    std::optional<Rule> rule = sharding::ruleOf(op);
    if (!rule)
      return false;
    std::optional<int> factor;
    for (OpOperand &operand : op->getOpOperands())
      if (!factor && operand.get() == value)
        factor = factorAt(*rule, rule->operands[operand.getOperandNumber()], at);
    if (!factor && value == op->getResult(0))
      factor = factorAt(*rule, rule->results[0], at);
    if (!factor)
      return false;
    std::optional<RowDim> result;
    if (!place(*rule, rule->results[0], *factor, result))
      return false;
    FactorKind kind = rule->factors[*factor].kind;
    if (result ? kind != FactorKind::PassThrough : kind != FactorKind::Reduction || !combinerOfRows(op))
      return false;
    SmallVector<std::pair<Value, RowDim>> places;
    SmallVector<Value> without;
    if (result)
      places.push_back({op->getResult(0), *result});
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<RowDim> found;
      if (!place(*rule, rule->operands[operand.getOperandNumber()], *factor, found))
        return false;
      if (found)
        places.push_back({operand.get(), *found});
      else
        without.push_back(operand.get());
    }
    // A value has its rows in one place, or none, for all its readers.
    auto disagrees = [&](auto &each) {
      auto known = region.rowDims.find(each.first);
      return whole.contains(each.first) || llvm::is_contained(without, each.first) ||
             (known != region.rowDims.end() && known->second != each.second) ||
             llvm::any_of(places, [&](auto &other) { return other.first == each.first && other.second != each.second; });
    };
    if (llvm::any_of(places, disagrees) || llvm::any_of(without, [&](Value each) { return region.rowDims.contains(each); }))
      return false;
    whole.insert(without.begin(), without.end());
    for (auto &[each, dim] : places)
      region.rowDims.insert({each, dim});
    if (!region.ops.insert(op))
      return true;
    // A small contraction's result is stored: what reads it needs no rows of the large values.
    if (result && !(isa<DotGeneralOp>(op) && !isLarge(op->getResult(0)) && op != seed))
      open.push_back(op->getResult(0));
    for (auto &[each, dim] : places)
      if (each != op->getResult(0))
        pull(each, dim);
    return true;
  }

  /// Computes an operand in the region where it would be large in memory, or costs nothing.
  void pull(Value operand, RowDim dim) {
    Operation *maker = operand.getDefiningOp();
    if (maker && !isLeaf(maker) && !region.ops.contains(maker) && (isLarge(operand) || isa<BroadcastInDimOp>(maker)))
      tryAdd(maker, operand, dim);
  }

  void grow() {
    for (size_t i = 0; i < open.size(); ++i) {
      Value value = open[i];
      // Users are copied: explicit batching dimensions change them.
      SmallVector<Operation *> users(value.getUsers());
      for (Operation *user : users)
        if (!region.ops.contains(user))
          tryAdd(user, value, region.rowDims.lookup(value));
    }
  }

  /// Leaves operations on small values to others unless large ones depend on them.
  void prune() {
    SmallVector<Operation *> ops(region.ops.begin(), region.ops.end());
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    llvm::SmallPtrSet<Operation *, 16> kept;
    for (Operation *op : llvm::reverse(ops)) {
      bool isNeeded = llvm::any_of(op->getOperands(), [&](Value each) { return region.rowDims.contains(each) && isLarge(each); }) ||
                      isLarge(op->getResult(0)) || llvm::any_of(op->getUsers(), [&](Operation *user) { return kept.contains(user); });
      if (isNeeded)
        kept.insert(op);
    }
    region.ops.clear();
    for (Operation *op : ops)
      if (kept.contains(op))
        region.ops.insert(op);
  }

  /// Collects the values of the region that have users outside.
  bool collect(StringRef &why) {
    llvm::SmallPtrSet<Operation *, 16> &dependent = region.dependent;
    for (Operation *op : region.ops) {
      bool depends = op == seed || llvm::any_of(op->getOperands(), [&](Value each) { return dependent.contains(each.getDefiningOp()); });
      Value result = op->getResult(0);
      if (!depends)
        continue; // computed again in the region, which leaves the first one to its other readers
      dependent.insert(op);
      bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) { return !region.ops.contains(user); });
      if (!isRead)
        continue;
      if (isLarge(result) && region.rowDims.contains(result)) {
        why = "a large value is read as a whole";
        return false;
      }
      (region.rowDims.contains(result) ? region.stacked : region.combined).push_back(result);
    }
    return true;
  }

  /// Nothing that the region reads depends on what it gives.
  bool isClosed(StringRef &why) {
    SmallVector<Operation *> todo;
    llvm::SmallPtrSet<Operation *, 32> seen;
    auto visit = [&](Value value) {
      Operation *maker = value.getDefiningOp();
      maker = maker ? block->findAncestorOpInBlock(*maker) : nullptr;
      if (maker && seen.insert(maker).second)
        todo.push_back(maker);
    };
    auto visitOperands = [&](Operation *op) {
      llvm::for_each(op->getOperands(), visit);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      llvm::for_each(captured, visit);
    };
    for (Operation *op : region.ops)
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (maker && region.dependent.contains(maker) && !region.rowDims.contains(operand)) {
          why = "an operand depends on all rows";
          return false;
        }
        if (maker && !region.ops.contains(maker))
          visit(operand);
      }
    while (!todo.empty()) {
      Operation *op = todo.pop_back_val();
      if (region.dependent.contains(op)) {
        why = "an operand depends on all rows";
        return false;
      }
      visitOperands(op);
    }
    return true;
  }

  Operation *seed;
  Block *block;
  int64_t minBytes;
  RowRegion region;
  llvm::DenseSet<Value> whole; ///< operands without rows
  SmallVector<Value> open; ///< results whose readers are not yet known
};

} // namespace

std::optional<RowRegion> findRowRegion(DotGeneralOp seed, int64_t lhsDim, int64_t minBytes, StringRef &why) {
  return Finder(seed, typeOf(seed.getLhs()).getDimSize(lhsDim), minBytes).find({lhsDim, 1}, why);
}

} // namespace millrace::fusion
