// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShareRolls.cpp - Replace rolls of one value by slices of a padded copy ===//
// Input:   %a = concatenate(slice(%x, 1:n), slice(%x, 0:1)) ; %b = concatenate(slice(%x, n-1:n), slice(%x, 0:n-1))
// Output:  %w = concatenate(slice(%x, n-1:n), %x, slice(%x, 0:1)) ; %a = slice(%w, 2:n+2) ; %b = slice(%w, 0:n)
//          One copy replaces one per roll, and the slices are read in place. Rolls of rolls become slices of a value that is padded on all sides.
// Leaves alone a value with a single roll, and rolls by so many elements that the padding would be half of the value.
//===----------------------------------------------------------------------===//
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_SHAREROLLSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Smaller rolls are not worth a second kernel. Unit: elements. Source: judgement, not measured alone; chosen in commit f7caa64.
constexpr int64_t kMinRolledElements = 1024;

/// result[i] = source[(i + shift) mod n] along `dim`, |shift| <= n / 2.
struct Roll {
  ConcatenateOp op;
  Value source;
  int64_t dim, shift;
};

std::optional<Roll> matchRoll(ConcatenateOp op) {
  if (op.getInputs().size() != 2)
    return std::nullopt;
  auto first = op.getInputs()[0].getDefiningOp<SliceOp>(), second = op.getInputs()[1].getDefiningOp<SliceOp>();
  if (!first || !second || first.getOperand() != second.getOperand())
    return std::nullopt;
  RankedTensorType type = typeOf(op);
  Value source = first.getOperand();
  int64_t dim = op.getDimension();
  if (typeOf(source) != type || !type.hasStaticShape() || type.getNumElements() < kMinRolledElements)
    return std::nullopt;
  int64_t from = first.getStartIndices()[dim];
  for (SliceOp slice : {first, second})
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int64_t start = d == dim && slice == first ? from : 0, limit = d == dim && slice == second ? from : type.getDimSize(d);
      if (slice.getStartIndices()[d] != start || slice.getLimitIndices()[d] != limit || slice.getStrides()[d] != 1)
        return std::nullopt;
    }
  int64_t size = type.getDimSize(dim);
  return Roll{op, source, dim, 2 * from > size ? from - size : from};
}

/// The slice of `base` that begins at `start`.
struct Window {
  Value base;
  SmallVector<int64_t> start;
};

class Sharing {
public:
  explicit Sharing(Block &block) : block(block) {}

  void run() {
    for (auto op : block.getOps<ConcatenateOp>())
      if (std::optional<Roll> roll = matchRoll(op)) {
        pending.insert(roll->op.getResult());
        rolls.push_back(*roll);
        rolled.insert(roll->source);
      }
    while (rolls.size() > 1 && step()) {
    }
    // Rolls of rolls are replaced first, so that no user is left that reads slices of an erased roll.
    for (Roll &roll : llvm::reverse(rolls))
      if (!pending.contains(roll.op.getResult()))
        replace(roll);
  }

private:
  /// Pads one value along one dimension; returns false if no value is left for which that pays.
  bool step() {
    llvm::MapVector<std::pair<Value, int64_t>, SmallVector<Roll *>> groups;
    for (Roll &roll : rolls) {
      if (!pending.contains(roll.op.getResult()) || pending.contains(roll.source))
        continue;
      Value base = resolve(roll.source).base;
      if (typeOf(base).getDimSize(roll.dim) == typeOf(roll.source).getDimSize(roll.dim))
        groups[{base, roll.dim}].push_back(&roll);
    }
    // Values whose rolls are rolled again come first: both levels of rolls become slices of one padded value.
    SmallVector<Roll *> *chosen = nullptr;
    bool isRolledAgain = false;
    for (auto &[key, group] : groups) {
      if (group.size() < 2 || bordersOf(group).first + bordersOf(group).second > typeOf(key.first).getDimSize(key.second) / 2)
        continue;
      bool again = llvm::any_of(group, [&](Roll *roll) { return rolled.contains(roll->op.getResult()); });
      if (!chosen || (again && !isRolledAgain)) {
        chosen = &group;
        isRolledAgain = again;
      }
    }
    if (!chosen)
      return false;
    grow(*chosen);
    return true;
  }

  /// Returns the numbers of elements before the first and after the last one that the rolls read.
  static std::pair<int64_t, int64_t> bordersOf(ArrayRef<Roll *> group) {
    int64_t low = 0, high = 0;
    for (Roll *roll : group) {
      low = std::max(low, -roll->shift);
      high = std::max(high, roll->shift);
    }
    return {low, high};
  }

  void grow(ArrayRef<Roll *> group) {
    Value base = resolve(group.front()->source).base;
    int64_t dim = group.front()->dim, size = typeOf(base).getDimSize(dim);
    auto [low, high] = bordersOf(group);
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    if (Operation *op = base.getDefiningOp(); op && op->getBlock() == &block)
      builder.setInsertionPointAfter(op);
    Location loc = group.front()->op.getLoc();
    SmallVector<Value> parts;
    if (low)
      parts.push_back(part(builder, loc, base, dim, size - low, size));
    parts.push_back(base);
    if (high)
      parts.push_back(part(builder, loc, base, dim, 0, high));
    Value grown = ConcatenateOp::create(builder, loc, parts, dim);
    // Every window of `base` becomes a window of the padded value.
    for (Roll *roll : group) {
      Window window = resolve(roll->source);
      window.base = grown;
      window.start[dim] = low + roll->shift;
      windows[roll->op.getResult()] = window;
      pending.erase(roll->op.getResult());
    }
    Window whole{grown, SmallVector<int64_t>(typeOf(base).getRank(), 0)};
    whole.start[dim] = low;
    windows[base] = whole;
  }

  /// Returns the window of the largest value that contains `value`.
  Window resolve(Value value) {
    Window window{value, SmallVector<int64_t>(typeOf(value).getRank(), 0)};
    for (auto it = windows.find(value); it != windows.end(); it = windows.find(window.base)) {
      window.base = it->second.base;
      for (auto [start, more] : llvm::zip(window.start, it->second.start))
        start += more;
    }
    return window;
  }

  static Value part(OpBuilder &builder, Location loc, Value of, int64_t dim, int64_t from, int64_t to) {
    return boxOf(builder, loc, of, Box::along(typeOf(of).getShape(), dim, from, to));
  }

  void replace(Roll &roll) {
    Window window = resolve(roll.op.getResult());
    Box box = Box::whole(typeOf(roll.op).getShape());
    box.start = window.start;
    for (auto [limit, from] : llvm::zip(box.limit, window.start))
      limit += from;
    OpBuilder builder(roll.op);
    roll.op.getResult().replaceAllUsesWith(boxOf(builder, roll.op.getLoc(), window.base, box));
    SmallVector<Value> parts(roll.op.getInputs());
    roll.op.erase();
    for (Value part : parts)
      if (part.use_empty())
        part.getDefiningOp()->erase();
  }

  Block &block;
  SmallVector<Roll> rolls;
  DenseSet<Value> rolled;  ///< operands of rolls
  DenseSet<Value> pending; ///< results of rolls that are not windows yet
  DenseMap<Value, Window> windows;
};

struct ShareRolls : impl::ShareRollsPassBase<ShareRolls> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) { Sharing(*block).run(); });
  }
};

} // namespace
} // namespace millrace::simplify
