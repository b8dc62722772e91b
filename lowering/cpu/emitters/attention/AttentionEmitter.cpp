// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionEmitter.cpp - Emit attention with tiles of rows in the cache ===//
// Input:   scores[batch, m, n] = sum over k of q[batch, m, k] * key[batch, n, k]; elementwise operations and reductions along n (scale,
//          mask, softmax); result[batch, m, d] = sum over n of weights[batch, m, n] * value[batch, n, d].
// Output:  an iteration is one index of batch and a group of rows m. Keys and values are packed once; then for a tile of rows:
//            the contraction with all keys, to scratch: the scores of the tile, which never leave the cache;
//            one sweep along each row per reduction, and one that replaces the scores by the weights;
//            the contraction with the values, in pieces of n, and the result's consumers.
//          All reductions are over whole rows, so that every element is what separate kernels compute; nothing is rescaled. Subnormal weights count
//          as zero in the contractions, except for f16, and so do sums with subnormal values. Contractions of bf16 use AMX (AttentionUnit.cpp).
// Indices that only q has (heads that share keys) count as rows.
// Leaves alone all other kernels.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/attention/AttentionEmitter.h"
#include "lowering/cpu/emitters/FloatControl.h"
#include "lowering/cpu/emitters/contraction/MatrixUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering::attention {

/// Emits `step` for the vectors of a row; `carried` holds one set of accumulators per vector of a strip.
SmallVector<Value> AttentionEmitter::sweep(PointEvaluator &row, SmallVector<Value> carried,
                                           llvm::function_ref<void(PointEvaluator &, MutableArrayRef<Value>)> step) {
  int64_t size = model.atomSizes[n], strip = lanes * kVectorsOfStrip, full = size / strip * strip;
  unsigned perSlot = carried.size() / kVectorsOfStrip;
  auto points = [&](Value base, int64_t length, MutableArrayRef<Value> accumulators) {
    for (int64_t slot = 0; slot * lanes < length; ++slot) {
      PointEvaluator point = row;
      point.enter(row.block());
      Value index = point.addConstant(base, slot * lanes);
      if (int64_t exist = length - slot * lanes; exist < lanes) {
        bindLanes(point, n, index, lanes);
      } else {
        point.bindIndex(n, index);
        point.setLanes(n);
      }
      step(point, accumulators.slice(slot * perSlot, perSlot));
    }
  };
  if (full) {
    scf::ForOp loop = openLoop(row, row.constant(0), mask ? keysEnd : row.constant(full), strip, carried);
    if (mask && full < size) {
      OpBuilder b(loop);
      loop.setUpperBound(arith::MinUIOp::create(b, row.loc(), keysEnd, row.constant(full)));
    }
    row.enterLoop(loop);
    SmallVector<Value> next(loop.getRegionIterArgs());
    points(loop.getInductionVar(), strip, next);
    yieldFrom(loop, next);
    row.leave();
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (full < size && mask) {
    OpBuilder b = row.builder();
    Value isAll = arith::CmpIOp::create(b, row.loc(), arith::CmpIPredicate::ugt, keysEnd, row.constant(full));
    SmallVector<Type> types(llvm::map_range(carried, [](Value v) { return v.getType(); }));
    auto branch = scf::IfOp::create(b, row.loc(), types, isAll, /*withElseRegion=*/!types.empty());
    if (!types.empty()) {
      OpBuilder other = branch.getElseBodyBuilder();
      scf::YieldOp::create(other, row.loc(), carried);
    }
    row.enterRegion(branch, branch.thenBlock());
    points(row.constant(full), size - full, carried);
    if (!types.empty()) {
      OpBuilder last = OpBuilder::atBlockEnd(branch.thenBlock());
      scf::YieldOp::create(last, row.loc(), carried);
    }
    row.leave();
    carried.assign(branch.getResults().begin(), branch.getResults().end());
  } else if (full < size) {
    points(row.constant(full), size - full, carried);
  }
  return carried;
}

/// Binds the values of the row at the point that are in scratch.
void AttentionEmitter::bindHeld(PointEvaluator &point, Value rowBase) {
  Value from = point.add(rowBase, point.index(n));
  for (auto [slot, tensor] : llvm::zip(slots, held)) {
    if (!tensor)
      continue;
    OpBuilder b = point.builder();
    Value vector = vector::LoadOp::create(b, point.loc(), point.vectorOf(type), slot.memory, ValueRange{from});
    const Source *source = sourceOf(tensor);
    point.bind(tensor, source ? finishSum(point, source->sum, vector) : vector);
  }
}

void AttentionEmitter::hold(PointEvaluator &point, Value rowBase, unsigned slot, Value vector) {
  Value to = point.add(rowBase, point.index(n));
  OpBuilder b = point.builder();
  vector::StoreOp::create(b, point.loc(), point.splat(vector), slots[slot].memory, ValueRange{to});
}

/// Returns what the slots are to hold such that these values are among it; what they hold now if there are too many values.
SmallVector<Value> AttentionEmitter::placeInSlots(ArrayRef<Value> live) const {
  SmallVector<Value> next(held.begin(), held.end());
  if (live.empty() || live.size() > slots.size())
    return next;
  for (Value &value : next)
    if (!llvm::is_contained(live, value))
      value = Value();
  for (Value value : live)
    if (!llvm::is_contained(next, value))
      *llvm::find(next, Value()) = value;
  return next;
}

/// Emits all reductions of one level, in one sweep.
void AttentionEmitter::reduceRow(PointEvaluator &row, int level, Value rowBase) {
  SmallVector<const Node *> nodes;
  SmallVector<Operation *> combiners;
  SmallVector<Value> carried;
  for (const Node &node : model.nodes) {
    if (!node.reduction || node.level != level || sourceOf(node.op->getResult(0)) || reachOf(node).products)
      continue;
    Value element;
    nodes.push_back(&node);
    combiners.push_back(matchCombiner(node.body, node.inputs.size(), element));
  }
  if (nodes.empty())
    return;
  for (int64_t slot = 0; slot < kVectorsOfStrip; ++slot)
    for (Operation *combine : combiners)
      carried.push_back(row.splat(row.number(identityOf(combine, combine->getResult(0).getType()))));
  SmallVector<Value> later = placeInSlots(liveAfter(level));
  carried = sweep(row, carried, [&](PointEvaluator &point, MutableArrayRef<Value> totals) {
    bindHeld(point, rowBase);
    for (auto [node, total] : llvm::zip(nodes, totals)) {
      SmallVector<Value> args = point.inputsOf(*node);
      args.push_back(total);
      Value next = point.splat(point.cloneBody(*node, args).front());
      if (point.laneMask()) {
        OpBuilder b = point.builder();
        next = arith::SelectOp::create(b, point.loc(), point.laneMask(), next, total);
      }
      total = next;
    }
    SmallVector<std::pair<unsigned, Value>> kept;
    for (unsigned slot = 0; slot < later.size(); ++slot)
      if (later[slot] && later[slot] != held[slot]) {
        Operand operand;
        operand.kind = Operand::Intermediate;
        operand.value = later[slot];
        operand.elementType = type;
        kept.push_back({slot, point.evaluate(operand)});
      }
    for (auto [slot, value] : kept)
      hold(point, rowBase, slot, value);
  });
  held.assign(later.begin(), later.end());
  auto combine = [&](ArrayRef<Value> left, ArrayRef<Value> right) {
    SmallVector<Value> both;
    for (auto [op, x, y] : llvm::zip(combiners, left, right))
      both.push_back(row.cloneOn(op, {x, y}));
    return both;
  };
  // Strips are combined pairwise, then the lanes by halves, which is the order of row kernels.
  size_t count = nodes.size();
  SmallVector<SmallVector<Value>> live;
  for (int64_t slot = 0; slot < kVectorsOfStrip; ++slot)
    live.emplace_back(ArrayRef<Value>(carried).slice(slot * count, count));
  SmallVector<Value> totals = foldLanes(row, combine(live[0], live[1]), combine);
  for (auto [node, op, total] : llvm::zip(nodes, combiners, totals)) {
    Value all = total;
    if (mask)
      atMaskedPoints(row, [&, node = node, op = op, total = total](PointEvaluator &masked) {
        SmallVector<Value> args = masked.inputsOf(*node);
        args.push_back(masked.number(identityOf(op, op->getResult(0).getType())));
        Value number = masked.cloneBody(*node, args).front();
        if (isa<arith::AddFOp>(op)) {
          isZero(row, number);
          return;
        }
        OpBuilder b = row.builder();
        Value isShort = arith::CmpIOp::create(b, row.loc(), arith::CmpIPredicate::ult, keysEnd, row.constant(model.atomSizes[n]));
        Value both = row.cloneOn(op, {total, number});
        b = row.builder();
        all = arith::SelectOp::create(b, row.loc(), isShort, both, total);
      });
    row.bind(node->op->getResult(0), row.cloneOn(op, {row.evaluate(node->inits[0]), all}));
  }
}

/// Calls `check` for points of the row after the computed keys: with the largest and the smallest gradient of a weight that finite values give, if
/// there are gradients.
void AttentionEmitter::atMaskedPoints(PointEvaluator &row, llvm::function_ref<void(PointEvaluator &)> check) {
  for (double extreme : {0x1p125, -0x1p125}) {
    PointEvaluator point = row;
    point.enter(row.block());
    point.bindIndex(n, point.constant(0)); // no value depends on it (matchMask)
    OpBuilder b = point.builder();
    for (Value condition : mask->conditions)
      point.bind(condition, point.number(b.getBoolAttr(false)));
    if (mask->other) {
      Value tensor = mask->other->sum.node->op->getResult(0);
      point.bind(tensor, point.number(b.getFloatAttr(getElementTypeOrSelf(tensor.getType()), extreme)));
    }
    point.bind(mask->chosen, point.evaluate(*mask->low));
    check(point);
    if (!mask->other)
      return;
  }
}

void AttentionEmitter::isZero(PointEvaluator &at, Value number) {
  OpBuilder b = at.builder();
  Value zero = at.number(cast<TypedAttr>(b.getZeroAttr(number.getType())));
  Value equal = arith::CmpFOp::create(b, at.loc(), arith::CmpFPredicate::OEQ, number, zero);
  maskedIsZero = arith::AndIOp::create(b, at.loc(), maskedIsZero, equal);
}

/// Subnormals of f16 are large enough to matter (each of 20000 equal weights is one), and are normal in f32, in which they are computed.
static bool areSubnormalsTiny(const llvm::fltSemantics &semantics) { return APFloat::semanticsMinExponent(semantics) <= -126; }

/// Replaces subnormals by zeros. A subnormal weight as operand takes a processor up to a thousand times as long as another (masks of -100 leave
/// e^-100, biases that decrease along a row leave all magnitudes), and adds less than 2^-126 of a value to a sum.
static Value withoutSubnormals(PointEvaluator &at, Value weights) {
  if (weights.getDefiningOp<arith::DivFOp>())
    return weights; // divideNoSubnormals
  auto element = cast<FloatType>(getElementTypeOrSelf(weights.getType()));
  if (!areSubnormalsTiny(element.getFloatSemantics()))
    return weights;
  auto limit = [&](bool isNegative) {
    OpBuilder b = at.builder();
    return at.splat(at.number(b.getFloatAttr(element, APFloat::getSmallestNormalized(element.getFloatSemantics(), isNegative))));
  };
  Value below = limit(false), above = limit(true), zero = at.splat(at.number(at.builder().getFloatAttr(element, 0.0)));
  OpBuilder b = at.builder();
  Value isBelow = arith::CmpFOp::create(b, at.loc(), arith::CmpFPredicate::OLT, weights, below);
  Value isAbove = arith::CmpFOp::create(b, at.loc(), arith::CmpFPredicate::OGT, weights, above);
  return arith::SelectOp::create(b, at.loc(), arith::AndIOp::create(b, at.loc(), isBelow, isAbove), zero, weights);
}

/// Does the same for quotients by 1 or more, as of exponentials and their sum: the division of a subnormal takes as long, too.
static void divideNoSubnormals(Operation *sweeps) {
  sweeps->walk([](arith::DivFOp division) {
    auto vector = dyn_cast<VectorType>(division.getType());
    if (!vector || !areSubnormalsTiny(cast<FloatType>(vector.getElementType()).getFloatSemantics()))
      return;
    OpBuilder b(division);
    Location loc = division.getLoc();
    const llvm::fltSemantics &semantics = cast<FloatType>(vector.getElementType()).getFloatSemantics();
    auto all = [&](const APFloat &number) { return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, number)).getResult(); };
    Value x = division.getLhs(), y = division.getRhs(), zero = all(APFloat::getZero(semantics));
    // The condition is the same for all of a row if y is.
    Value isLarge = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, y, all(APFloat(semantics, 1)));
    Value least = arith::MulFOp::create(b, loc, y, all(APFloat::getSmallestNormalized(semantics)));
    least = arith::SelectOp::create(b, loc, isLarge, least, zero);
    Value isTiny = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, loc, x), least);
    division.setOperand(0, arith::SelectOp::create(b, loc, isTiny, zero, x));
  });
}

/// Stores each product's weights in its slot.
void AttentionEmitter::leaveWeights(PointEvaluator &row, Value rowBase) {
  // Weights that a slot holds already stay there.
  SmallVector<bool> isTaken(slots.size(), false);
  auto isHeld = [&](const Product &product, unsigned slot) {
    return held[slot] == product.weights.operand->value && !product.weights.converts && !sourceOf(held[slot]);
  };
  SmallVector<const Product *> wanted;
  for (auto [index, product] : llvm::enumerate(products)) {
    auto before = llvm::find_if(MutableArrayRef(products).take_front(index), [&](const Product &other) { return haveSameWeights(product, other); });
    if (before != products.begin() + index) {
      product.slot = before->slot;
      continue;
    }
    auto all = llvm::seq<unsigned>(0, slots.size());
    auto found = llvm::find_if(all, [&](unsigned slot) { return isHeld(product, slot); });
    product.slot = found != all.end() ? *found : slots.size();
    if (product.slot < slots.size())
      isTaken[product.slot] = true;
    else
      wanted.push_back(&product);
  }
  if (wanted.empty())
    return;
  SmallVector<unsigned> places;
  for (const Product *want : wanted) {
    unsigned slot = llvm::find(isTaken, false) - isTaken.begin();
    isTaken[slot] = true;
    places.push_back(slot);
    for (Product &product : products)
      if (product.slot == slots.size() && haveSameWeights(product, *want))
        product.slot = slot;
  }
  sweep(row, {}, [&](PointEvaluator &point, MutableArrayRef<Value>) {
    bindHeld(point, rowBase);
    SmallVector<Value> vectors;
    for (const Product *product : wanted)
      vectors.push_back(withoutSubnormals(point, point.splat(factorAt(point, product->sum, product->weights))));
    for (auto [slot, vector] : llvm::zip(places, vectors))
      hold(point, rowBase, slot, vector);
  });
}

/// Computes weights from scores, row by row. With a mask, returns whether keys from keysEnd on have no weight.
Value AttentionEmitter::sweepRows(PointEvaluator &tile, Value rowBegin, Value rows) {
  PointEvaluator row = tile;
  SmallVector<Value> carried;
  if (mask)
    carried.push_back(tile.number(tile.builder().getBoolAttr(true)));
  scf::ForOp loop = openLoop(row, row.constant(0), rows, 1, carried);
  row.enterLoop(loop);
  if (mask)
    maskedIsZero = loop.getRegionIterArg(0);
  bindLinear(row, row.add(rowBegin, loop.getInductionVar()), rowOrder);
  Value rowBase = row.mulConstant(loop.getInductionVar(), slots[0].stride);
  held.assign(slots.size(), Value());
  for (auto [index, source] : llvm::enumerate(sources))
    held[index] = source.sum.node->op->getResult(0);
  for (int level = 1; level <= lastLevel; ++level)
    reduceRow(row, level, rowBase);
  for (const Output *output : rowOutputs)
    row.store(output->store, row.evaluate(output->value));
  if (mask)
    atMaskedPoints(row, [&](PointEvaluator &masked) {
      for (const Product &product : products)
        isZero(row, factorAt(masked, product.sum, product.weights));
      if (mask->isSum) {
        // The masked point is a finite score plus -inf.
        OpBuilder b = row.builder();
        auto infinity = b.getFloatAttr(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true));
        Value isLow = arith::CmpFOp::create(b, row.loc(), arith::CmpFPredicate::OEQ, masked.evaluate(*mask->low), row.number(infinity));
        b = row.builder();
        maskedIsZero = arith::AndIOp::create(b, row.loc(), maskedIsZero, isLow);
      }
    });
  leaveWeights(row, rowBase);
  if (mask)
    clearBehind(row, rowBase);
  if (mask)
    yieldFrom(loop, {maskedIsZero});
  row.leave();
  divideNoSubnormals(loop);
  return mask ? loop.getResult(0) : Value();
}

/// Clears the weights past the last key, which register tiles may read.
void AttentionEmitter::clearBehind(PointEvaluator &row, Value rowBase) {
  SmallVector<bool> done(slots.size(), false);
  for (const Product &product : products) {
    if (!product.isSumOfRows || std::exchange(done[product.slot], true))
      continue;
    OpBuilder b = row.builder();
    Value zero = row.number(cast<TypedAttr>(b.getZeroAttr(row.vectorOf(type)))), to = row.add(rowBase, keysEnd);
    for (int64_t lane = 0; lane < product.tile.rows; lane += lanes) {
      Value address = row.addConstant(to, lane);
      b = row.builder();
      vector::StoreOp::create(b, row.loc(), zero, slots[product.slot].memory, ValueRange{address});
    }
  }
}

/// Emits the consumers of a product's results, for `count` rows.
void AttentionEmitter::finish(PointEvaluator &at, const Product &product, Value count,
                              llvm::function_ref<void(PointEvaluator &, Value)> bindRow) {
  PointEvaluator row = at;
  scf::ForOp loop = openLoop(row, row.constant(0), count, 1);
  row.enterLoop(loop);
  bindRow(row, loop.getInductionVar());
  Value base = row.mulConstant(loop.getInductionVar(), product.sums.stride);
  scf::ForOp vectors = openLoop(row, row.constant(0), row.constant(model.atomSizes[product.d]), lanes);
  row.enterLoop(vectors);
  Value index = vectors.getInductionVar(), from = row.add(base, index);
  bindLanes(row, product.d, index, lanes);
  OpBuilder b = row.builder();
  Value sum = vector::LoadOp::create(b, row.loc(), row.vectorOf(type), product.sums.memory, ValueRange{from});
  row.bind(product.sum.node->op->getResult(0), finishSum(row, product.sum, sum));
  for (const Output *output : product.outputs)
    row.store(output->store, row.evaluate(output->value));
  row.leave();
  row.leave();
}

void AttentionEmitter::takeScratch() {
  Scratch scratch(shell);
  int64_t length = model.atomSizes[n], scoreWidth = scoreTile.vectors * lanes, rowsInMemory = tileRows;
  for (const Product &product : products)
    if (!product.isSumOfRows)
      rowsInMemory = std::max(rowsInMemory, tileRows + product.tile.rows);
  rowsInMemory = std::max(rowsInMemory, tileRows + scoreTile.rows);
  // Rows have one more vector, because rows that are a power of two apart share cache sets.
  auto rowsOf = [&](int64_t width) {
    Matrix rows;
    rows.stride = width + lanes;
    rows.memory = scratch.take(type, rowsInMemory * rows.stride);
    return rows;
  };
  Type narrow = BFloat16Type::get(type.getContext());
  // Rows are whole cache lines, an odd number of them.
  auto narrowRowsOf = [&](int64_t width) {
    Matrix rows;
    rows.stride = (llvm::divideCeil(width, kUnitDepth) | 1) * kUnitDepth;
    rows.memory = scratch.take(narrow, llvm::alignTo(tileRows, kUnitRows) * rows.stride);
    return rows;
  };
  for (Source &source : sources) {
    int64_t depth = model.atomSizes[source.k];
    if (source.inUnit) {
      source.packedKeys = scratch.take(narrow, llvm::alignTo(length, kUnitColumns) * llvm::alignTo(depth, kUnitDepth));
      source.queryRows = narrowRowsOf(depth);
      continue;
    }
    source.packedKeys = scratch.take(type, llvm::alignTo(length, scoreWidth) * depth + lanes * scoreWidth);
    source.queryRows = rowsOf(llvm::alignTo(depth, lanes));
  }
  int64_t behind = 0; // clearBehind()
  for (const Product &product : products)
    if (product.isSumOfRows)
      behind = std::max<int64_t>(behind, llvm::alignTo(product.tile.rows, lanes));
  for (Matrix &slot : slots)
    slot = rowsOf(llvm::alignTo(length, scoreWidth) + behind);
  for (Product &product : products) {
    int64_t width = product.tile.vectors * lanes, columns = llvm::alignTo(model.atomSizes[product.d], width);
    if (product.isSumOfRows)
      product.valueRows = rowsOf(columns);
    else if (product.inUnit) {
      int64_t padded = llvm::alignTo(length, kUnitDepth);
      product.narrowWeights = narrowRowsOf(product.parts * padded);
      product.packedValues = scratch.take(narrow, columns * padded);
      if (product.parts > 1)
        product.wideValues = scratch.take(type, columns * length + lanes * width);
    } else
      product.packedValues = scratch.take(type, columns * length + lanes * width);
    product.sums.stride = columns;
    product.sums.memory = scratch.take(type, (product.isSumOfRows ? length + product.tile.rows : rowsInMemory) * columns);
  }
  floatControl = scratch.take(IntegerType::get(type.getContext(), 32), kFloatControlWords);
  if (usesUnit())
    unitFormat = scratch.take(IntegerType::get(type.getContext(), 8), matrix::kRowBytes);
  scratchBytes = scratch.bytes();
}

bool AttentionEmitter::emit() {
  shell = createShell(kernel, model);
  takeScratch();
  int64_t rows = model.product(rowAtoms), length = model.atomSizes[n];
  PointEvaluator at(model, target, shell, lanes);
  if (unitFormat)
    matrix::configure(at, unitFormat);
  scf::ForOp units = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(units);
  at.bindTask();
  Value unit = units.getInductionVar(), rowBegin = at.constant(0), rowEnd = at.constant(rows);
  auto least = [&](Value value, Value most) {
    OpBuilder b = at.builder();
    return arith::MinUIOp::create(b, at.loc(), value, most).getResult();
  };
  if (groups > 1) {
    Value count = at.constant(groups);
    OpBuilder b = at.builder();
    Value group = arith::RemUIOp::create(b, at.loc(), unit, count);
    unit = arith::DivUIOp::create(b, at.loc(), unit, count);
    rowBegin = at.mulConstant(group, groupRows);
    rowEnd = least(at.addConstant(rowBegin, groupRows), rowEnd);
  }
  bindLinear(at, unit, batchOrder);
  for (const Source &source : sources)
    if (source.inUnit)
      packPairs(at, *narrowOf(source.keys), n, source.k, source.packedKeys);
    else
      packColumns(at, source.sum, source.keys, n, source.k, source.packedKeys, scoreTile.vectors);
  for (const Product &product : products)
    if (product.isSumOfRows)
      clear(at, product.sums, (length + product.tile.rows) * product.sums.stride);
  packValues(at);
  Value areNumbers = mask ? areUnitsOrdinary(at) : Value();
  scf::ForOp tiles = openLoop(at, rowBegin, rowEnd, tileRows);
  at.enterLoop(tiles);
  Value first = tiles.getInductionVar(), here = at.constant(tileRows);
  if (rows % tileRows || groupRows % tileRows) {
    OpBuilder b = at.builder();
    here = least(here, arith::SubIOp::create(b, at.loc(), rowEnd, first));
  }
  for (const Source &source : sources)
    if (source.inUnit)
      packNarrowRows(at, first, here, *narrowOf(source.query), source.k, source.queryRows);
    else
      packRows(at, first, here, source.sum, source.query, source.k, source.queryRows);
  for (const Product &product : products)
    if (product.isSumOfRows)
      packRows(at, first, here, product.sum, product.values, product.d, product.valueRows);
  keysEnd = at.constant(length);
  if (mask)
    computeUnmasked(at, first, here, reachOfRows(at, first, here), areNumbers);
  else
    computeTile(at, first, here);
  at.leave();
  for (const Product &product : products)
    if (product.isSumOfRows)
      finish(at, product, at.constant(length), [&](PointEvaluator &row, Value index) { row.bindIndex(n, index); });
  if (unitFormat)
    matrix::release(shell);
  return !at.broken();
}

/// Computes everything that depends on the query's rows. With a mask, returns whether keys from keysEnd on have no weight.
Value AttentionEmitter::computeTile(PointEvaluator &tile, Value rowBegin, Value rows) {
  for (auto [source, slot] : llvm::zip(sources, slots))
    multiplyTile(tile, rows, source, slot);
  Value isRight = sweepRows(tile, rowBegin, rows);
  for (const Product &product : products) {
    if (product.isSumOfRows)
      continue;
    multiplyValues(tile, rows, product);
    finish(tile, product, rows, [&](PointEvaluator &row, Value index) { bindLinear(row, row.add(rowBegin, index), rowOrder); });
  }
  if (!sumsRows())
    return isRight;
  // Values bound in the copy do not outlive it, because the tile may be computed again.
  PointEvaluator at = tile;
  if (mask) {
    OpBuilder b = at.builder();
    Value isAll = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::eq, keysEnd, at.constant(model.atomSizes[n]));
    auto branch = scf::IfOp::create(b, at.loc(), arith::OrIOp::create(b, at.loc(), isAll, isRight), /*withElseRegion=*/false);
    at.enterRegion(branch, branch.thenBlock());
  }
  for (const Product &product : products)
    if (product.isSumOfRows)
      multiplyRows(at, rows, product);
  if (mask)
    at.leave();
  return isRight;
}

/// Computes the tile with the keys that some row reaches; if other keys turn out to have weights (no key is allowed, or all allowed scores are as low
/// as the mask's constant), or if 0 times a value may not be 0, computes it with all keys.
void AttentionEmitter::computeUnmasked(PointEvaluator &tile, Value rowBegin, Value rows, Value reach, Value areNumbers) {
  PointEvaluator at = tile;
  Value areRows = areRowsOrdinary(at, rows);
  int64_t length = model.atomSizes[n];
  OpBuilder b = at.builder();
  Value all = at.constant(length), step = at.constant(keyStep);
  Value steps = arith::CeilDivUIOp::create(b, at.loc(), arith::MaxSIOp::create(b, at.loc(), reach, at.constant(1)), step);
  Value some = arith::MulIOp::create(b, at.loc(), steps, step);
  Value isSome = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::ult, some, at.constant(length / keyStep * keyStep));
  isSome = arith::AndIOp::create(b, at.loc(), isSome, areNumbers);
  if (areRows)
    isSome = arith::AndIOp::create(b, at.loc(), isSome, areRows);
  Value end = arith::SelectOp::create(b, at.loc(), isSome, some, all);
  scf::ForOp attempts = openLoop(at, at.constant(0), at.constant(2), 1, end);
  at.enterLoop(attempts);
  keysEnd = attempts.getRegionIterArg(0);
  b = at.builder();
  Value isWanted = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::ne, keysEnd, at.constant(0));
  auto branch = scf::IfOp::create(b, at.loc(), TypeRange{b.getIndexType()}, isWanted, /*withElseRegion=*/true);
  OpBuilder other = branch.getElseBodyBuilder();
  scf::YieldOp::create(other, at.loc(), at.constant(0));
  at.enterRegion(branch, branch.thenBlock());
  Value isRight = computeTile(at, rowBegin, rows);
  b = at.builder();
  Value isAll = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::eq, keysEnd, all);
  Value next = arith::SelectOp::create(b, at.loc(), arith::OrIOp::create(b, at.loc(), isAll, isRight), at.constant(0), all);
  scf::YieldOp::create(b, at.loc(), next);
  at.leave();
  yieldFrom(attempts, branch.getResult(0));
  at.leave();
}

/// Estimates the cycles of the whole kernel; the work between the contractions is included in kOfPeak.
double AttentionEmitter::cyclesOfProducts() const {
  // The share of peak that the contractions are assumed to reach, including the work between them, for estimates of time. Unit: part of the peak.
  // Source: judgement, not measured alone; commit 826160f has the figures of the whole change.
  constexpr double kOfPeak = 0.7;
  double steps = 0;
  for (const Source &source : sources)
    steps += double(model.product(source.sum.node->iteration));
  for (const Product &product : products)
    steps += double(model.product(product.sum.node->iteration));
  return steps / (2.0 * double(lanes) * kOfPeak);
}

FailureOr<EmittedKernel> AttentionEmitter::run() {
  if (failed(can()))
    return failure();
  chooseSlots();
  chooseBlocks();
  matchMask();
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "attention", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = model.product(batch) * groups;
  out->rows = rowRange(model, batchOrder, out->rangeEnd);
  out->scratchBytesPerTask = scratchBytes;
  out->nanosPerIteration = cyclesOfProducts() / double(out->rangeEnd) / target.gigahertz;
  return out;
}

} // namespace millrace::lowering::attention

namespace millrace::lowering {

static FailureOr<KernelModel> attentionModel(func::FuncOp fn) {
  // Most kernels are rejected by this count, before a model is built.
  if (llvm::count_if(fn.getBody().front(), [](Operation &op) {
        auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        return linalgOp && linalgOp.getNumReductionLoops() > 0;
      }) < 2)
    return refuse(fn, "attention", "no two sums of products");
  FailureOr<KernelModel> model = modelFor(fn, "attention");
  if (failed(model))
    return failure();
  if (model->hasComputedReads())
    return refuse(fn, "attention", "reads at computed indices");
  return model;
}

FailureOr<EmittedKernel> emitAttention(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = attentionModel(fn);
  return failed(model) ? FailureOr<EmittedKernel>(failure()) : attention::AttentionEmitter(fn, *model, target).run();
}

LogicalResult canEmitAttention(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = attentionModel(fn);
  return failed(model) ? failure() : attention::AttentionEmitter(fn, *model, target).can();
}

} // namespace millrace::lowering
