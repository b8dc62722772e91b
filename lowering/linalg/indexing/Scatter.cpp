// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scatter.cpp - stablehlo.scatter to loops ---------------------------===//
// Input:   "stablehlo.scatter"(%inputs..., %indices, %updates...) ({update computation})
// Output:  scf.for over the scatter positions of %updates (row-major and sequential, hence deterministic). Each position reads its start
//          indices and loops over the part of its window that is inside of %inputs:
//          result(start + w) = computation(result(start + w), update(scatter position, w))
// Short rows are processed as vectors. Threads share the positions of a batch along the first dimension.
// Long rows are cut into parts of their columns, each of which a separate call may scatter: no two calls write to one element, and every element is
// updated in the same order. Where most of what is stored are constants, each call has rows of its own instead, fills them as one range and skips the
// positions of other rows.
// Elements out of bounds are skipped one by one by clipping the window loops, without a test per element. The result is updated in place if %inputs
// have no later use. Leaves alone computations that are not scalar (emitScalarRegion fails).
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/pieces/ScatterRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// The largest number of parts of a row, or of all rows, that threads share; each part reads all indices. Unit: parts. Source: judgement, not measured
/// alone; commit f0202b4 has the figures of the whole change.
constexpr int64_t kMaxRowParts = 8;
/// Scatters of fewer elements are not shared, because they take about ten microseconds on one thread. Unit: numbers that are scattered. Source:
/// judgement, not measured alone; commit f0202b4 has the figures of the whole change.
constexpr int64_t kMinSharedElements = 1 << 15;
/// Calls share rows instead of columns if so many elements are filled for each that is scattered. Unit: elements of the inputs for each of the updates.
/// Source: xla-run --repeat=100, Xeon, one thread: 256 rows of 768 f32 into 1024 of zeros 0.27 to 0.12 ms, into 4096 3.7 to 0.52, into 50257 60 to 15.
constexpr int64_t kMinFilledShare = 4;
/// Longer rows are loops. Unit: elements of a row. Source: judgement, not measured alone; commit 24d4e28 has the figures of the whole change.
constexpr int64_t kMaxVectorRow = 64;

/// Returns true for numbers that vectors can hold and whose storage and compute types are equal.
bool isVectorElement(Type element) {
  return element.isF32() || element.isF64() || (element.isIntOrIndex() && !element.isIndex() && element.getIntOrFloatBitWidth() >= 8);
}

/// Returns the splat constant that `value` is a broadcast of, or null.
DenseElementsAttr splatOf(Value value) {
  while (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr attr;
  return matchPattern(value, m_Constant(&attr)) && attr.isSplat() ? attr : DenseElementsAttr();
}

/// Returns true if the kernel updates the inputs' memory in place.
bool updatesItsArguments(stablehlo::ScatterOp op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto pairs = kernel ? fusion::inPlacePairs(kernel) : SmallVector<std::pair<unsigned, unsigned>>();
  return llvm::all_of(op.getInputs(), [&](Value input) {
    auto argument = dyn_cast<BlockArgument>(input);
    return argument && llvm::any_of(pairs, [&](auto pair) { return pair.first == argument.getArgNumber(); });
  });
}

/// Returns the operation if the computation is a single one, or Other if it returns the update.
std::optional<Reducer> simpleComputation(Region &computation) {
  Block &block = computation.front();
  if (block.getNumArguments() != 2)
    return std::nullopt;
  if (llvm::hasSingleElement(block) && block.getTerminator()->getOperand(0) == block.getArgument(1))
    return Reducer::Other; // returns the update
  Reducer reducer = classifyReducer(computation);
  return reducer == Reducer::Other ? std::nullopt : std::optional(reducer);
}

/// Emits the operation on vectors; `isUnsigned` says whether integers are.
Value combineVectors(LoopBuilder &l, Reducer reducer, Value old, Value update, bool isUnsigned) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(old.getType()));
  switch (reducer) {
  case Reducer::Add:
    return isFloat ? arith::AddFOp::create(l.b, l.loc, old, update).getResult() : arith::AddIOp::create(l.b, l.loc, old, update).getResult();
  case Reducer::Multiply:
    return isFloat ? arith::MulFOp::create(l.b, l.loc, old, update).getResult() : arith::MulIOp::create(l.b, l.loc, old, update).getResult();
  case Reducer::Minimum:
    return isFloat      ? arith::MinimumFOp::create(l.b, l.loc, old, update).getResult()
           : isUnsigned ? arith::MinUIOp::create(l.b, l.loc, old, update).getResult()
                        : arith::MinSIOp::create(l.b, l.loc, old, update).getResult();
  case Reducer::Maximum:
    return isFloat      ? arith::MaximumFOp::create(l.b, l.loc, old, update).getResult()
           : isUnsigned ? arith::MaxUIOp::create(l.b, l.loc, old, update).getResult()
                        : arith::MaxSIOp::create(l.b, l.loc, old, update).getResult();
  case Reducer::And: return arith::AndIOp::create(l.b, l.loc, old, update);
  case Reducer::Or: return arith::OrIOp::create(l.b, l.loc, old, update);
  case Reducer::Other: return update;
  }
  llvm_unreachable("not a reducer");
}

/// Returns the widths of the vectors of a short row: powers of two of at most 64 bytes, single elements at the end.
SmallVector<int64_t> vectorsOf(int64_t size, unsigned bits) {
  SmallVector<int64_t> widths;
  for (int64_t width = 512 / bits; size > 0; width /= 2)
    for (; size >= width; size -= width)
      widths.push_back(width);
  return widths;
}

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The lowering of one scatter.
class ScatterLoops {
public:
  ScatterLoops(LoopBuilder &l, stablehlo::ScatterOp op, stablehlo::ScatterOp::Adaptor adaptor)
      : l(l), op(op), numbers(op.getScatterDimensionNumbers()), computation(op.getUpdateComputation()), inputs(adaptor.getInputs()),
        updates(adaptor.getUpdates()), indices(adaptor.getScatterIndices()), indexElement(getElementTypeOrSelf(op.getScatterIndices().getType())),
        count(inputs.size()), inputRank(tensorType(inputs[0]).getRank()), updateRank(tensorType(updates[0]).getRank()),
        indicesRank(tensorType(indices).getRank()), vectorDim(numbers.getIndexVectorDim()), windowDims(numbers.getUpdateWindowDims()) {
    for (size_t i = 0; i < count; ++i) {
      inputElements.push_back(getElementTypeOrSelf(op.getInputs()[i].getType()));
      updateElements.push_back(getElementTypeOrSelf(op.getUpdates()[i].getType()));
      resultElements.push_back(getElementTypeOrSelf(computation.getArgument(i).getType()));
      state.push_back(convertTensor(l, inputs[i], inputElements[i], resultElements[i]));
    }
    for (int64_t d = 0; d < updateRank; ++d)
      if (!llvm::is_contained(windowDims, d))
        scatterDims.push_back(d);
    for (int64_t d = 0; d < inputRank; ++d)
      if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) && !llvm::is_contained(numbers.getInputBatchingDims(), d))
        windowInputDims.push_back(d);
    inputSizes = l.dims(inputs[0]);
    updateSizes = l.dims(updates[0]);
    for (int64_t d : scatterDims)
      scatterSizes.push_back(updateSizes[d]);
  }

  /// Returns the results in their storage types. Fails if the computation is not scalar.
  FailureOr<SmallVector<Value>> emit() {
    isMade = llvm::all_of(op.getInputs(), [](Value input) { return bool(splatOf(input)); });
    chooseCut();
    chooseVectors();
    SmallVector<Value> results = cutInput < 0 ? emitWhole() : emitParts();
    if (failedBody)
      return failure();
    return results;
  }

private:
  /// Where the window of one position begins, and the part of it that is inside of the inputs.
  struct Window {
    ValueRange position;
    SmallVector<Value> start, froms, tos;
  };

  /// Chooses the dimension to cut: the first one of filled inputs whose rows the indices choose, if most rows stay as they are; else the last one of the
  /// window, if every window covers all of it and no index moves it.
  void chooseCut() {
    if (windowDims.empty() || !(isMade || updatesItsArguments(op)))
      return;
    RankedTensorType updateType = tensorType(updates[0]), inputType = tensorType(inputs[0]);
    int64_t size = updateType.getDimSize(windowDims.back()), dimension = windowInputDims.back();
    if (updateType.hasStaticShape() && updateType.getNumElements() >= kMinSharedElements && fusion::hasSharedScatterRows(size) &&
        inputType.hasStaticShape() && inputType.getDimSize(dimension) == size &&
        !llvm::is_contained(numbers.getScatterDimsToOperandDims(), dimension)) {
      cutsRows = isMade && inputType.getNumElements() >= kMinFilledShare * updateType.getNumElements() &&
                 llvm::is_contained(numbers.getInsertedWindowDims(), 0) && llvm::is_contained(numbers.getScatterDimsToOperandDims(), 0);
      cutInput = cutsRows ? 0 : dimension;
      size = inputType.getDimSize(cutInput);
      partSize = llvm::divideCeil(size, std::min(kMaxRowParts, cutsRows ? size : size / fusion::kMinScatterPart));
      parts = llvm::divideCeil(size, partSize);
    }
  }

  /// Chooses vectors for the rows of the window, which must be contiguous in updates and inputs, of one type that vectors support.
  void chooseVectors() {
    simple = count == 1 ? simpleComputation(computation) : std::nullopt;
    if (!simple || cutInput >= 0 || windowDims.empty() || windowDims.back() != updateRank - 1 || windowInputDims.back() != inputRank - 1 ||
        llvm::is_contained(numbers.getScatterDimsToOperandDims(), inputRank - 1) || inputElements[0] != resultElements[0] ||
        updateElements[0] != resultElements[0] || !isVectorElement(resultElements[0]))
      return;
    int64_t size = tensorType(updates[0]).getDimSize(updateRank - 1);
    if (!ShapedType::isDynamic(size) && size > 1 && size <= kMaxVectorRow && tensorType(inputs[0]).getDimSize(inputRank - 1) == size)
      widths = vectorsOf(size, resultElements[0].getIntOrFloatBitWidth());
  }

  SmallVector<Value> emitPositions(LoopBuilder &at, ValueRange running) {
    return at.nest(scatterSizes, running,
                   [&](LoopBuilder &outer, ValueRange position, ValueRange carried) { return emitPosition(outer, position, carried); });
  }

  /// Emits all positions, one after the other.
  SmallVector<Value> emitWhole() {
    SmallVector<Value> results = emitPositions(l, state);
    // Positions of different batches write to different elements.
    auto batch = llvm::find(numbers.getScatterIndicesBatchingDims(), 0);
    if (vectorDim != 0 && batch != numbers.getScatterIndicesBatchingDims().end() &&
        numbers.getInputBatchingDims()[batch - numbers.getScatterIndicesBatchingDims().begin()] == 0)
      markParallel(results[0], kParallelRowsAttr);
    else if (op.getUniqueIndices() && updatesItsArguments(op) && tensorType(updates[0]).hasStaticShape() &&
             tensorType(updates[0]).getNumElements() >= kMinSharedElements)
      markParallel(results[0], kParallelPartsAttr); // no two positions are equal
    return results;
  }

  /// Emits all positions for one part of the columns after the other.
  SmallVector<Value> emitParts() {
    if (isMade)
      for (size_t i = 0; i < count; ++i) {
        auto type = RankedTensorType::get(tensorType(inputs[i]).getShape(), storageElementType(resultElements[i]));
        state[i] = count == 1 ? l.empty(type, l.foldedDims(inputs[i])) : l.scratch(type, l.foldedDims(inputs[i]));
      }
    SmallVector<Value> results =
        l.loop(l.index(0), l.index(parts), l.index(1), state, [&](LoopBuilder &part, ValueRange iv, ValueRange carried) {
          partFrom = part.mul(iv[0], part.index(partSize));
          partTo = part.min(part.add(partFrom, part.index(partSize)), inputSizes[cutInput]);
          return emitPositions(part, isMade ? emitSplats(part, carried) : llvm::to_vector(carried));
        });
    markParallel(results[0], kParallelPartsAttr);
    return results;
  }

  /// Fills the part with the inputs' constants before the updates.
  SmallVector<Value> emitSplats(LoopBuilder &part, ValueRange carried) {
    SmallVector<Value> froms(inputRank, part.index(0)), tos = inputSizes;
    froms[cutInput] = partFrom, tos[cutInput] = partTo;
    return part.nest(froms, tos, carried, [&](LoopBuilder &in, ValueRange at, ValueRange running) {
      SmallVector<Value> next;
      for (size_t i = 0; i < count; ++i) {
        Value first = emitConstant(in.b, in.loc, splatOf(op.getInputs()[i]), inputElements[i]);
        first = toStorage(in.b, in.loc, convertElement(in, first, inputElements[i], resultElements[i]), resultElements[i]);
        next.push_back(in.insert(first, running[i], at));
      }
      return next;
    });
  }

  /// Emits the updates of one position.
  SmallVector<Value> emitPosition(LoopBuilder &outer, ValueRange position, ValueRange carried) {
    Value zero = outer.index(0);
    Window window{position, SmallVector<Value>(inputRank), {}, {}};
    SmallVector<Value> &start = window.start;
    for (auto [k, d] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      SmallVector<Value> where = llvm::to_vector(position);
      if (vectorDim < indicesRank)
        where.insert(where.begin() + vectorDim, outer.index(k));
      start[d] = outer.toIndex(outer.extract(indices, where), indexElement);
    }
    // Dimensions without a window loop must be completely inside.
    Value inside;
    for (int64_t d : numbers.getInsertedWindowDims()) {
      if (start[d] && cutsRows && d == cutInput)
        inside = outer.logicalAnd(inside, outer.compare(arith::CmpIPredicate::ult, outer.sub(start[d], partFrom), outer.sub(partTo, partFrom)));
      else if (start[d])
        inside = outer.logicalAnd(inside, outer.compare(arith::CmpIPredicate::ult, start[d], inputSizes[d]));
      else
        start[d] = zero;
    }
    for (auto [inputDim, indicesDim] : llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
      start[inputDim] = position[indicesDim < vectorDim ? indicesDim : indicesDim - 1];
    // The other dimensions are clipped: 0 <= start + w < size.
    for (auto [updateDim, inputDim] : llvm::zip(windowDims, windowInputDims)) {
      if (!start[inputDim]) {
        start[inputDim] = zero;
        window.froms.push_back(inputDim == cutInput ? partFrom : zero);
        window.tos.push_back(inputDim == cutInput ? partTo : updateSizes[updateDim]);
        continue;
      }
      window.froms.push_back(outer.max(outer.sub(zero, start[inputDim]), zero));
      window.tos.push_back(outer.min(outer.sub(inputSizes[inputDim], start[inputDim]), updateSizes[updateDim]));
    }
    if (!inside)
      return emitWindow(outer, window, carried);
    SmallVector<Type> types(carried.getTypes());
    auto guarded = scf::IfOp::create(outer.b, outer.loc, types, inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(outer.b);
    outer.b.setInsertionPointToStart(guarded.thenBlock());
    scf::YieldOp::create(outer.b, outer.loc, emitWindow(outer, window, carried));
    outer.b.setInsertionPointToStart(guarded.elseBlock());
    scf::YieldOp::create(outer.b, outer.loc, carried);
    return llvm::to_vector_of<Value>(guarded.getResults());
  }

  SmallVector<Value> emitWindow(LoopBuilder &at, const Window &window, ValueRange carried) {
    if (widths.empty())
      return at.nest(window.froms, window.tos, carried,
                     [&](LoopBuilder &in, ValueRange offsets, ValueRange running) { return emitElement(in, window, offsets, running); });
    return at.nest(ArrayRef(window.froms).drop_back(), ArrayRef(window.tos).drop_back(), carried,
                   [&](LoopBuilder &in, ValueRange offsets, ValueRange running) { return emitRow(in, window, offsets, running); });
  }

  /// Computes the positions in updates (`from`) and inputs (`to`) of the window's element at `offsets`, for its first `dims` dimensions.
  void findElement(LoopBuilder &in, const Window &window, ArrayRef<int64_t> dims, ValueRange offsets, SmallVector<Value> &from,
                   SmallVector<Value> &to) const {
    from.resize(updateRank);
    to = window.start;
    for (auto [d, value] : llvm::zip(scatterDims, window.position))
      from[d] = value;
    for (auto [updateDim, inputDim, value] : llvm::zip(dims, windowInputDims, offsets)) {
      from[updateDim] = value;
      to[inputDim] = in.add(window.start[inputDim], value);
    }
  }

  /// Emits a short row as vectors.
  SmallVector<Value> emitRow(LoopBuilder &in, const Window &window, ValueRange offsets, ValueRange running) {
    SmallVector<Value> from, to;
    findElement(in, window, windowDims.drop_back(), offsets, from, to);
    Value result = running[0], none = in.zero(storageElementType(resultElements[0]));
    int64_t place = 0;
    for (int64_t width : widths) {
      auto type = VectorType::get({width}, none.getType());
      from.back() = to.back() = in.index(place);
      auto read = [&](Value tensor, ValueRange at) -> Value {
        AffineMap map = vector::getTransferMinorIdentityMap(cast<ShapedType>(tensor.getType()), type);
        return vector::TransferReadOp::create(in.b, in.loc, type, tensor, at, none, map, ArrayRef<bool>{true});
      };
      Value value = combineVectors(in, *simple, read(result, to), read(updates[0], from), isUnsignedElement(resultElements[0]));
      result = vector::TransferWriteOp::create(in.b, in.loc, value, result, to, ArrayRef<bool>{true}).getResult();
      place += width;
    }
    return {result};
  }

  SmallVector<Value> emitElement(LoopBuilder &in, const Window &window, ValueRange offsets, ValueRange running) {
    SmallVector<Value> from, to, arguments, next;
    findElement(in, window, windowDims, offsets, from, to);
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(toCompute(in.b, in.loc, in.extract(running[i], to), resultElements[i]));
    for (size_t i = 0; i < count; ++i) {
      Value update = toCompute(in.b, in.loc, in.extract(updates[i], from), updateElements[i]);
      arguments.push_back(convertElement(in, update, updateElements[i], resultElements[i]));
    }
    // The next update of an element depends on this result. The processor's minimum tests the sign of its first operand, and the update is known
    // earlier than the old value.
    bool isExtreme = simple == Reducer::Minimum || simple == Reducer::Maximum;
    if (isExtreme && isa<FloatType>(resultElements[0]))
      std::swap(arguments[0], arguments[1]);
    auto results = emitScalarRegion(in.b, in.loc, computation, arguments);
    if (failed(results)) {
      failedBody = true;
      return llvm::to_vector(running);
    }
    for (size_t i = 0; i < count; ++i)
      next.push_back(in.insert(toStorage(in.b, in.loc, (*results)[i], resultElements[i]), running[i], to));
    return next;
  }

  LoopBuilder &l;
  stablehlo::ScatterOp op;
  stablehlo::ScatterDimensionNumbersAttr numbers;
  Region &computation;
  ValueRange inputs, updates;
  Value indices;
  Type indexElement;
  size_t count;
  int64_t inputRank, updateRank, indicesRank, vectorDim;
  ArrayRef<int64_t> windowDims;
  SmallVector<Type> inputElements, updateElements, resultElements;
  SmallVector<Value> state, inputSizes, updateSizes, scatterSizes;
  SmallVector<int64_t> scatterDims, windowInputDims;
  bool isMade = false;            ///< the inputs are constants, which the kernel fills in
  int64_t cutInput = -1;          ///< the dimension of the inputs that is cut into parts, or -1
  bool cutsRows = false;          ///< it is the one to which indices point, not one of the window
  int64_t parts = 1, partSize = 0;
  Value partFrom, partTo;         ///< the bounds of the current part
  SmallVector<int64_t> widths;    ///< widths of the vectors of a row; empty if rows are processed element by element
  std::optional<Reducer> simple;
  bool failedBody = false;
};

struct ScatterPattern : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    FailureOr<SmallVector<Value>> results = ScatterLoops(l, op, adaptor).emit();
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "the computation is not scalar");
    for (auto [made, result] : llvm::zip_equal(*results, op.getResults()))
      made = l.cast(made, getTypeConverter()->convertType(result.getType()));
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void populateScatterPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ScatterPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
