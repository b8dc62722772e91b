// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarLoop.cpp - Loops on few scalars to scf.while on scalars ------===//
// Input:   %r:2 = stablehlo.while(%i = %0 : tensor<i32>, %ys = %1 : tensor<1000xf32>) cond {...} do {...}, see fusion/ScalarLoop.h
// Output:  scf.while (i32, tensor<1000xf32>): every element of a small tensor is a scalar, operations that move elements
//          disappear, larger tensors are read and written by tensor.extract and tensor.insert
// Leaves alone other loops.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"
#include "passes/fusion/plan/ScalarLoopPolicy.h"
#include "passes/loops/ArrayUpdates.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::lowering {
namespace {

using Scalars = SmallVector<Value>;

/// Visits all positions of a shape, the last index fastest.
void forEachPosition(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> position(shape.size(), 0);
  for (int64_t count = ShapedType::getNumElements(shape); count > 0; --count) {
    visit(position);
    for (size_t d = shape.size(); d-- > 0 && ++position[d] == shape[d];)
      position[d] = 0;
  }
}

int64_t linear(ArrayRef<int64_t> position, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (auto [at, size] : llvm::zip_equal(position, shape))
    index = index * size + at;
  return index;
}

/// Returns the values from outside that the regions of `loop` use. They include arguments of a function whose signature is being converted, which
/// getUsedValuesDefinedAbove() ignores because their block is in no region any more.
llvm::SetVector<Value> capturedBy(WhileOp loop) {
  llvm::SetVector<Value> captured;
  loop->walk([&](Operation *op) {
    if (op == loop)
      return;
    for (Value operand : op->getOperands()) {
      Operation *parent = operand.getParentBlock()->getParentOp();
      if (!parent || !loop->isAncestor(parent))
        captured.insert(operand);
    }
  });
  return captured;
}

class LoopEmitter {
public:
  explicit LoopEmitter(OpBuilder &builder) : builder(builder) {}

  /// Emits `loop` for storage tensors `inits` and returns its results; fails if an operation has no meaning on scalars.
  FailureOr<SmallVector<Value>> emit(WhileOp loop, ValueRange inits, const TypeConverter &converter) {
    LoopBuilder l(builder, loop.getLoc());
    for (Value value : capturedBy(loop)) {
      if (auto constant = value.getDefiningOp<ConstantOp>(); constant && fusion::isFewScalars(value.getType())) {
        scalars[value] = constantOf(l, constant);
        continue;
      }
      Type storageType = converter.convertType(value.getType());
      Value storage = value;
      if (storageType != value.getType())
        storage = UnrealizedConversionCastOp::create(builder, loop.getLoc(), storageType, value).getResult(0);
      enter(l, value, storage);
    }
    for (auto [operand, init] : llvm::zip_equal(loop->getOperands(), inits))
      enter(l, operand, init);
    if (failed(emitWhile(loop)))
      return failure();
    SmallVector<Value> results;
    for (Value result : loop->getResults()) {
      if (auto array = arrays.find(result); array != arrays.end()) {
        results.push_back(array->second);
        continue;
      }
      SmallVector<Value> stored;
      for (Value scalar : scalars[result])
        stored.push_back(toStorage(builder, loop.getLoc(), scalar, elementOf(result)));
      auto type = cast<RankedTensorType>(converter.convertType(result.getType()));
      results.push_back(tensor::FromElementsOp::create(builder, loop.getLoc(), type, stored));
    }
    return results;
  }

private:
  static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }
  static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

  /// Binds `value` to the tensor `storage`; the elements of a small tensor are read here.
  void enter(LoopBuilder &l, Value value, Value storage) {
    if (!fusion::isFewScalars(value.getType())) {
      arrays[value] = storage;
      return;
    }
    Scalars elements;
    forEachPosition(shapeOf(value), [&](ArrayRef<int64_t> position) { elements.push_back(read(l, storage, at(l, position), elementOf(value))); });
    scalars[value] = elements;
  }

  SmallVector<Value> at(LoopBuilder &l, ArrayRef<int64_t> position) {
    SmallVector<Value> indices;
    for (int64_t index : position)
      indices.push_back(l.index(index));
    return indices;
  }
  Value read(LoopBuilder &l, Value storage, ValueRange indices, Type element) {
    return toCompute(builder, l.loc, l.extract(storage, indices), element);
  }

  Scalars constantOf(LoopBuilder &l, ConstantOp op) {
    auto dense = cast<DenseElementsAttr>(op.getValue());
    Type element = elementOf(op.getResult());
    if (dense.isSplat())
      return Scalars(dense.getNumElements(), emitConstant(builder, l.loc, dense, element));
    Scalars values;
    auto scalarType = RankedTensorType::get({}, dense.getElementType());
    for (Attribute value : dense.getValues<Attribute>())
      values.push_back(emitConstant(builder, l.loc, DenseElementsAttr::get(scalarType, value), element));
    return values;
  }

  SmallVector<Type> flatTypes(ValueRange values) {
    SmallVector<Type> types;
    for (Value value : values)
      if (auto array = arrays.find(value); array != arrays.end())
        types.push_back(array->second.getType());
      else
        types.append(scalars[value].size(), computeElementType(elementOf(value)));
    return types;
  }
  SmallVector<Value> flatten(ValueRange values) {
    SmallVector<Value> flat;
    for (Value value : values)
      if (auto array = arrays.find(value); array != arrays.end())
        flat.push_back(array->second);
      else
        llvm::append_range(flat, scalars[value]);
    return flat;
  }
  void bind(ValueRange values, ValueRange flat) {
    for (Value value : values) {
      if (!fusion::isFewScalars(value.getType())) {
        arrays[value] = flat.front();
        flat = flat.drop_front();
        continue;
      }
      size_t count = cast<RankedTensorType>(value.getType()).getNumElements();
      scalars[value] = llvm::to_vector(flat.take_front(count));
      flat = flat.drop_front(count);
    }
  }

  LogicalResult emitBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(emitOp(&op)))
        return op.emitOpError("has no meaning on scalars");
    return success();
  }

  LogicalResult emitWhile(WhileOp op) {
    Location loc = op.getLoc();
    SmallVector<Type> types = flatTypes(op->getOperands());
    auto loop = scf::WhileOp::create(builder, loc, types, flatten(op->getOperands()));
    SmallVector<Location> locs(types.size(), loc);
    {
      OpBuilder::InsertionGuard guard(builder);
      Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs), &cond = op.getCond().front();
      bind(cond.getArguments(), before->getArguments());
      if (failed(emitBlock(cond)))
        return failure();
      scf::ConditionOp::create(builder, loc, scalars[cond.getTerminator()->getOperand(0)][0], before->getArguments());
      Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs), &body = op.getBody().front();
      bind(body.getArguments(), after->getArguments());
      if (failed(emitBlock(body)))
        return failure();
      scf::YieldOp::create(builder, loc, flatten(body.getTerminator()->getOperands()));
    }
    bind(op->getResults(), loop.getResults());
    return success();
  }

  LogicalResult emitBranch(Region &to, Region &from, Location loc) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&to);
    if (failed(emitBlock(from.front())))
      return failure();
    scf::YieldOp::create(builder, loc, flatten(from.front().getTerminator()->getOperands()));
    return success();
  }

  SmallVector<Type> resultTypes(Operation *op) {
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      Value array = fusion::isFewScalars(result.getType()) ? Value() : loops::updatedValue(result);
      if (array)
        types.push_back(arrays[array].getType());
      else
        types.append(cast<RankedTensorType>(result.getType()).getNumElements(), computeElementType(elementOf(result)));
    }
    return types;
  }

  LogicalResult emitBranches(Operation *op) {
    Location loc = op->getLoc();
    Value index = scalars[op->getOperand(0)][0];
    if (auto branch = dyn_cast<IfOp>(op)) {
      auto made = scf::IfOp::create(builder, loc, resultTypes(op), index, /*addThenBlock=*/false, /*addElseBlock=*/false);
      if (failed(emitBranch(made.getThenRegion(), branch.getTrueBranch(), loc)) || failed(emitBranch(made.getElseRegion(), branch.getFalseBranch(), loc)))
        return failure();
      bind(op->getResults(), made.getResults());
      return success();
    }
    index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index);
    auto made = emitCases(op->getRegions(), 0, index, resultTypes(op), loc);
    if (failed(made))
      return failure();
    bind(op->getResults(), *made);
    return success();
  }

  /// Emits the branches from number `first` on as a tree of scf.if; the last one is also taken for every index out of range. scf.index_switch is not
  /// used, because MLIR's bufferization does not know that its results are tensors that its branches yield.
  FailureOr<SmallVector<Value>> emitCases(MutableArrayRef<Region> branches, int64_t first, Value index, TypeRange types, Location loc) {
    if (branches.size() == 1) {
      Block &only = branches.front().front();
      if (failed(emitBlock(only)))
        return failure();
      return flatten(only.getTerminator()->getOperands());
    }
    int64_t half = branches.size() / 2;
    Value bound = arith::ConstantIndexOp::create(builder, loc, first + half);
    Value isLower = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, bound);
    auto made = scf::IfOp::create(builder, loc, types, isLower, /*addThenBlock=*/false, /*addElseBlock=*/false);
    auto fill = [&](MutableArrayRef<Region> part, int64_t from, Region &to) -> LogicalResult {
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&to);
      FailureOr<SmallVector<Value>> values = emitCases(part, from, index, types, loc);
      if (succeeded(values))
        scf::YieldOp::create(builder, loc, *values);
      return values;
    };
    if (failed(fill(branches.take_front(half), first, made.getThenRegion())) ||
        failed(fill(branches.drop_front(half), first + half, made.getElseRegion())))
      return failure();
    return SmallVector<Value>(made.getResults());
  }

  /// Returns the start indices, clamped so that a slice of `sizes` fits into `shape`.
  SmallVector<Value> clampedStarts(LoopBuilder &l, ValueRange indices, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
    SmallVector<Value> starts;
    for (auto [index, extent, size] : llvm::zip_equal(indices, shape, sizes)) {
      if (extent == size) {
        starts.push_back(l.index(0));
        continue;
      }
      starts.push_back(l.clamp(l.toIndex(scalars[index][0], elementOf(index)), l.index(0), l.index(extent - size)));
    }
    return starts;
  }
  SmallVector<Value> offset(LoopBuilder &l, ValueRange starts, ArrayRef<int64_t> position) {
    SmallVector<Value> indices;
    for (auto [start, index] : llvm::zip_equal(starts, position))
      indices.push_back(l.add(start, l.index(index)));
    return indices;
  }
  Value linearIndex(LoopBuilder &l, ValueRange indices, ArrayRef<int64_t> shape) {
    Value index = l.index(0);
    for (auto [at, size] : llvm::zip_equal(indices, shape))
      index = l.add(l.mul(index, l.index(size)), at);
    return index;
  }

  void emitDynamicSlice(LoopBuilder &l, DynamicSliceOp op) {
    Value operand = op.getOperand();
    ArrayRef<int64_t> shape = shapeOf(operand);
    SmallVector<Value> starts = clampedStarts(l, op.getStartIndices(), shape, op.getSliceSizes());
    Scalars values;
    auto array = arrays.find(operand);
    forEachPosition(op.getSliceSizes(), [&](ArrayRef<int64_t> position) {
      SmallVector<Value> where = offset(l, starts, position);
      if (array != arrays.end()) {
        values.push_back(read(l, array->second, where, elementOf(operand)));
        return;
      }
      Value index = linearIndex(l, where, shape), picked;
      for (auto [i, candidate] : llvm::enumerate(scalars[operand]))
        picked = picked ? l.select(l.compare(arith::CmpIPredicate::eq, index, l.index(i)), candidate, picked) : candidate;
      values.push_back(picked);
    });
    scalars[op.getResult()] = values;
  }

  void emitDynamicUpdateSlice(LoopBuilder &l, DynamicUpdateSliceOp op) {
    Value operand = op.getOperand();
    ArrayRef<int64_t> shape = shapeOf(operand), sizes = shapeOf(op.getUpdate());
    SmallVector<Value> starts = clampedStarts(l, op.getStartIndices(), shape, sizes);
    const Scalars updates = scalars[op.getUpdate()];
    if (auto found = arrays.find(operand); found != arrays.end()) {
      Value array = found->second;
      forEachPosition(sizes, [&](ArrayRef<int64_t> position) {
        Value stored = toStorage(builder, l.loc, updates[linear(position, sizes)], elementOf(operand));
        array = l.insert(stored, array, offset(l, starts, position));
      });
      arrays[op.getResult()] = array;
      return;
    }
    Scalars values = scalars[operand];
    forEachPosition(sizes, [&](ArrayRef<int64_t> position) {
      Value index = linearIndex(l, offset(l, starts, position), shape);
      for (auto [i, value] : llvm::enumerate(values))
        value = l.select(l.compare(arith::CmpIPredicate::eq, index, l.index(i)), updates[linear(position, sizes)], value);
    });
    scalars[op.getResult()] = values;
  }

  /// Returns component `k` of the index vector at `batch`.
  Value indexAt(LoopBuilder &l, Value indices, ArrayRef<int64_t> batch, int64_t vectorDim, int64_t k) {
    SmallVector<int64_t> where(batch);
    ArrayRef<int64_t> shape = shapeOf(indices);
    if (vectorDim < int64_t(shape.size()))
      where.insert(where.begin() + vectorDim, k);
    return l.toIndex(scalars[indices][linear(where, shape)], elementOf(indices));
  }

  void emitGather(LoopBuilder &l, GatherOp op) {
    auto numbers = op.getDimensionNumbers();
    Value operand = op.getOperand(), indices = op.getStartIndices();
    ArrayRef<int64_t> shape = shapeOf(operand), sizes = op.getSliceSizes(), result = shapeOf(op.getResult());
    int64_t vectorDim = numbers.getIndexVectorDim();
    Scalars values;
    forEachPosition(result, [&](ArrayRef<int64_t> position) {
      SmallVector<int64_t> batch, offsets;
      for (int64_t d = 0; d < int64_t(result.size()); ++d)
        (llvm::is_contained(numbers.getOffsetDims(), d) ? offsets : batch).push_back(position[d]);
      SmallVector<Value> from(shape.size());
      for (auto [k, d] : llvm::enumerate(numbers.getStartIndexMap()))
        from[d] = l.clamp(indexAt(l, indices, batch, vectorDim, k), l.index(0), l.index(shape[d] - sizes[d]));
      for (auto [d, batchDim] : llvm::zip_equal(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims()))
        from[d] = l.index(batch[batchDim < vectorDim ? batchDim : batchDim - 1]);
      size_t next = 0;
      for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
        if (!from[d])
          from[d] = l.index(0);
        if (!llvm::is_contained(numbers.getCollapsedSliceDims(), d) && !llvm::is_contained(numbers.getOperandBatchingDims(), d))
          from[d] = l.add(from[d], l.index(offsets[next++]));
      }
      values.push_back(read(l, arrays[operand], from, elementOf(operand)));
    });
    scalars[op.getResult()] = values;
  }

  LogicalResult emitScatter(LoopBuilder &l, ScatterOp op) {
    auto numbers = op.getScatterDimensionNumbers();
    Value input = op.getInputs()[0], updates = op.getUpdates()[0], indices = op.getScatterIndices(), array = arrays[input];
    ArrayRef<int64_t> shape = shapeOf(input), updateShape = shapeOf(updates);
    int64_t vectorDim = numbers.getIndexVectorDim();
    const Scalars values = scalars[updates];
    Type element = elementOf(input);
    if (element != elementOf(updates) || element != getElementTypeOrSelf(op.getUpdateComputation().getArgument(0).getType()))
      return failure();
    LogicalResult status = success();
    forEachPosition(updateShape, [&](ArrayRef<int64_t> position) {
      SmallVector<int64_t> batch, window;
      for (int64_t d = 0; d < int64_t(updateShape.size()); ++d)
        (llvm::is_contained(numbers.getUpdateWindowDims(), d) ? window : batch).push_back(position[d]);
      SmallVector<Value> to(shape.size());
      for (auto [k, d] : llvm::enumerate(numbers.getScatterDimsToOperandDims()))
        to[d] = indexAt(l, indices, batch, vectorDim, k);
      for (auto [d, batchDim] : llvm::zip_equal(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
        to[d] = l.index(batch[batchDim < vectorDim ? batchDim : batchDim - 1]);
      size_t next = 0;
      Value inside;
      for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
        bool isKnown = !to[d];
        if (isKnown)
          to[d] = l.index(0);
        if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) && !llvm::is_contained(numbers.getInputBatchingDims(), d))
          to[d] = l.add(to[d], l.index(window[next++]));
        if (isKnown)
          continue;
        inside = l.logicalAnd(inside, l.compare(arith::CmpIPredicate::ult, to[d], l.index(shape[d])));
        to[d] = l.clamp(to[d], l.index(0), l.index(shape[d] - 1));
      }
      // For a position out of bounds the nearest element is written with its own value.
      Value old = read(l, array, to, element);
      auto made = emitScalarRegion(builder, l.loc, op.getUpdateComputation(), {old, values[linear(position, updateShape)]});
      if (failed(made)) {
        status = failure();
        return;
      }
      Value stored = inside ? l.select(inside, (*made)[0], old) : (*made)[0];
      array = l.insert(toStorage(builder, l.loc, stored, element), array, to);
    });
    arrays[op->getResult(0)] = array;
    return status;
  }

  LogicalResult emitReduce(LoopBuilder &l, ReduceOp op) {
    ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]), result = shapeOf(op.getResult(0));
    size_t count = op.getInputs().size();
    Reducer reducer = classifyReducer(op.getBody());
    SmallVector<Type> accumulated;
    SmallVector<Scalars> sums(count);
    for (size_t i = 0; i < count; ++i) {
      Type inRegion = getElementTypeOrSelf(op.getBody().getArgument(i).getType()), from = elementOf(op.getInitValues()[i]);
      accumulated.push_back(accumulatorType(reducer, inRegion));
      Value init = convertElement(l, scalars[op.getInitValues()[i]][0], from, accumulated[i]);
      sums[i].assign(ShapedType::getNumElements(result), init);
    }
    LogicalResult status = success();
    forEachPosition(shape, [&](ArrayRef<int64_t> position) {
      SmallVector<int64_t> kept;
      for (auto [d, at] : llvm::enumerate(position))
        if (!llvm::is_contained(op.getDimensions(), int64_t(d)))
          kept.push_back(at);
      int64_t to = linear(kept, result), from = linear(position, shape);
      SmallVector<Value> running, values;
      for (size_t i = 0; i < count; ++i) {
        running.push_back(sums[i][to]);
        values.push_back(convertElement(l, scalars[op.getInputs()[i]][from], elementOf(op.getInputs()[i]), accumulated[i]));
      }
      auto next = emitReducer(l, reducer, op.getBody(), running, values, accumulated);
      if (failed(next)) {
        status = failure();
        return;
      }
      for (size_t i = 0; i < count; ++i)
        sums[i][to] = (*next)[i];
    });
    if (failed(status))
      return failure();
    for (size_t i = 0; i < count; ++i) {
      for (Value &sum : sums[i])
        sum = convertElement(l, sum, accumulated[i], elementOf(op.getResult(i)));
      scalars[op.getResult(i)] = sums[i];
    }
    return success();
  }

  /// Emits an operation that moves elements: element `position` of the result is the element that `from` returns.
  void emitMove(Operation *op, llvm::function_ref<Value(ArrayRef<int64_t>)> from) {
    Scalars values;
    forEachPosition(shapeOf(op->getResult(0)), [&](ArrayRef<int64_t> position) { values.push_back(from(position)); });
    scalars[op->getResult(0)] = values;
  }

  LogicalResult emitElementwise(Operation *op) {
    Value result = op->getResult(0);
    Scalars values;
    for (int64_t i = 0, count = cast<RankedTensorType>(result.getType()).getNumElements(); i < count; ++i) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        const Scalars &elements = scalars[operand];
        operands.push_back(elements[elements.size() == 1 ? 0 : i]); // a scalar operand (select, clamp) applies to all elements
      }
      FailureOr<Value> value = emitScalar(builder, op, operands);
      if (failed(value))
        return failure();
      values.push_back(roundToElement(builder, op->getLoc(), *value, elementOf(result)));
    }
    scalars[result] = values;
    return success();
  }

  LogicalResult emitOp(Operation *op) {
    LoopBuilder l(builder, op->getLoc());
    auto element = [&](Value value, ArrayRef<int64_t> position) { return scalars[value][linear(position, shapeOf(value))]; };
    using Position = ArrayRef<int64_t>;
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      scalars[constant.getResult()] = constantOf(l, constant);
    } else if (isa<ReshapeOp>(op)) {
      Scalars same = scalars[op->getOperand(0)];
      scalars[op->getResult(0)] = same;
    } else if (isa<OptimizationBarrierOp>(op)) {
      for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
        Scalars same = scalars[operand];
        scalars[result] = same;
      }
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      auto type = cast<RankedTensorType>(iota.getType());
      emitMove(op, [&](Position position) {
        Value number = arith::ConstantIntOp::create(builder, l.loc, position[iota.getIotaDimension()], 32);
        return convertElement(l, number, builder.getI32Type(), type.getElementType());
      });
    } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      Value operand = broadcast.getOperand();
      emitMove(op, [&](Position position) {
        SmallVector<int64_t> from;
        for (auto [d, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          from.push_back(shapeOf(operand)[d] == 1 ? 0 : position[to]);
        return element(operand, from);
      });
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      emitMove(op, [&](Position position) {
        SmallVector<int64_t> from;
        for (auto [index, start, stride] : llvm::zip_equal(position, slice.getStartIndices(), slice.getStrides()))
          from.push_back(start + index * stride);
        auto array = arrays.find(slice.getOperand());
        return array == arrays.end() ? element(slice.getOperand(), from) : read(l, array->second, at(l, from), elementOf(slice.getOperand()));
      });
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      emitMove(op, [&](Position position) {
        SmallVector<int64_t> from(position.size());
        for (auto [d, source] : llvm::enumerate(transpose.getPermutation()))
          from[source] = position[d];
        return element(transpose.getOperand(), from);
      });
    } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
      emitMove(op, [&](Position position) {
        SmallVector<int64_t> from(position);
        for (int64_t d : reverse.getDimensions())
          from[d] = shapeOf(reverse.getOperand())[d] - 1 - from[d];
        return element(reverse.getOperand(), from);
      });
    } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
      int64_t dim = concatenate.getDimension();
      emitMove(op, [&](Position position) {
        SmallVector<int64_t> from(position);
        for (Value input : op->getOperands()) {
          if (from[dim] < shapeOf(input)[dim])
            return element(input, from);
          from[dim] -= shapeOf(input)[dim];
        }
        llvm_unreachable("a position beyond all operands");
      });
    } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
      emitDynamicSlice(l, slice);
    } else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
      emitDynamicUpdateSlice(l, update);
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      emitGather(l, gather);
    } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
      return emitScatter(l, scatter);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      return emitReduce(l, reduce);
    } else if (auto loop = dyn_cast<WhileOp>(op)) {
      return emitWhile(loop);
    } else if (isa<IfOp, CaseOp>(op)) {
      return emitBranches(op);
    } else {
      return emitElementwise(op);
    }
    return success();
  }

  OpBuilder &builder;
  DenseMap<Value, Scalars> scalars;
  DenseMap<Value, Value> arrays;
};

struct ScalarLoopPattern : OpConversionPattern<WhileOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(WhileOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!fusion::isScalarLoop(op))
      return rewriter.notifyMatchFailure(op, "not a loop on few scalars");
    FailureOr<SmallVector<Value>> results = LoopEmitter(rewriter).emit(op, adaptor.getOperands(), *getTypeConverter());
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void populateScalarLoopPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ScalarLoopPattern>(converter, patterns.getContext(), /*benefit=*/2);
}

} // namespace millrace::lowering
