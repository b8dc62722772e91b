// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RefineReshapes.cpp - Replace two splits of an image by one refinement ===//
// Input:   %g = reshape %x : 8x64x64x320 -> 8x4096x32x10, elementwise operations and reductions of %g, reshape back
// Output:  the same on 8x64x64x32x10, which is %x with one dimension split: MergeGroups.cpp computes that on %x itself.
// Leaves alone reshapes that only split or only merge, those without a common refinement, values that reach no reduction that can be done in two
// steps, and reductions of the last dimensions (whose rows fit into the cache) unless convolutions want their images in another order.
#include "passes/layout/Groups.h"

#include "passes/fusion/FusionPolicy.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {
namespace {

bool isTrailing(ArrayRef<int64_t> dims, int64_t rank) {
  return llvm::all_of(dims, [&](int64_t dim) { return dim >= rank - int64_t(dims.size()); });
}

/// Returns the dimensions of the refined shape that correspond to `dims` of the coarse one.
SmallVector<int64_t> refinedDims(ArrayRef<int64_t> dims, const Groups &groups) {
  SmallVector<int64_t> refined;
  for (int64_t dim : dims)
    llvm::append_range(refined, groups[dim]);
  return refined;
}

class Refiner {
public:
  explicit Refiner(Block &block) : block(block) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block) {
      ops.push_back(&op);
      hasConvolution |= isa<ConvolutionOp>(op);
      if (auto reduce = dyn_cast<ReduceOp>(op); reduce && isDivisible(reduce))
        reductions.push_back(reduce);
    }
    if (reductions.empty())
      return;
    for (Operation *op : ops)
      if (auto reshape = dyn_cast<ReshapeOp>(op))
        enter(reshape);
      else if (auto reduce = dyn_cast<ReduceOp>(op))
        reduceRefined(reduce);
      else if (fusion::classify(op) == fusion::OpRole::Elementwise)
        compute(op);
    // Users come later in the block, so operations are visited in reverse.
    for (Operation *op : llvm::reverse(ops))
      if (replaced.contains(op) && op->use_empty())
        op->erase();
  }

private:
  /// Returns true if a reduction of values of shape `coarse` gains from computing them on `refined`, which divides `source`.
  bool isWanted(ArrayRef<int64_t> source, ArrayRef<int64_t> refined, ArrayRef<int64_t> coarse) {
    std::optional<Groups> groups = groupsOf(coarse, refined);
    return groups && llvm::any_of(reductions, [&](ReduceOp op) {
             if (shapeOf(op.getInputs()[0]) != coarse || (!hasConvolution && isTrailing(op.getDimensions(), coarse.size())))
               return false;
             return stagesOf(refinedDims(op.getDimensions(), *groups), refined, source).has_value();
           });
  }

  void remember(Operation *op, Value refined) {
    OpBuilder b(op);
    Value result = op->getResult(0), coarse = reshaped(b, op->getLoc(), refined, shapeOf(result));
    result.replaceAllUsesWith(coarse);
    refinedOf[coarse] = refined;
    replaced.insert(op);
  }

  void enter(ReshapeOp op) {
    if (!cast<RankedTensorType>(op.getType()).hasStaticShape() || !cast<RankedTensorType>(op.getOperand().getType()).hasStaticShape())
      return;
    Value source = op.getOperand();
    OpBuilder b(op);
    if (auto it = refinedOf.find(source); it != refinedOf.end()) {
      // A reshape back to the first form reads the refined value.
      op.getOperandMutable().assign(it->second);
      return;
    }
    ArrayRef<int64_t> from = shapeOf(source), to = shapeOf(op);
    std::optional<SmallVector<int64_t>> refined = commonRefinement(from, to);
    if (!refined || ArrayRef(*refined) == from || ArrayRef(*refined) == to || !isWanted(from, *refined, to))
      return;
    remember(op, reshaped(b, op.getLoc(), source, *refined));
  }

  /// Returns `value` on the refined shape; null if that would separate it from the kernel that computes it.
  Value refine(OpBuilder &b, Value value, ArrayRef<int64_t> refined, const Groups &groups) {
    if (auto it = refinedOf.find(value); it != refinedOf.end())
      return shapeOf(it->second) == refined ? it->second : Value();
    RankedTensorType type = withShape(value.getType(), refined);
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast_or_null<ConstantOp>(op))
      if (auto number = dyn_cast<DenseElementsAttr>(constant.getValue()); number && number.isSplat())
        return ConstantOp::create(b, value.getLoc(), number.resizeSplat(type));
    if (auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op)) {
      SmallVector<int64_t> sizes, dims;
      for (auto [size, dim] : llvm::zip(shapeOf(broadcast.getOperand()), broadcast.getBroadcastDimensions())) {
        if (size == 1)
          continue;
        for (int64_t d : groups[dim]) {
          sizes.push_back(refined[d]);
          dims.push_back(d);
        }
      }
      Value small = reshaped(b, value.getLoc(), broadcast.getOperand(), sizes);
      return BroadcastInDimOp::create(b, value.getLoc(), type, small, b.getDenseI64ArrayAttr(dims));
    }
    if (op && op->getBlock() == &block && fusion::classify(op) != fusion::OpRole::TopLevel)
      return {};
    return reshaped(b, value.getLoc(), value, refined);
  }

  void compute(Operation *op) {
    if (op->getNumResults() != 1)
      return;
    Value result = op->getResult(0), first;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()) || shapeOf(operand) != shapeOf(result))
        return;
      if (!first)
        first = refinedOf.lookup(operand);
    }
    if (!first)
      return;
    ArrayRef<int64_t> refined = shapeOf(first);
    std::optional<Groups> groups = groupsOf(shapeOf(result), refined);
    if (!groups)
      return;
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(refine(b, operand, refined, *groups));
      if (!operands.back())
        return;
    }
    remember(op, computedOn(b, op, operands, refined));
  }

  void reduceRefined(ReduceOp op) {
    if (op.getInputs().size() != 1)
      return;
    Value input = refinedOf.lookup(op.getInputs()[0]);
    if (!input)
      return;
    std::optional<Groups> groups = groupsOf(shapeOf(op.getInputs()[0]), shapeOf(input));
    if (!groups)
      return;
    OpBuilder b(op);
    auto copy = cast<ReduceOp>(b.clone(*op.getOperation()));
    copy->setOperand(0, input);
    SmallVector<int64_t> dims = refinedDims(op.getDimensions(), *groups), kept;
    llvm::sort(dims);
    copy.setDimensions(dims);
    for (auto [dim, size] : llvm::enumerate(shapeOf(input)))
      if (!llvm::is_contained(dims, int64_t(dim)))
        kept.push_back(size);
    copy.getResult(0).setType(withShape(op.getResult(0).getType(), kept));
    op.getResult(0).replaceAllUsesWith(reshaped(b, op.getLoc(), copy.getResult(0), shapeOf(op.getResult(0))));
    llvm::replace(reductions, op, copy);
    replaced.insert(op);
  }

  Block &block;
  SmallVector<ReduceOp> reductions;
  DenseMap<Value, Value> refinedOf; ///< coarse value -> the refined value
  SmallPtrSet<Operation *, 16> replaced;
  bool hasConvolution = false;
};

} // namespace

void refineReshapes(Block &block) { Refiner(block).run(); }

} // namespace millrace::layout
