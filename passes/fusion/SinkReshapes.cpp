// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SinkReshapes.cpp - Scale and shift of a normalization in its shape -===//
// Input:   %n = multiply (subtract %g, mean), deviation : 4x8x6x841 ; %y = reshape %n : 4x48x29x29 ; %0 = multiply %y, broadcast(%scale : 48, dims =
//          [1])
// Output:  %0 = reshape (multiply %n, broadcast(reshape(%scale) : 8x6, dims = [1, 2])): one kernel of rows from the first sum to the last shift
//          So group normalization is written: statistics of groups, then weights of channels. And variances whose divisor was not known to be
//          a constant from the beginning: rsqrt(reshape(sum : 512) : 512x1) becomes reshape(rsqrt(sum)), broadcast from there.
// Leaves alone what is no normalization of rows, operands other than numbers and repeated vectors, and vectors along a part of a merged dimension.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_SINKRESHAPESPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A reduction of more elements needs several rows, so that threads can share the kernel. Unit: elements. Source: judgement, not measured alone;
/// commit 47d2d3e has the figures of the whole change.
constexpr int64_t kElementsOfOneThread = 16384;
/// Fewer rows of a large reduction are too few units for threads. Unit: rows. Source: judgement, not measured alone; commit 47d2d3e has the figures
/// of the whole change.
constexpr int64_t kMinRowsOfThreads = 4;
/// Operations followed between a reduction and what is computed with its result: a bound of the search. Unit: operations. Source: judgement, not
/// measured alone; commit 47d2d3e has the figures of the whole change.
constexpr unsigned kMaxOpsBehindReduction = 10;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Sums of rows, enough of them for threads to share, or all of them little work.
bool isTrailing(ReduceOp reduce) {
  RankedTensorType type = typeOf(reduce.getInputs()[0]);
  int64_t rank = type.getRank(), reduced = reduce.getDimensions().size();
  return reduced < rank && (type.getNumElements() <= kElementsOfOneThread || typeOf(reduce.getResult(0)).getNumElements() >= kMinRowsOfThreads) && llvm::all_of(reduce.getDimensions(), [&](int64_t dim) { return dim >= rank - reduced; });
}

/// `value` is computed, element by element, with sums over the last dimensions of a tensor of shape `shape`.
bool isOfRows(Value value, ArrayRef<int64_t> shape, unsigned depth = kMaxOpsBehindReduction) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return isTrailing(reduce) && typeOf(reduce.getInputs()[0]).getShape() == shape;
  if (!isa<BroadcastInDimOp, ReshapeOp>(op) && classify(op) != OpRole::Elementwise)
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isOfRows(operand, shape, depth - 1); });
}

/// Dimensions of two shapes that are split or merged with one another.
struct Block {
  SmallVector<int64_t> from, to;
};

std::optional<SmallVector<Block>> commonBlocks(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Block> blocks;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Block block;
    int64_t a = from[i], b = to[j];
    block.from.push_back(i++), block.to.push_back(j++);
    while (a != b) {
      if (a < b ? i == from.size() : j == to.size())
        return std::nullopt;
      if (a < b)
        a *= from[i], block.from.push_back(i++);
      else
        b *= to[j], block.to.push_back(j++);
    }
    blocks.push_back(std::move(block));
  }
  for (; i < from.size(); ++i) {
    if (from[i] != 1 || blocks.empty())
      return std::nullopt;
    blocks.back().from.push_back(i);
  }
  for (; j < to.size(); ++j) {
    if (to[j] != 1 || blocks.empty())
      return std::nullopt;
    blocks.back().to.push_back(j);
  }
  return blocks;
}

/// `broadcast`, whose result has the shape `to` that is a reshape of `shape`, with that shape; null if its operand covers a part of a block.
Value repeatedAs(OpBuilder &b, BroadcastInDimOp broadcast, ArrayRef<int64_t> shape) {
  RankedTensorType operand = typeOf(broadcast.getOperand()), type = typeOf(broadcast.getResult());
  std::optional<SmallVector<Block>> blocks = commonBlocks(shape, type.getShape());
  ArrayRef<int64_t> given = broadcast.getBroadcastDimensions();
  if (!blocks || !llvm::is_sorted(given))
    return {};
  SmallVector<int64_t> dims, sizes;
  for (const Block &block : *blocks) {
    int64_t covered = 1, all = 1;
    for (int64_t dim : block.to) {
      all *= type.getDimSize(dim);
      if (auto at = llvm::find(given, dim); at != given.end())
        covered *= operand.getDimSize(at - given.begin());
    }
    if (covered != 1 && covered != all)
      return {};
    if (covered != 1)
      for (int64_t dim : block.from) {
        dims.push_back(dim);
        sizes.push_back(shape[dim]);
      }
  }
  Value source = broadcast.getOperand();
  if (operand.getShape() != ArrayRef(sizes))
    source = ReshapeOp::create(b, broadcast.getLoc(), operand.clone(sizes), source);
  return BroadcastInDimOp::create(b, broadcast.getLoc(), type.clone(shape), source, b.getDenseI64ArrayAttr(dims));
}

/// Where the dimensions of the operand are in the result, if the reshape only adds some of size one.
std::optional<SmallVector<int64_t>> addedUnits(ReshapeOp reshape) {
  ArrayRef<int64_t> to = typeOf(reshape).getShape();
  std::optional<SmallVector<Block>> blocks = commonBlocks(typeOf(reshape.getOperand()).getShape(), to);
  if (!blocks)
    return std::nullopt;
  SmallVector<int64_t> places;
  for (const Block &block : *blocks) {
    if (block.from.size() != 1)
      return std::nullopt;
    auto isLong = [&](int64_t dim) { return to[dim] != 1; };
    if (llvm::count_if(block.to, isLong) > 1)
      return std::nullopt;
    auto found = llvm::find_if(block.to, isLong);
    places.push_back(found == block.to.end() ? block.to.front() : *found);
  }
  return places;
}

class Mover {
public:
  explicit Mover(mlir::Block &block) : block(block) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
        repeatMoved(broadcast);
      else if (classify(&op) == OpRole::Elementwise && hasPlainNumbers(&op) && op.getNumRegions() == 0 && op.getNumResults() == 1)
        move(&op);
    if (members.empty())
      return;
    // The old operations, and broadcasts that were moved, would be kernels without users.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  void move(Operation *op) {
    RankedTensorType type = typeOf(op->getResult(0));
    std::optional<SmallVector<int64_t>> shape;
    for (Value operand : op->getOperands()) {
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      if (!reshape || !isMovable(reshape))
        continue;
      ArrayRef<int64_t> from = typeOf(reshape.getOperand()).getShape();
      if (shape && ArrayRef(*shape) != from)
        return;
      shape = SmallVector<int64_t>(from);
    }
    if (!shape)
      return;
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(typeOf(operand).getShape() == type.getShape() ? moved(b, operand, *shape) : Value());
      if (operands.back())
        continue;
      for (Value made : llvm::reverse(operands))
        if (made && made.use_empty())
          made.getDefiningOp()->erase();
      return;
    }
    OperationState state(op->getLoc(), op->getName(), operands, {type.clone(*shape)}, op->getAttrs());
    Value inRows = b.create(state)->getResult(0);
    members.insert(inRows);
    op->getResult(0).replaceAllUsesWith(ReshapeOp::create(b, op->getLoc(), type, inRows).getResult());
  }

  /// `operand` in the shape of the rows; null if that takes more than another view of small vectors.
  Value moved(OpBuilder &b, Value operand, ArrayRef<int64_t> shape) {
    DenseElementsAttr number;
    if (auto reshape = operand.getDefiningOp<ReshapeOp>(); reshape && isMovable(reshape))
      return reshape.getOperand();
    if (auto broadcast = operand.getDefiningOp<BroadcastInDimOp>(); broadcast && hasPlainNumbers(broadcast))
      return repeatedAs(b, broadcast, shape);
    if (matchPattern(operand, m_Constant(&number)) && number.isSplat())
      return ConstantOp::create(b, operand.getLoc(), number.resizeSplat(typeOf(operand).clone(shape)));
    return {};
  }

  /// Of what was moved here, of what is computed with sums over its rows, of such sums with dimensions of size one.
  bool isMovable(ReshapeOp reshape) {
    Value value = reshape.getOperand();
    Operation *op = value.getDefiningOp();
    if (members.contains(value))
      return true;
    if (!op || op->getBlock() != &block || reshape->getBlock() != &block || !hasPlainNumbers(op))
      return false;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return reduce->getNumResults() == 1 && isTrailing(reduce) && addedUnits(reshape);
    return classify(op) == OpRole::Elementwise && isOfRows(value, typeOf(value).getShape());
  }

  /// Broadcasts a value that has lost its unit dimensions without them.
  void repeatMoved(BroadcastInDimOp broadcast) {
    auto reshape = broadcast.getOperand().getDefiningOp<ReshapeOp>();
    if (!reshape || !members.contains(reshape.getOperand()))
      return;
    std::optional<SmallVector<int64_t>> places = addedUnits(reshape);
    if (!places)
      return;
    SmallVector<int64_t> dims;
    for (int64_t place : *places)
      dims.push_back(broadcast.getBroadcastDimensions()[place]);
    OpBuilder b(broadcast);
    auto direct = BroadcastInDimOp::create(b, broadcast.getLoc(), broadcast.getType(), reshape.getOperand(), b.getDenseI64ArrayAttr(dims));
    broadcast.getResult().replaceAllUsesWith(direct.getResult());
  }

  mlir::Block &block;
  llvm::DenseSet<Value> members;
};

struct SinkReshapes : impl::SinkReshapesPassBase<SinkReshapes> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](mlir::Block &block) {
      Mover(block).run();
    });
  }
};

} // namespace
} // namespace millrace::fusion
