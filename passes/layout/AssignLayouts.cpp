// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AssignLayouts.cpp - Choose channels-last orders for images ----------===//
// Input:   stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], then relu, then pooling
// Output:  stablehlo.convolution(transpose(%x), transpose(%k)) dim_numbers = [b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f], relu and
//          pooling of the transposed values, transposes only where operations that require row-major order read them
//          Groups of few channels have their channels before the image instead, so that lanes run along its rows.
// Leaves alone blocks without a convolution that would gain, values of dynamic shape, quantized values.
#include "passes/Remarks.h"
#include "passes/layout/LayoutPlan.h"
#include "passes/layout/Passes.h"

#include <map>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "passes/layout/Passes.h.inc"

namespace {

class Mover {
public:
  explicit Mover(Block &block) : block(block), plan(block) {}

  void run() {
    if (!plan.hasMoves()) {
      for (Operation &op : block)
        if (isa<ConvolutionOp>(op))
          remarkMissed(&op, "xla-assign-layouts", "no order of dimensions costs less than the program's");
      return;
    }
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops)
      move(op);
    for (Operation *op : llvm::reverse(replaced)) {
      for (Value result : op->getResults())
        if (!result.use_empty())
          result.replaceAllUsesWith(in(result, identityLayout(cast<RankedTensorType>(result.getType()).getRank())));
      op->erase();
    }
  }

private:
  struct Moved {
    Value value;
    Layout layout;
  };

  Moved current(Value value) const {
    auto it = moved.find(value);
    if (it != moved.end())
      return it->second;
    return {value, identityLayout(cast<RankedTensorType>(value.getType()).getRank())};
  }

  /// Returns `value` in the order `layout`; the transpose is created once, next to the definition.
  Value in(Value value, const Layout &layout) {
    Moved now = current(value);
    if (now.layout == layout)
      return now.value;
    Value &made = cache[{value.getAsOpaquePointer(), layout}];
    if (made)
      return made;
    OpBuilder builder(block.getParentOp());
    if (now.value.getParentBlock() == &block && now.value.getDefiningOp())
      builder.setInsertionPointAfterValue(now.value);
    else
      builder.setInsertionPointToStart(&block);
    Layout positions = inverse(now.layout), permutation;
    for (int64_t dim : layout)
      permutation.push_back(positions[dim]);
    if (isNumber(value))
      return made = number(builder, cast<ConstantOp>(value.getDefiningOp()), layout);
    return made = transpose(builder, value.getLoc(), now.value, permutation);
  }

  static Value number(OpBuilder &builder, ConstantOp op, const Layout &layout) {
    auto value = cast<DenseElementsAttr>(op.getValue());
    return ConstantOp::create(builder, op.getLoc(), value.resizeSplat(permuted(cast<RankedTensorType>(op.getType()), layout)));
  }

  void record(Operation *op, ValueRange values, const Layout &layout) {
    for (auto [old, value] : llvm::zip_equal(op->getResults(), values))
      moved[old] = {value, layout};
    replaced.push_back(op);
  }

  void move(Operation *op) {
    switch (freedomOf(op)) {
    case Freedom::None:
      return;
    case Freedom::Tied:
      return moveTied(op);
    case Freedom::Source:
      return moveSource(op);
    case Freedom::Reduction:
      return moveReduction(cast<ReduceOp>(op));
    case Freedom::Transpose:
      return moveTranspose(cast<TransposeOp>(op));
    case Freedom::Convolution:
      return moveConvolution(cast<ConvolutionOp>(op));
    }
  }

  static DenseI64ArrayAttr permutedOr(DenseI64ArrayAttr attr, const Layout &layout) {
    return attr ? DenseI64ArrayAttr::get(attr.getContext(), permuted(attr.asArrayRef(), layout)) : attr;
  }
  static DenseIntElementsAttr permutedRows(DenseIntElementsAttr attr, const Layout &layout) {
    if (!attr || attr.isSplat())
      return attr;
    auto values = llvm::to_vector(attr.getValues<APInt>());
    SmallVector<APInt> rows;
    for (int64_t dim : layout)
      rows.append({values[2 * dim], values[2 * dim + 1]});
    return DenseIntElementsAttr::get(attr.getType(), rows);
  }
  static DenseI64ArrayAttr positionsOf(DenseI64ArrayAttr dims, const Layout &layout) {
    Layout positions = inverse(layout);
    SmallVector<int64_t> result;
    for (int64_t dim : dims.asArrayRef())
      result.push_back(positions[dim]);
    return DenseI64ArrayAttr::get(dims.getContext(), result);
  }

  void moveTied(Operation *op) {
    Layout layout = plan.layoutOf(op->getResult(0));
    if (isIdentity(layout))
      return;
    OpBuilder builder(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(hasLayout(operand) ? in(operand, layout) : operand);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    for (Value result : copy->getResults())
      result.setType(permuted(cast<RankedTensorType>(result.getType()), layout));
    if (auto pad = dyn_cast<PadOp>(copy)) {
      pad.setEdgePaddingLowAttr(permutedOr(pad.getEdgePaddingLowAttr(), layout));
      pad.setEdgePaddingHighAttr(permutedOr(pad.getEdgePaddingHighAttr(), layout));
      pad.setInteriorPaddingAttr(permutedOr(pad.getInteriorPaddingAttr(), layout));
    } else if (auto slice = dyn_cast<SliceOp>(copy)) {
      slice.setStartIndicesAttr(permutedOr(slice.getStartIndicesAttr(), layout));
      slice.setLimitIndicesAttr(permutedOr(slice.getLimitIndicesAttr(), layout));
      slice.setStridesAttr(permutedOr(slice.getStridesAttr(), layout));
    } else if (auto reverse = dyn_cast<ReverseOp>(copy)) {
      reverse.setDimensionsAttr(positionsOf(reverse.getDimensionsAttr(), layout));
    } else if (auto concatenate = dyn_cast<ConcatenateOp>(copy)) {
      concatenate.setDimension(inverse(layout)[concatenate.getDimension()]);
    } else if (auto window = dyn_cast<ReduceWindowOp>(copy)) {
      window.setWindowDimensionsAttr(permutedOr(window.getWindowDimensionsAttr(), layout));
      window.setWindowStridesAttr(permutedOr(window.getWindowStridesAttr(), layout));
      window.setBaseDilationsAttr(permutedOr(window.getBaseDilationsAttr(), layout));
      window.setWindowDilationsAttr(permutedOr(window.getWindowDilationsAttr(), layout));
      window.setPaddingAttr(permutedRows(window.getPaddingAttr(), layout));
    } else if (auto scatter = dyn_cast<SelectAndScatterOp>(copy)) {
      scatter.setWindowDimensionsAttr(permutedOr(scatter.getWindowDimensionsAttr(), layout));
      scatter.setWindowStridesAttr(permutedOr(scatter.getWindowStridesAttr(), layout));
      scatter.setPaddingAttr(permutedRows(scatter.getPaddingAttr(), layout));
    }
    record(op, copy->getResults(), layout);
  }

  void moveSource(Operation *op) {
    Layout layout = plan.layoutOf(op->getResult(0));
    auto broadcast = dyn_cast<BroadcastInDimOp>(op);
    Moved source = broadcast ? current(broadcast.getOperand()) : Moved{};
    if (isIdentity(layout) && isIdentity(source.layout))
      return;
    OpBuilder builder(op);
    RankedTensorType type = permuted(cast<RankedTensorType>(op->getResult(0).getType()), layout);
    Value made;
    if (broadcast) {
      Layout positions = inverse(layout);
      SmallVector<int64_t> dims;
      for (int64_t dim : source.layout)
        dims.push_back(positions[broadcast.getBroadcastDimensions()[dim]]);
      made = BroadcastInDimOp::create(builder, op->getLoc(), type, source.value, builder.getDenseI64ArrayAttr(dims));
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      made = IotaOp::create(builder, op->getLoc(), type, inverse(layout)[iota.getIotaDimension()]);
    } else {
      made = number(builder, cast<ConstantOp>(op), layout);
    }
    record(op, made, layout);
  }

  void moveReduction(ReduceOp op) {
    Layout layout = plan.layoutOf(op.getInputs()[0]);
    if (isIdentity(layout))
      return;
    OpBuilder builder(op);
    SmallVector<Value> operands;
    for (Value input : op.getInputs())
      operands.push_back(in(input, layout));
    llvm::append_range(operands, op.getInitValues());
    auto copy = cast<ReduceOp>(builder.clone(*op.getOperation()));
    copy->setOperands(operands);
    SmallVector<int64_t> dims(positionsOf(op.getDimensionsAttr(), layout).asArrayRef());
    llvm::sort(dims);
    copy.setDimensions(dims);
    // Dimension d of the operand is dimension d - (number of reduced dimensions before it) of the result.
    Layout kept;
    for (int64_t dim : layout)
      if (!llvm::is_contained(op.getDimensions(), dim))
        kept.push_back(dim - llvm::count_if(op.getDimensions(), [&](int64_t reduced) { return reduced < dim; }));
    for (Value result : copy->getResults())
      result.setType(permuted(cast<RankedTensorType>(result.getType()), kept));
    record(op, copy->getResults(), kept);
  }

  void moveTranspose(TransposeOp op) {
    Layout layout = plan.layoutOf(op.getResult());
    Moved source = current(op.getOperand());
    if (isIdentity(layout) && isIdentity(source.layout))
      return;
    OpBuilder builder(op);
    Layout positions = inverse(source.layout), permutation;
    for (int64_t dim : layout)
      permutation.push_back(positions[op.getPermutation()[dim]]);
    record(op, transpose(builder, op.getLoc(), source.value, permutation), layout);
  }

  void moveConvolution(ConvolutionOp op) {
    ConvolutionLayouts layouts = plan.layoutsOf(op);
    if (isIdentity(layouts.lhs) && isIdentity(layouts.rhs) && isIdentity(layouts.result))
      return;
    OpBuilder builder(op);
    Value operands[] = {in(op.getLhs(), layouts.lhs), in(op.getRhs(), layouts.rhs)};
    auto copy = cast<ConvolutionOp>(builder.clone(*op.getOperation()));
    copy->setOperands(operands);
    copy.setDimensionNumbersAttr(movedNumbers(op.getDimensionNumbers(), layouts));
    copy.getResult().setType(permuted(cast<RankedTensorType>(op.getType()), layouts.result));
    record(op, copy->getResults(), layouts.result);
  }

  Block &block;
  LayoutPlan plan;
  DenseMap<Value, Moved> moved;
  std::map<std::pair<void *, Layout>, Value> cache;
  SmallVector<Operation *> replaced;
};

struct AssignLayouts : impl::AssignLayoutsPassBase<AssignLayouts> {
  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation().walk([&](ConvolutionOp op) { blocks.insert(op->getBlock()); });
    for (Block *block : blocks)
      Mover(*block).run();
  }
};

} // namespace
} // namespace millrace::layout
