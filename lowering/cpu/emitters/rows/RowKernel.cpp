// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowKernel.cpp - Emit elementwise operations and reductions ---------===//
// Input:   softmax(x: 4096x1024): max over the row, exp(x - max), sum, division.
// Output:  for each row of [begin, end): one sweep for max, one for exp (kept in scratch) and sum, one for the quotient;
//          each sweep takes strips of 4 vectors, then the rest of the row as vectors of which the last is masked.
// Two ways to choose the lanes:
//   row     the lane atom is reduced (or only some outputs have it): sweeps along it, accumulators are combined
//           across lanes at the end, in a fixed order: strips pairwise, then lane l with lane l + width/2, ...
//   column  the lane atom is kept by all reductions and outputs: an iteration is a piece of it, reduced atoms are loops.
//           Elementwise kernels are this case without loops; wide sums (RowTiles.cpp) and short rows (ShortRows.cpp) have code of their own.
// Leaves alone: reductions whose results depend on an index over which another reduction sums.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {

Value RowEmitter::keptMemory(Value value, unsigned slot, Type type, int64_t elements) {
  Value &memory = kept[{value.getAsOpaquePointer(), slot}];
  if (!memory)
    memory = scratch->take(type, elements);
  return memory;
}

Value RowEmitter::maskOf(PointEvaluator &at, int64_t lanes) {
  if (lanes >= plan_.width)
    return {};
  SmallVector<bool> bits(plan_.width, false);
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits[lane] = true;
  auto type = at.vectorOf(IntegerType::get(kernel.getContext(), 1));
  return at.number(DenseElementsAttr::get(type, bits));
}

/// Returns the initial value of an accumulator: the identity of a known combiner, else the initial value of the reduction.
Value RowEmitter::start(PointEvaluator &at, const Node &node, int result, bool vector) {
  Value element;
  Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
  Value value;
  if (knowsIdentity(node))
    value = at.number(identityOf(combine, combine->getResult(0).getType()));
  else
    value = at.evaluate(node.inits[result]);
  return vector ? at.splat(value) : value;
}

SmallVector<Value> RowEmitter::combine(PointEvaluator &at, const Node &node, ArrayRef<Value> left,
                                       ArrayRef<Value> right) {
  Value element;
  if (knowsIdentity(node))
    return {at.cloneOn(matchCombiner(node.body, node.inputs.size(), element), {left[0], right[0]})};
  SmallVector<Value> args(right);
  // These are inputs that the body does not use.
  for (unsigned extra = right.size(); extra < node.inputs.size(); ++extra)
    args.push_back(at.evaluate(node.inputs[extra]));
  args.append(left.begin(), left.end());
  return at.cloneBody(node, args);
}

/// Returns the integer result that the body compares with its element, as argmax does with indices; -1 if there is none.
static int placeOf(const Node &node) {
  unsigned inputs = node.inputs.size();
  for (unsigned i = 0; i < std::min(inputs, node.op->getNumResults()); ++i) {
    BlockArgument element = node.body->getArgument(i), best = node.body->getArgument(inputs + i);
    for (Operation *user : best.getUsers())
      if (isa<arith::CmpIOp>(user) && llvm::is_contained(user->getOperands(), element))
        return int(i);
  }
  return -1;
}

/// Combines the results of two lanes: that of the earlier elements of the row is the left operand, as if the row had been reduced in order. Of
/// several NaNs argmax returns the first.
SmallVector<Value> RowEmitter::combineLanes(PointEvaluator &at, const Node &node, ArrayRef<Value> left, ArrayRef<Value> right) {
  int place = knowsIdentity(node) ? -1 : placeOf(node);
  if (place < 0)
    return combine(at, node, left, right);
  OpBuilder b = at.builder();
  bool isUnsigned = llvm::any_of(node.body->getArgument(place).getUsers(), [](Operation *user) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    return compare && compare.getPredicate() >= arith::CmpIPredicate::ult;
  });
  auto order = isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value isAhead = arith::CmpIOp::create(b, at.loc(), order, right[place], left[place]);
  SmallVector<Value> first, second;
  for (auto [x, y] : llvm::zip_equal(left, right)) {
    first.push_back(arith::SelectOp::create(b, at.loc(), isAhead, y, x));
    second.push_back(arith::SelectOp::create(b, at.loc(), isAhead, x, y));
  }
  return combine(at, node, first, second);
}

/// Combines with the initial value and binds the result.
SmallVector<Value> RowEmitter::finishReduction(PointEvaluator &at, const Node &node, SmallVector<Value> values) {
  if (knowsIdentity(node)) {
    Value init = at.evaluate(node.inits[0]);
    values = combine(at, node, {init}, values);
  }
  for (auto [tensor, value] : llvm::zip(node.op->getResults(), values))
    at.bind(tensor, value);
  return values;
}

/// Returns true for the maximum or minimum of floats along a row, or of the columns in the lanes. Ordering NaN and zeros as the operation does takes
/// six dependent instructions.
/// Carried are instead the maximum of comparable values, all signs, which distinguish zeros, and whether there was a NaN.
bool RowEmitter::isExtremum(const Node &node, const RowGroup &group) const {
  return !plan_.tiled && hasLanes(group) && isExtremum(node);
}

bool RowEmitter::isExtremum(const Node &node) const {
  if (!node.reduction || !knowsIdentity(node))
    return false;
  Value element;
  Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
  Type type = combine->getResult(0).getType();
  return isa<arith::MaximumFOp, arith::MinimumFOp>(combine) && (type.isF16() || type.isBF16() || type.isF32() || type.isF64());
}

namespace {

/// The operations on the carried values: x is better than y; signs of values none of which is better than zero: a zero result is negative if all have
/// the sign (maximum), or if any has (minimum).
struct Extremum {
  Operation *combine;
  bool isGreatest() const { return isa<arith::MaximumFOp>(combine); }
  Type type() const { return combine->getResult(0).getType(); }
  /// Returns the type of carried values: f32 for narrow floats.
  Type carried() const { return type().getIntOrFloatBitWidth() < 32 ? Float32Type::get(combine->getContext()) : type(); }
  Value better(OpBuilder &b, Value x, Value y) const {
    auto order = isGreatest() ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    return arith::SelectOp::create(b, x.getLoc(), arith::CmpFOp::create(b, x.getLoc(), order, x, y), x, y);
  }
  Value bothSigns(OpBuilder &b, Value x, Value y) const {
    return isGreatest() ? arith::AndIOp::create(b, x.getLoc(), x, y).getResult() : arith::OrIOp::create(b, x.getLoc(), x, y);
  }
};

Extremum extremumOf(const Node &node, Value &element) { return {matchCombiner(node.body, node.inputs.size(), element)}; }

} // namespace

SmallVector<Value> RowEmitter::startExtremum(PointEvaluator &at, const Node &node) {
  Value element;
  Extremum extremum = extremumOf(node, element);
  OpBuilder b = at.builder();
  VectorType bits = at.vectorOf(b.getIntegerType(extremum.carried().getIntOrFloatBitWidth())), flags = target.avx512 ? at.vectorOf(b.getI1Type()) : bits;
  TypedAttr none = DenseElementsAttr::get(bits, APInt::getZero(bits.getElementTypeBitWidth()));
  TypedAttr all = DenseElementsAttr::get(bits, APInt::getAllOnes(bits.getElementTypeBitWidth()));
  Value first = at.splat(at.number(identityOf(extremum.combine, extremum.carried())));
  return {first, at.number(extremum.isGreatest() ? all : none), at.number(cast<TypedAttr>(b.getZeroAttr(flags)))};
}

void RowEmitter::stepExtremum(MutableArrayRef<PointEvaluator> points, const Node &node, MutableArrayRef<Value> carried, unsigned slot) {
  Value element;
  Extremum extremum = extremumOf(node, element);
  unsigned perPoint = carried.size() / points.size();
  SmallVector<Value> values;
  for (PointEvaluator &point : points) {
    SmallVector<Value> args = point.inputsOf(node);
    args.push_back({});
    VectorType type = point.vectorOf(extremum.type());
    Value value = point.broadcastTo(point.evaluateInBody(node, element, args), type);
    if (Value mask = point.laneMask()) {
      OpBuilder b = point.builder();
      value = arith::SelectOp::create(b, point.loc(), mask, value, point.splat(point.number(identityOf(extremum.combine, extremum.type()))));
    }
    if (extremum.carried() != extremum.type()) {
      OpBuilder b = point.builder();
      value = arith::ExtFOp::create(b, point.loc(), point.vectorOf(extremum.carried()), value);
    }
    values.push_back(value);
  }
  for (auto [number, point] : llvm::enumerate(points)) {
    OpBuilder b = point.builder();
    Value &best = carried[number * perPoint + slot], &signs = carried[number * perPoint + slot + 1], &flags = carried[number * perPoint + slot + 2];
    best = extremum.better(b, values[number], best);
    signs = extremum.bothSigns(b, signs, arith::BitcastOp::create(b, point.loc(), signs.getType(), values[number]));
    if (number % 2 && !plan_.column)
      continue;
    // One comparison detects NaN in two vectors of a row.
    Value other = plan_.column ? values[number] : values[std::min(number + 1, values.size() - 1)];
    Value found = arith::CmpFOp::create(b, point.loc(), arith::CmpFPredicate::UNO, values[number], other);
    if (found.getType() != flags.getType())
      found = arith::ExtSIOp::create(b, point.loc(), flags.getType(), found);
    flags = arith::OrIOp::create(b, point.loc(), flags, found);
  }
}

Value RowEmitter::finishExtremum(PointEvaluator &at, const Node &node, ArrayRef<SmallVector<Value>> slots) {
  Value element;
  Extremum extremum = extremumOf(node, element);
  OpBuilder b = at.builder();
  Value best = slots[0][0], signs = slots[0][1], flags = slots[0][2];
  bool isColumn = plan_.column; // every lane has its own result
  for (const SmallVector<Value> &slot : slots.drop_front()) {
    best = extremum.better(b, best, slot[0]);
    signs = extremum.bothSigns(b, signs, slot[1]);
    flags = arith::OrIOp::create(b, at.loc(), flags, slot[2]);
  }
  auto zeroOf = [&](Value like) { return at.number(cast<TypedAttr>(b.getZeroAttr(like.getType()))); };
  auto reduce = [&](vector::CombiningKind kind, Value lanes) -> Value {
    return isColumn ? lanes : vector::ReductionOp::create(b, at.loc(), kind, lanes).getResult();
  };
  Value isNegative = reduce(extremum.isGreatest() ? vector::CombiningKind::AND : vector::CombiningKind::OR,
                            arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::slt, signs, zeroOf(signs)));
  if (!getElementTypeOrSelf(flags.getType()).isInteger(1))
    flags = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::ne, flags, zeroOf(flags));
  Value isNan = reduce(vector::CombiningKind::OR, flags);
  Value result = best;
  if (!isColumn)
    result = foldLanes(at, {best}, [&](ArrayRef<Value> left, ArrayRef<Value> right) {
      OpBuilder b = at.builder();
      return SmallVector<Value>{extremum.better(b, left[0], right[0])};
    })[0];
  if (extremum.carried() != extremum.type())
    result = arith::TruncFOp::create(b, at.loc(), isColumn ? Type(at.vectorOf(extremum.type())) : extremum.type(), result);
  const llvm::fltSemantics &semantics = cast<FloatType>(extremum.type()).getFloatSemantics();
  auto number = [&](const APFloat &value) {
    Value scalar = at.number(b.getFloatAttr(extremum.type(), value));
    return isColumn ? at.splat(scalar) : scalar;
  };
  Value zero = number(APFloat::getZero(semantics));
  Value signedZero = arith::SelectOp::create(b, at.loc(), isNegative, number(APFloat::getZero(semantics, /*Negative=*/true)), zero);
  Value isZero = arith::CmpFOp::create(b, at.loc(), arith::CmpFPredicate::OEQ, result, zero);
  result = arith::SelectOp::create(b, at.loc(), isZero, signedZero, result);
  return arith::SelectOp::create(b, at.loc(), isNan, number(APFloat::getQNaN(semantics)), result);
}

/// Prefetches what the group wants ahead of `point`, once for each cache line; `lanesBefore` of the same step. Prefetches beyond the last element
/// have no effect.
void RowEmitter::askAhead(PointEvaluator &point, const RowGroup &group, int64_t lanesBefore) {
  // Data that is requested less than a quarter of the level 1 cache ahead goes to that cache, other data to level 2: several streams are requested at
  // the same time.
  const int64_t maxNearBytes = target.l1Bytes / 4;
  for (auto [access, elements, isStore] : group.ahead) {
    int64_t bits = storageType(access->elementType).getIntOrFloatBitWidth();
    if (lanesBefore * bits % (target.lineBytes * 8))
      continue;
    Value where = point.addConstant(point.address(*access), elements);
    bool isNear = elements * bits / 8 <= maxNearBytes;
    OpBuilder b = point.builder();
    memref::PrefetchOp::create(b, point.loc(), point.buffer(access->buffer), ValueRange{where}, isStore, /*localityHint=*/isNear ? 3 : 2,
                               /*isDataCache=*/true);
  }
}

/// Returns true for a matrix product's sum, which is rounded once per step as in contraction kernels (512x512 by a vector, 50 times: 0.54 to 0.46
/// ms).
bool RowEmitter::addsProducts(const Node &node, Value accumulator, SumOfProducts &products) const {
  std::string why;
  Type type = getElementTypeOrSelf(accumulator.getType());
  return target.fma && isa<VectorType>(accumulator.getType()) && (type.isF32() || type.isF64()) &&
         succeeded(matchSumOfProducts(node, products, why)) && products.accType == type;
}

/// Emits one vector (or scalar) of a sweep at each of `points`: the steps of all reductions, kept values, outputs. Stores come last, so that the
/// computations of all points can be interleaved (InterleaveChains.h).
void RowEmitter::step(MutableArrayRef<PointEvaluator> points, const RowGroup &group, MutableArrayRef<Value> carried) {
  unsigned perPoint = carried.size() / points.size();
  SmallVector<SmallVector<Value>> computed(points.size());
  for (auto [number, point] : llvm::enumerate(points)) {
    askAhead(point, group, int64_t(number) * plan_.width);
    for (Value value : group.keep) {
      Operand operand;
      operand.kind = Operand::Intermediate;
      operand.value = value;
      operand.elementType = getElementTypeOrSelf(value.getType());
      computed[number].push_back(point.evaluate(operand));
    }
    MutableArrayRef<Value> accumulators = carried.slice(number * perPoint, perPoint);
    unsigned slot = 0;
    for (const Node *node : group.reductions) {
      if (isExtremum(*node, group)) {
        if (number + 1 == points.size())
          stepExtremum(points, *node, carried, slot);
        slot += carriedBy(*node, group);
        continue;
      }
      unsigned results = node->op->getNumResults();
      SmallVector<Value> next;
      if (SumOfProducts products; addsProducts(*node, accumulators[slot], products)) {
        Type type = accumulators[slot].getType();
        Value x = point.broadcastTo(factorAt(point, products, products.a), type), y = point.broadcastTo(factorAt(point, products, products.b), type);
        next = {accumulateProduct(point, x, y, accumulators[slot], target.fma)};
      } else {
        SmallVector<Value> args = point.inputsOf(*node);
        args.append(accumulators.begin() + slot, accumulators.begin() + slot + results);
        next = point.cloneBody(*node, args);
      }
      for (unsigned i = 0; i < results; ++i) {
        Value before = accumulators[slot + i];
        Value after = point.broadcastTo(next[i], before.getType());
        if (point.laneMask() && isa<VectorType>(before.getType()) && !plan_.column) {
          OpBuilder b = point.builder();
          after = arith::SelectOp::create(b, point.loc(), point.laneMask(), after, before);
        }
        accumulators[slot + i] = after;
      }
      slot += results;
    }
    for (const Output *output : group.outputs)
      computed[number].push_back(point.evaluate(output->value));
  }
  for (auto [point, values] : llvm::zip(points, computed)) {
    for (auto [value, stored] : llvm::zip(group.keep, values))
      point.storeKept(value, stored);
    SmallVector<const Output *> direct;
    SmallVector<Value> stored;
    for (auto [output, value] : llvm::zip_equal(group.outputs, ArrayRef<Value>(values).drop_front(group.keep.size()))) {
      if (isShortRow(*output)) {
        point.storeScratch(shortTile(output->store), value);
        continue;
      }
      direct.push_back(output);
      stored.push_back(value);
    }
    point.storeAll(direct, stored);
  }
}

/// Row mode: emits strips along the lane atom and then the rest. `carried` holds one set of accumulators per strip slot.
SmallVector<Value> RowEmitter::sweep(PointEvaluator &row, const RowGroup &group, SmallVector<Value> carried) {
  int64_t size = model.atomSizes[group.lane], width = plan_.width, strip = width * group.strips;
  int64_t full = size / strip * strip;
  unsigned perSlot = carried.size() / group.strips;
  auto points = [&](Value base, int64_t begin, int64_t end, MutableArrayRef<Value> accumulators) {
    Points strips;
    for (int64_t slot = 0; slot * width < end - begin; ++slot) {
      PointEvaluator point = row;
      point.enter(row.block());
      int64_t lanes = end - begin - slot * width;
      if (base)
        point.bindIndex(group.lane, point.addConstant(base, slot * width));
      else
        point.bindIndex(group.lane, point.constant(begin + slot * width));
      point.setLanes(group.lane, maskOf(point, lanes), lanes < width ? point.constant(lanes) : Value());
      strips.push_back(std::move(point));
    }
    step(strips, group, accumulators.take_front(strips.size() * perSlot));
  };
  if (full == strip) {
    points({}, 0, strip, carried);
  } else if (full) {
    scf::ForOp loop = openLoop(row, row.constant(0), row.constant(full), strip, carried);
    row.enterLoop(loop);
    SmallVector<Value> next(loop.getRegionIterArgs());
    points(loop.getInductionVar(), 0, strip, next);
    yieldFrom(loop, next);
    row.leave();
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (full < size)
    points({}, full, size, carried);
  return carried;
}

SmallVector<Value> RowEmitter::nest(Points &points, ArrayRef<int> loops, const RowGroup &group,
                                    SmallVector<Value> carried) {
  if (loops.empty()) {
    if (!plan_.column && hasLanes(group))
      return sweep(points[0], group, carried);
    step(points, group, carried);
    return carried;
  }
  if (loops[0] == plan_.window && !group.reductions.empty())
    return slideAll(points, *group.reductions[0], carried);
  PointEvaluator &first = points[0];
  scf::ForOp loop =
      openLoop(first, first.constant(0), first.constant(model.atomSizes[loops[0]]), 1, carried);
  for (PointEvaluator &point : points) {
    point.enterLoop(loop);
    point.bindIndex(loops[0], loop.getInductionVar());
    if (loops[0] == plan_.element)
      for (auto &[access, tile] : shortReads)
        point.bindLoad(*access, point.loadScratch(tile, access->elementType));
  }
  SmallVector<Value> next =
      nest(points, loops.drop_front(), group, SmallVector<Value>(loop.getRegionIterArgs()));
  yieldFrom(loop, next);
  for (PointEvaluator &point : points)
    point.leave();
  return SmallVector<Value>(loop.getResults());
}

/// Emits all sweeps for one row, or for the points of one strip of columns.
void RowEmitter::emitGroups(Points &points) {
  for (const RowGroup &group : plan_.groups) {
    bool lanes = hasLanes(group);
    bool split = !plan_.column && lanes;
    unsigned slots = split ? group.strips : points.size();
    SmallVector<Value> carried;
    for (unsigned slot = 0; slot < slots; ++slot)
      for (const Node *node : group.reductions) {
        PointEvaluator &at = points[split ? 0 : slot];
        if (isExtremum(*node, group))
          carried.append(startExtremum(at, *node));
        else
          for (unsigned i = 0; i < node->op->getNumResults(); ++i)
            carried.push_back(start(at, *node, i, lanes));
      }
    // Kept values are stored in one row per point.
    AtomSet own = group.inner;
    for (Value value : group.keep)
      for (auto [slot, point] : llvm::enumerate(points)) {
        Type type = getElementTypeOrSelf(value.getType());
        ScratchRow rowMemory;
        int64_t stride = plan_.column ? plan_.width : 1;
        SmallVector<int> order = outermostFirst(model, own & ~atomBit(group.lane));
        if (!plan_.column) {
          rowMemory.address.add(group.lane, 1);
          stride = llvm::alignTo(model.atomSizes[group.lane], plan_.width);
        }
        for (int atom : llvm::reverse(order)) {
          rowMemory.address.add(atom, stride);
          stride *= model.atomSizes[atom];
        }
        rowMemory.memref = keptMemory(value, slot, type, stride);
        rowMemory.alongLanes = true;
        point.keepIn(value, rowMemory);
      }
    SmallVector<int> loops =
        outermostFirst(model, group.inner & ~atomBit(group.lane) & ~atomBit(plan_.window));
    if (group.inner & atomBit(plan_.window))
      loops.push_back(plan_.window);
    SmallVector<Value> results = nest(points, loops, group, carried);
    for (Value value : group.keep)
      for (PointEvaluator &point : points)
        point.readKept(value);

    unsigned perSlot = results.size() / slots, offset = 0;
    for (const Node *node : group.reductions) {
      unsigned count = carriedBy(*node, group);
      auto slotValues = [&](unsigned slot) {
        return SmallVector<Value>(ArrayRef<Value>(results).slice(slot * perSlot + offset, count));
      };
      if (split) {
        SmallVector<SmallVector<Value>> live;
        for (unsigned slot = 0; slot < slots; ++slot)
          live.push_back(slotValues(slot));
        if (isExtremum(*node, group)) {
          finishReduction(points[0], *node, {finishExtremum(points[0], *node, live)});
          offset += count;
          continue;
        }
        while (live.size() > 1) {
          SmallVector<SmallVector<Value>> half;
          for (size_t i = 0; i + 1 < live.size(); i += 2)
            half.push_back(combineLanes(points[0], *node, live[i], live[i + 1]));
          if (live.size() % 2)
            half.push_back(live.back());
          live = half;
        }
        auto combineHalves = [&](ArrayRef<Value> left, ArrayRef<Value> right) { return combineLanes(points[0], *node, left, right); };
        finishReduction(points[0], *node, foldLanes(points[0], live[0], combineHalves));
      } else {
        for (unsigned slot = 0; slot < slots; ++slot) {
          SmallVector<Value> values = slotValues(slot);
          if (isExtremum(*node, group))
            values = {finishExtremum(points[slot], *node, ArrayRef<SmallVector<Value>>(values))};
          finishReduction(points[slot], *node, values);
        }
      }
      offset += count;
    }
  }
}

void RowEmitter::columnPoints(const PointEvaluator &at, Value base, int64_t lanes, Points &points) {
  for (int64_t slot = 0; slot * plan_.width < lanes; ++slot) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(plan_.lane, point.addConstant(base, slot * plan_.width));
    int64_t here = lanes - slot * plan_.width;
    point.setLanes(plan_.lane, maskOf(point, here), here < plan_.width ? point.constant(here) : Value());
    points.push_back(point);
  }
}

/// Column mode: emits the elements [begin, end) of the lane atom; `last` if they end with a rest of static size.
void RowEmitter::columnPieces(PointEvaluator &row, Value begin, Value end, bool last) {
  int64_t width = plan_.width, size = model.atomSizes[plan_.lane];
  auto emitAt = [&](Value base, int64_t lanes) {
    Points points;
    columnPoints(row, base, lanes, points);
    if (plan_.element >= 0)
      readShortRows(points.front(), lanes);
    emitGroups(points);
    if (plan_.element >= 0)
      writeShortRows(points.front(), lanes);
  };
  int64_t strip = plan_.strips * width, rest = size % strip;
  if (last) {
    emitAt(row.constant(size - rest), rest);
    return;
  }
  if (plan_.chunk == strip) {
    emitAt(begin, strip);
    return;
  }
  scf::ForOp loop = openLoop(row, begin, end, strip);
  row.enterLoop(loop);
  emitAt(loop.getInductionVar(), strip);
  row.leave();
}

void RowEmitter::inBranch(PointEvaluator &at, Value condition, llvm::function_ref<void()> body) {
  OpBuilder b = at.builder();
  auto branch = scf::IfOp::create(b, at.loc(), condition, /*withElseRegion=*/false);
  at.enterRegion(branch, branch.thenBlock());
  body();
  at.leave();
}

bool RowEmitter::emit() {
  shell = createShell(kernel, model);
  scratch = std::make_unique<Scratch>(shell);
  PointEvaluator at(model, target, shell, plan_.width);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  Value iteration = loop.getInductionVar();
  SmallVector<int> outer = rangeAtoms();
  if (!plan_.column) {
    bindLinear(at, iteration, outer);
    Points points{at};
    emitGroups(points);
    return !at.broken();
  }
  auto take = [&](int64_t count, bool isOutermost) {
    if (isOutermost || count == 1)
      return count == 1 ? at.constant(0) : iteration;
    OpBuilder b = at.builder();
    Value index = arith::RemUIOp::create(b, at.loc(), iteration, at.constant(count));
    iteration = arith::DivUIOp::create(b, at.loc(), iteration, at.constant(count));
    return index;
  };
  size_t behind = llvm::count_if(outer, [&](int atom) { return plan_.behindChunks & atomBit(atom); });
  ArrayRef<int> outside = ArrayRef<int>(outer).drop_back(behind), inside = ArrayRef<int>(outer).take_back(behind);
  for (size_t i = inside.size(); i-- > 0;) {
    int64_t rows = inside[i] == plan_.block ? plan_.blockRows : 1;
    Value index = take(llvm::divideCeil(model.atomSizes[inside[i]], rows), i == 0 && plan_.chunks == 1 && outside.empty());
    at.bindIndex(inside[i], at.mulConstant(index, rows));
  }
  Value piece = take(plan_.chunks, outside.empty());
  bindLinear(at, iteration, outside);
  for (int atom : plan_.rows) {
    scf::ForOp along = openLoop(at, at.constant(0), at.constant(model.atomSizes[atom]), 1);
    at.enterLoop(along);
    at.bindIndex(atom, along.getInductionVar());
  }
  int64_t size = model.atomSizes[plan_.lane], strip = plan_.strips * plan_.width;
  int64_t rest = size % strip, full = size - rest;
  Value begin = at.mulConstant(piece, plan_.chunk), end = at.addConstant(begin, plan_.chunk);
  Value isLast;
  if (rest && plan_.chunks > 1) {
    OpBuilder b = at.builder();
    isLast = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::eq, piece, at.constant(plan_.chunks - 1));
  }
  if (plan_.tiled) {
    OpBuilder b = at.builder();
    emitTiles(at, {begin, arith::MinUIOp::create(b, at.loc(), end, at.constant(full)), isLast});
    return !at.broken();
  }
  if (plan_.block >= 0) {
    emitBlocks(at, begin);
    return !at.broken();
  }
  // This is the loop over whole strips.
  if (full) {
    if (size % plan_.chunk && plan_.chunk != strip) {
      OpBuilder b = at.builder();
      end = arith::MinUIOp::create(b, at.loc(), end, at.constant(full));
    }
    if (plan_.chunk == strip && rest) {
      OpBuilder b = at.builder();
      Value whole = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::ult, begin, at.constant(full));
      inBranch(at, whole, [&] { columnPieces(at, begin, end, false); });
    } else {
      columnPieces(at, begin, end, false);
    }
  }
  if (isLast)
    inBranch(at, isLast, [&] { columnPieces(at, {}, {}, true); });
  else if (rest)
    columnPieces(at, {}, {}, true);
  return !at.broken();
}

/// In the order of emit().
runtime::RowRange RowEmitter::rowsOfRange(int64_t rangeEnd) const {
  SmallVector<int> outer = rangeAtoms();
  if (!plan_.column)
    return rowRange(model, outer, rangeEnd);
  if (llvm::any_of(outer, [&](int atom) { return !(plan_.behindChunks & atomBit(atom)); }))
    return rowRange(model, outer, rangeEnd);
  if (plan_.chunks > 1)
    return rowRange(model, plan_.lane, rangeEnd, plan_.chunk);
  return rowRange(model, outer, rangeEnd, !outer.empty() && outer.front() == plan_.block ? plan_.blockRows : 1);
}

FailureOr<EmittedKernel> RowEmitter::run() {
  if (failed(plan()))
    return refuse(kernel, "row", why);
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "row", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = model.product(plan_.parallel) * plan_.chunks;
  for (int atom : plan_.rows)
    out->rangeEnd /= model.atomSizes[atom];
  if (plan_.block >= 0)
    out->rangeEnd = out->rangeEnd / model.atomSizes[plan_.block] * llvm::divideCeil(model.atomSizes[plan_.block], plan_.blockRows);
  out->rows = rowsOfRange(out->rangeEnd);
  out->scratchBytesPerTask = scratch->bytes();
  double operations = model.totalOperations() / plan_.width;
  out->nanosPerIteration =
      std::max(model.totalBytes() / target.rowBytesPerNanosecond, operations / (1.5 * target.gigahertz)) / double(out->rangeEnd);
  return out;
}

FailureOr<EmittedKernel> emitRowKernel(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = modelFor(fn, "row");
  if (failed(model))
    return failure();
  return RowEmitter(fn, *model, target).run();
}

} // namespace millrace::lowering
