// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockRows.cpp - Large values a block of rows at a time ---------------===//
// Input:   %l = dot_general %h, %w : tensor<2048x128256xf32> ; %m = reduce max %l, dims = [1] ; %d = exponential (subtract %l, %m) ; ...
//          %gh = dot_general %d, %w : tensor<2048x512xf32> ; %gw = dot_general %d, %h, contracting_dims = [0] x [0]
// Output:  while (%i < 2048) { %hb = dynamic_slice %h, %i : tensor<256x512xf32> ; %lb = dot_general %hb, %w : tensor<256x128256xf32> ; ...
//          %gh = dynamic_update_slice %gh, (dot_general %db, %w), %i ; %gw = add %gw, (dot_general %db, %hb) ; %i = add %i, 256 }
//          The logits of a loss over a vocabulary, and their gradient, are never in memory as a whole: each block of rows goes through forward and
//          backward pass at once. Nothing is computed twice. Sums over all rows are added block by block, in at least f32.
// Leaves alone values that are read as a whole (a forward pass whose gradient is another program keeps its logits), rows that depend on all others (a
// loss that scales its own gradient), batches (attention has its own kernels), few rows, and small values.
//===----------------------------------------------------------------------===//
#include "passes/fusion/pieces/Combiners.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/plan/ProgramBlocks.h"
#include "passes/fusion/pieces/RowRegion.h"

#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

#include <algorithm>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_BLOCKROWSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A block of a contraction has at least as many rows: with fewer, each block brings the weights from memory for too little arithmetic. Unit: rows.
/// Source: arithmetic: a block of r rows does 2 r operations per weight that it loads, and processors of today do some 30 per byte of memory, 120
/// per f32.
constexpr int64_t kMinBlockRows = 256;
/// A block of a contraction of many rows has as many, if that makes at least four blocks: packing the weights for each block costs a
/// twentieth of its arithmetic then. Unit: rows. Source: processor time of cross entropy and gradients of 2048 x 512 over 32768 words on an Intel
/// Xeon (busy): 5.65 s for three executions, as without blocks.
constexpr int64_t kManyBlockRows = 512;

/// Writes a region for some of its rows.
class BlockWriter {
public:
  BlockWriter(OpBuilder &b, const RowRegion &region, int64_t rows, Value start) : b(b), region(region), rows(rows), start(start) {}

  void write() {
    for (Operation *op : region.ops) {
      IRMapping operands;
      for (Value operand : op->getOperands())
        operands.map(operand, localOf(operand));
      Operation *copy = b.clone(*op, operands);
      bool hasRows = region.rowDims.contains(op->getResult(0));
      if (hasRows)
        copy->getResult(0).setType(localType(op->getResult(0), region.rowDims.lookup(op->getResult(0))));
      else
        beginFromNeutral(copy);
      if (auto gather = dyn_cast<GatherOp>(copy))
        resizeSlices(gather, cast<GatherOp>(op));
      copies[op->getResult(0)] = copy->getResult(0);
    }
  }

  Value copyOf(Value result) const { return copies.lookup(result); }

  /// `whole` with the block's rows of `result`.
  Value put(Value whole, Value result) {
    return DynamicUpdateSliceOp::create(b, result.getLoc(), whole.getType(), whole, copyOf(result), startsOf(result, region.rowDims.lookup(result)));
  }

private:
  RankedTensorType localType(Value value, RowDim at) const {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[at.dim] = rows * at.minor;
    return typeOf(value).clone(shape);
  }

  Value localOf(Value value) {
    if (Value copy = copies.lookup(value))
      return copy;
    auto at = region.rowDims.find(value);
    if (at == region.rowDims.end())
      return value;
    Location loc = value.getLoc();
    RankedTensorType type = localType(value, at->second);
    Value local;
    if (auto constant = value.getDefiningOp<ConstantOp>(); constant && isa<SplatElementsAttr>(constant.getValue())) {
      local = ConstantOp::create(b, loc, cast<ElementsAttr>(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type)));
    } else if (auto iota = value.getDefiningOp<IotaOp>()) {
      local = IotaOp::create(b, loc, type, iota.getIotaDimension());
      if (int64_t(iota.getIotaDimension()) == at->second.dim) {
        Value first = ConvertOp::create(b, loc, RankedTensorType::get({}, type.getElementType()), startsOf(value, at->second)[at->second.dim]);
        local = AddOp::create(b, loc, local, BroadcastInDimOp::create(b, loc, type, first, b.getDenseI64ArrayAttr({})));
      }
    } else {
      local = DynamicSliceOp::create(b, loc, type, value, startsOf(value, at->second), b.getDenseI64ArrayAttr(type.getShape()));
    }
    return copies[value] = local;
  }

  SmallVector<Value> startsOf(Value value, RowDim at) {
    Value &zero = scaled[0];
    if (!zero)
      zero = index(0);
    SmallVector<Value> starts(typeOf(value).getRank(), zero);
    Value &here = scaled[at.minor];
    if (!here)
      here = at.minor == 1 ? start : MulOp::create(b, start.getLoc(), start, index(at.minor)).getResult();
    starts[at.dim] = here;
    return starts;
  }

  Value index(int64_t number) {
    auto type = RankedTensorType::get({}, b.getI64Type());
    return ConstantOp::create(b, start.getLoc(), cast<ElementsAttr>(DenseElementsAttr::get(type, b.getI64IntegerAttr(number))));
  }

  /// Makes an operation on the rows of a block start from the neutral element, because its result is combined with those of other blocks.
  void beginFromNeutral(Operation *copy) {
    if (auto reduce = dyn_cast<ReduceOp>(copy)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(copy);
      auto type = typeOf(reduce.getInitValues()[0]);
      Attribute neutral = neutralElement(*combinerOfRows(copy), type.getElementType());
      copy->setOperand(1, ConstantOp::create(b, copy->getLoc(), cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef(neutral)))));
    } else if (auto element = dyn_cast<FloatType>(typeOf(copy->getResult(0)).getElementType()); element && element.getWidth() < 32) {
      copy->getResult(0).setType(typeOf(copy->getResult(0)).clone(b.getF32Type()));
    }
  }

  /// A window as long as the operand's dimension of rows has a block's rows now.
  void resizeSlices(GatherOp copy, GatherOp op) {
    auto at = region.rowDims.find(op.getOperand());
    if (at == region.rowDims.end())
      return;
    SmallVector<int64_t> sizes(op.getSliceSizes());
    if (sizes[at->second.dim] == typeOf(op.getOperand()).getDimSize(at->second.dim) && sizes[at->second.dim] != 1)
      sizes[at->second.dim] = rows * at->second.minor;
    copy.setSliceSizes(sizes);
  }

  OpBuilder &b;
  const RowRegion &region;
  int64_t rows;
  Value start; ///< the block's first row
  DenseMap<Value, Value> copies;
  DenseMap<int64_t, Value> scaled; ///< starts of dimensions by their minor elements
};

class Blocker {
public:
  Blocker(RowRegion region, int64_t rowsOfBlock) : region(std::move(region)), rowsOfBlock(rowsOfBlock) {}

  void run() {
    bringOperands();
    OpBuilder b(region.seed);
    Location loc = region.seed->getLoc();
    SmallVector<Value> state{index(b, loc, 0)};
    for (Value value : region.stacked)
      state.push_back(filled(b, typeOf(value), b.getZeroAttr(typeOf(value).getElementType())));
    for (Value value : region.combined)
      state.push_back(startOf(b, value));
    int64_t whole = region.rows / rowsOfBlock * rowsOfBlock;
    state = loop(b, loc, state, whole);
    if (whole < region.rows)
      state = block(b, state, region.rows - whole);
    replace(b, ArrayRef(state).drop_front());
  }

private:
  static Value index(OpBuilder &b, Location loc, int64_t number) {
    auto type = RankedTensorType::get({}, b.getI64Type());
    return ConstantOp::create(b, loc, cast<ElementsAttr>(DenseElementsAttr::get(type, b.getI64IntegerAttr(number))));
  }

  static Value filled(OpBuilder &b, RankedTensorType type, Attribute number) {
    return ConstantOp::create(b, b.getUnknownLoc(), cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef(number))));
  }

  /// Narrow floats are added up as f32.
  static RankedTensorType sumType(Value value) {
    RankedTensorType type = typeOf(value);
    auto element = dyn_cast<FloatType>(type.getElementType());
    return element && element.getWidth() < 32 ? cast<RankedTensorType>(type.clone(Float32Type::get(type.getContext()))) : type;
  }

  static Value startOf(OpBuilder &b, Value value) {
    RankedTensorType type = sumType(value);
    if (auto reduce = value.getDefiningOp<ReduceOp>())
      return BroadcastInDimOp::create(b, value.getLoc(), type, reduce.getInitValues()[0], b.getDenseI64ArrayAttr({}));
    return filled(b, type, b.getZeroAttr(type.getElementType()));
  }

  /// Moves the region's operands in front of the seed.
  void bringOperands() {
    Block *block = region.seed->getBlock();
    llvm::SetVector<Operation *> needed;
    auto visit = [&](Operation *op, bool isOutside) {
      llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), read);
      for (Value value : read)
        if (Operation *maker = value.getDefiningOp(); maker && maker->getBlock() == block && region.seed->isBeforeInBlock(maker) &&
                                                      (isOutside || !region.ops.contains(maker)))
          needed.insert(maker);
    };
    for (Operation *op : region.ops)
      visit(op, false);
    for (size_t i = 0; i < needed.size(); ++i)
      visit(needed[i], true);
    SmallVector<Operation *> sorted(needed.begin(), needed.end());
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : sorted)
      op->moveBefore(region.seed);
  }

  SmallVector<Value> block(OpBuilder &b, ArrayRef<Value> state, int64_t rows) {
    BlockWriter writer(b, region, rows, state[0]);
    writer.write();
    SmallVector<Value> next{AddOp::create(b, state[0].getLoc(), state[0], index(b, state[0].getLoc(), rows))};
    for (auto [i, value] : llvm::enumerate(region.stacked))
      next.push_back(writer.put(state[1 + i], value));
    for (auto [i, value] : llvm::enumerate(region.combined))
      next.push_back(combined(b, value, state[1 + region.stacked.size() + i], writer.copyOf(value)));
    return next;
  }

  static Value combined(OpBuilder &b, Value value, Value sum, Value part) {
    Operation *combine = combinerOfRows(value.getDefiningOp());
    if (isa<DotGeneralOp>(combine))
      return AddOp::create(b, value.getLoc(), sum, part);
    Value operands[] = {sum, part};
    Type types[] = {sum.getType()};
    OperationState made(value.getLoc(), combine->getName(), operands, types, combine->getAttrs());
    return b.create(made)->getResult(0);
  }

  SmallVector<Value> loop(OpBuilder &b, Location loc, ArrayRef<Value> inits, int64_t end) {
    SmallVector<Type> types = llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
    SmallVector<Location> locs(inits.size(), loc);
    auto made = WhileOp::create(b, loc, types, inits);
    OpBuilder::InsertionGuard guard(b);
    Block *cond = b.createBlock(&made.getCond(), {}, types, locs);
    Value more = CompareOp::create(b, loc, cond->getArgument(0), index(b, loc, end), ComparisonDirection::LT);
    ReturnOp::create(b, loc, more);
    Block *body = b.createBlock(&made.getBody(), {}, types, locs);
    SmallVector<Value> state(body->args_begin(), body->args_end());
    state = block(b, state, rowsOfBlock);
    ReturnOp::create(b, loc, state);
    return SmallVector<Value>(made->getResults());
  }

  void replace(OpBuilder &b, ArrayRef<Value> results) {
    SmallVector<Value> olds(region.stacked);
    llvm::append_range(olds, region.combined);
    for (auto [old, now] : llvm::zip_equal(olds, results)) {
      Value same = now.getType() == old.getType() ? now : ConvertOp::create(b, old.getLoc(), old.getType(), now).getResult();
      Value(old).replaceUsesWithIf(same, [&](OpOperand &use) { return !region.ops.contains(use.getOwner()); });
    }
    for (Operation *op : llvm::reverse(region.ops.getArrayRef()))
      if (op->use_empty())
        op->erase();
  }

  RowRegion region;
  int64_t rowsOfBlock;
};

/// The number of a block's rows; 0 if there would be one block.
int64_t chooseRows(int64_t rows, int64_t rowsOfContraction) {
  int64_t wanted = std::clamp(rowsOfContraction / 4, kMinBlockRows, kManyBlockRows);
  int64_t least = llvm::divideCeil(wanted, rowsOfContraction / rows);
  if (2 * least > rows)
    return 0;
  // Blocks of one size, if there is such a size.
  for (int64_t size = least; size < 2 * least; ++size)
    if (rows % size == 0)
      return size;
  return least;
}

/// reshape of a convert where only one of both orders leaves the reshape beside another: conversions of large values move in front of reshapes.
void moveConversion(ConvertOp convert, int64_t minBytes) {
  auto reshape = convert.getOperand().getDefiningOp<ReshapeOp>();
  if (!reshape || !reshape->hasOneUse() || reshape->getBlock() != convert->getBlock() || bytesOf(convert.getType()).value_or(0) < minBytes)
    return;
  OpBuilder b(reshape);
  RankedTensorType type = cast<RankedTensorType>(typeOf(reshape.getOperand()).clone(typeOf(convert).getElementType()));
  Value converted = ConvertOp::create(b, convert.getLoc(), type, reshape.getOperand());
  Value result = ReshapeOp::create(b, reshape.getLoc(), typeOf(convert), converted);
  convert.getResult().replaceAllUsesWith(result);
  convert.erase();
  reshape.erase();
  // A reshape of a reshape is one, or none.
  for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
    if (auto next = dyn_cast<ReshapeOp>(user)) {
      if (next.getType() == converted.getType()) {
        next.getResult().replaceAllUsesWith(converted);
        next.erase();
      } else {
        next.setOperand(converted);
      }
    }
  if (result.use_empty())
    result.getDefiningOp()->erase(); // an unused reshape would be a reader of the whole value
}

struct BlockRows : impl::BlockRowsPassBase<BlockRows> {
  using BlockRowsPassBase::BlockRowsPassBase;

  void runOnOperation() override {
    if (minBytes <= 0)
      return;
    refused.clear();
    forEachProgramBlock(getOperation(), [&](Block &block) {
      for (ConvertOp convert : llvm::to_vector(block.getOps<ConvertOp>())) // reshapes between them are erased
        moveConversion(convert, minBytes);
      // One after the other: a region's operations are gone when it is a loop.
      while (blockOne(block))
        ;
    });
  }

  bool blockOne(Block &block) {
    for (auto dot : block.getOps<DotGeneralOp>()) {
      auto type = dyn_cast<RankedTensorType>(dot.getType());
      DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
      if (!type || !type.hasStaticShape() || !typeOf(dot.getLhs()).hasStaticShape() || !typeOf(dot.getRhs()).hasStaticShape() ||
          !numbers.getLhsBatchingDimensions().empty() || !type.getElementType().isIntOrFloat() ||
          type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8u) < minBytes)
        continue;
      // The dimension of the most rows first.
      ArrayRef<int64_t> shape = typeOf(dot.getLhs()).getShape();
      SmallVector<int64_t> dims;
      int64_t rows = 1;
      for (auto [dim, size] : llvm::enumerate(shape))
        if (!llvm::is_contained(numbers.getLhsContractingDimensions(), int64_t(dim))) {
          dims.push_back(dim);
          rows *= size;
        }
      llvm::stable_sort(dims, [&](int64_t a, int64_t b) { return shape[a] > shape[b]; });
      StringRef why = "too few rows";
      for (int64_t dim : dims) {
        int64_t size = shape[dim] > 1 ? chooseRows(shape[dim], rows) : 0;
        if (size == 0)
          continue;
        if (std::optional<RowRegion> region = findRowRegion(dot, dim, minBytes, why)) {
          Blocker(std::move(*region), size).run();
          return true;
        }
      }
      if (refused.insert(dot).second)
        remark::missed(dot.getLoc(), remark::RemarkOpts::name("not-in-blocks").category("xla-block-rows")) << "not computed in blocks of rows: " << why;
    }
    return false;
  }

  llvm::SmallPtrSet<Operation *, 4> refused; ///< those that have a remark
};

} // namespace
} // namespace millrace::fusion
