// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointEvaluator.cpp - Emit values of a kernel at one point or vector -===//
#include "lowering/cpu/emitters/model/PointEvaluator.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/rows/VectorStride.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {

PointEvaluator::PointEvaluator(const KernelModel &model, const KernelTarget &target, func::FuncOp fn, int64_t lanes)
    : model(model), target(target), fn(fn), location(fn.getLoc()), width(lanes) {
  enter(&fn.getBody().front());
}

// ---- Scopes -------------------------------------------------------------------------------------------------------

OpBuilder PointEvaluator::builderAt(Scope &scope) const {
  OpBuilder builder(fn.getContext());
  if (scope.inner)
    builder.setInsertionPoint(scope.inner);
  else if (scope.block->mightHaveTerminator())
    builder.setInsertionPoint(scope.block->getTerminator());
  else
    builder.setInsertionPointToEnd(scope.block);
  return builder;
}

OpBuilder PointEvaluator::builder() const { return builderAt(*scopes.back()); }

void PointEvaluator::enter(Block *block) {
  auto scope = std::make_shared<Scope>();
  scope->block = block;
  if (!scopes.empty())
    scope->available = scopes.back()->available;
  scopes.push_back(scope);
}

void PointEvaluator::enterRegion(Operation *op, Block *block) {
  // All scopes of the block that contains the operation now insert before it.
  for (auto &scope : scopes)
    if (scope->block == op->getBlock())
      scope->inner = op;
  enter(block);
}

void PointEvaluator::leave() {
  Block *left = scopes.back()->block;
  scopes.pop_back();
  if (scopes.back()->block == left)
    return;
  for (auto &scope : scopes)
    if (scope->block == scopes.back()->block)
      scope->inner = nullptr;
}

void PointEvaluator::bindIndex(int atom, Value index) {
  Scope &scope = *scopes.back();
  scope.indices[atom] = index;
  scope.available |= atomBit(atom);
  scope.own |= atomBit(atom);
}

void PointEvaluator::setLanes(int atom, Value newMask, Value count) {
  vectorAtom = atom;
  mask = newMask;
  laneCount = count;
}

int PointEvaluator::scopeFor(AtomSet need) const {
  // An atom that an inner scope binds again has another index there.
  int level = scopes.size() - 1;
  if (need & ~scopes[level]->available) {
    *faulty = true;
    return level;
  }
  while (level > 0 && !(need & scopes[level]->own) && !(need & ~scopes[level - 1]->available))
    --level;
  return level;
}
Value PointEvaluator::faultyNumber(Type type) {
  *faulty = true;
  Builder b(fn.getContext());
  return number(cast<TypedAttr>(b.getZeroAttr(type)));
}

Value PointEvaluator::indexOf(int atom) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto it = scope->indices.find(atom); it != scope->indices.end())
      return it->second;
  *faulty = true;
  return constant(0);
}

// ---- Index arithmetic ---------------------------------------------------------------------------------------------

Value PointEvaluator::constant(int64_t value) {
  Value &slot = scopes.front()->constants[value];
  if (!slot) {
    OpBuilder b(fn.getContext());
    b.setInsertionPointToStart(&fn.getBody().front());
    slot = arith::ConstantIndexOp::create(b, location, value);
  }
  return slot;
}

Value PointEvaluator::number(TypedAttr attr) {
  Value &slot = scopes.front()->numbers[attr];
  if (!slot) {
    OpBuilder b(fn.getContext());
    b.setInsertionPointToStart(&fn.getBody().front());
    slot = arith::ConstantOp::create(b, location, attr);
  }
  return slot;
}

Value PointEvaluator::add(Value a, Value b) {
  if (matchPattern(a, m_Zero()))
    return b;
  if (matchPattern(b, m_Zero()))
    return a;
  OpBuilder at = builder();
  return arith::AddIOp::create(at, location, a, b);
}

Value PointEvaluator::addConstant(Value a, int64_t b) {
  if (!b)
    return a;
  OpBuilder at = builder();
  return arith::AddIOp::create(at, location, a, constant(b));
}

Value PointEvaluator::mulConstant(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (!b || matchPattern(a, m_Zero()))
    return constant(0);
  OpBuilder at = builder();
  return arith::MulIOp::create(at, location, a, constant(b));
}

Value PointEvaluator::terms(const LinearExpr &expr, AtomSet which) {
  Value sum = constant(0);
  for (auto [atom, coefficient] : expr.terms)
    if (coefficient && (which & atomBit(atom)))
      sum = add(sum, mulConstant(indexOf(atom), coefficient));
  return sum;
}

Value PointEvaluator::linear(const LinearExpr &expr) { return addConstant(terms(expr, ~AtomSet(0)), expr.offset); }

/// Sums the terms scope by scope, so that outer scopes compute their part once.
Value PointEvaluator::address(const Access &access) {
  Value sum;
  std::vector<std::shared_ptr<Scope>> all = scopes;
  AtomSet seen = 0;
  // A binding in an inner scope hides the outer one.
  AtomSet needed = access.address.atoms();
  for (size_t level = 0; level < all.size(); ++level) {
    Scope &scope = *all[level];
    AtomSet hidden = 0;
    for (size_t further = level + 1; further < all.size(); ++further)
      hidden |= all[further]->own;
    AtomSet here = scope.own & needed & ~hidden;
    if (level == 0)
      sum = constant(access.address.offset);
    if (!here)
      continue;
    seen |= here;
    auto it = scope.addresses.find(&access);
    if (it != scope.addresses.end()) {
      sum = it->second;
      continue;
    }
    scopes.assign(all.begin(), all.begin() + level + 1);
    for (auto [atom, coefficient] : access.address.terms)
      if ((here & atomBit(atom)) && coefficient)
        sum = add(sum, mulConstant(indexOf(atom), coefficient));
    scope.addresses[&access] = sum;
  }
  scopes = all;
  if (needed & ~seen)
    *faulty = true;
  return sum;
}

// ---- Memory -------------------------------------------------------------------------------------------------------

Value PointEvaluator::fromStorage(Value stored, Type element) {
  if (!element.isInteger(1))
    return stored;
  OpBuilder b = builder();
  TypedAttr zero = cast<TypedAttr>(b.getZeroAttr(stored.getType()));
  return arith::CmpIOp::create(b, location, arith::CmpIPredicate::ne, stored, number(zero));
}

Value PointEvaluator::toStorage(Value value) {
  if (!getElementTypeOrSelf(value.getType()).isInteger(1))
    return value;
  OpBuilder b = builder();
  Type i8 = b.getI8Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return arith::ExtUIOp::create(b, location, vector.clone(i8), value);
  return arith::ExtUIOp::create(b, location, i8, value);
}

Value PointEvaluator::loadVector(Value memref, Value address, int64_t stride, Type element, Value laneGuard,
                                 Value padding) {
  OpBuilder b = builder();
  VectorType type = vectorOf(element);
  Value guard = mask;
  if (laneGuard)
    guard = guard ? Value(arith::AndIOp::create(b, location, guard, laneGuard)) : laneGuard;
  Value passThrough = padding ? padding : guard ? number(cast<TypedAttr>(b.getZeroAttr(type))) : Value();
  if (stride == 1) {
    if (!guard)
      return vector::LoadOp::create(b, location, type, memref, ValueRange{address});
    return vector::MaskedLoadOp::create(b, location, type, memref, ValueRange{address}, guard, passThrough);
  }
  // A negative stride is loaded backwards, from the last lane, and reversed.
  if (stride < 0 && !guard && hasShuffles(type, -stride)) {
    Value first = addConstant(address, (width - 1) * stride);
    b = builder();
    Value loaded = stride == -1 ? vector::LoadOp::create(b, location, type, memref, ValueRange{first}).getResult()
                                : loadStrided(b, location, type, memref, first, -stride, Beyond::Unknown);
    SmallVector<int64_t> reversed;
    for (int64_t lane = width - 1; lane >= 0; --lane)
      reversed.push_back(lane);
    return vector::ShuffleOp::create(b, location, loaded, loaded, reversed);
  }
  // Masked loads of elements below 32 bits are single elements.
  if (stride > 1 && hasShuffles(type, stride) && (!guard || element.getIntOrFloatBitWidth() >= 32))
    return loadStrided(b, location, type, memref, address, stride, Beyond::Unknown, guard, passThrough);
  if (laneGuard) {
    // The address of a lane may lie outside: only a gather leaves those alone.
    SmallVector<int64_t> offsets;
    for (int64_t lane = 0; lane < width; ++lane)
      offsets.push_back(lane * stride);
    Type i64 = b.getI64Type();
    Value lanesAt = number(DenseElementsAttr::get(vectorOf(i64), ArrayRef<int64_t>(offsets)));
    return vector::GatherOp::create(b, location, type, memref, ValueRange{address}, lanesAt, guard, passThrough);
  }
  Value last;
  if (laneCount)
    last = arith::SubIOp::create(b, location, laneCount, constant(1));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < width; ++lane) {
    Value offset = constant(lane * stride);
    if (last) {
      Value clamped = arith::MinUIOp::create(b, location, constant(lane), last);
      offset = arith::MulIOp::create(b, location, clamped, constant(stride));
    }
    Value at = arith::AddIOp::create(b, location, address, offset);
    elements.push_back(memref::LoadOp::create(b, location, memref, ValueRange{at}));
  }
  return vector::FromElementsOp::create(b, location, type, elements);
}

/// The element's place in its group of `stride`, where the buffer consists of such groups: parts of complex numbers, colours. What reads other
/// places of the groups then loads the same vectors.
static std::optional<int64_t> phaseOf(const Access &access, int64_t stride) {
  if (stride <= 1 || access.numElements % stride || !access.guards.empty() ||
      llvm::any_of(access.address.terms, [&](auto term) { return term.second % stride; }))
    return std::nullopt;
  return ((access.address.offset % stride) + stride) % stride;
}

Value PointEvaluator::load(const Access &access) {
  OpBuilder b = builder();
  Type stored = cast<MemRefType>(buffer(access.buffer).getType()).getElementType();
  bool lanesKnown = vectorAtom >= 0 && (scopes.back()->available & atomBit(vectorAtom));
  int64_t stride = lanesKnown ? access.address.coefficient(vectorAtom) : 0;
  Value at = address(access);

  // Guards: those that are the same for all lanes and those that are not.
  Value uniform, perLane;
  for (const Guard &guard : access.guards) {
    Value index = linear(guard.index);
    int64_t laneStep = lanesKnown ? guard.index.coefficient(vectorAtom) : 0;
    if (!laneStep) {
      // Unsigned: negative indices are out of range, too.
      Value ok = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, index, constant(guard.size));
      uniform = uniform ? Value(arith::AndIOp::create(b, location, uniform, ok)) : ok;
      continue;
    }
    Type i64 = b.getI64Type();
    SmallVector<int64_t> offsets;
    for (int64_t lane = 0; lane < width; ++lane)
      offsets.push_back(lane * laneStep);
    Value index64 = arith::IndexCastOp::create(b, location, i64, index);
    Value spread = vector::BroadcastOp::create(b, location, vectorOf(i64), index64);
    Value indices = arith::AddIOp::create(
        b, location, spread, number(DenseElementsAttr::get(vectorOf(i64), ArrayRef<int64_t>(offsets))));
    Value size = number(DenseElementsAttr::get(vectorOf(i64), ArrayRef<int64_t>{guard.size}));
    Value ok = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, indices, size);
    perLane = perLane ? Value(arith::AndIOp::create(b, location, perLane, ok)) : ok;
  }

  auto padding = [&](Type like) -> Value {
    TypedAttr attr = access.padding;
    if (access.elementType.isInteger(1))
      attr = b.getIntegerAttr(stored, cast<IntegerAttr>(attr).getValue().getBoolValue());
    if (auto vector = dyn_cast<VectorType>(like))
      return number(DenseElementsAttr::get(vector, Attribute(attr)));
    return number(attr);
  };

  Value loaded;
  // The first elements of the buffer stand in for elements that do not exist: a plain load and a choice are cheaper than a mask.
  bool isCovered = stride > 0 && access.numElements > (width - 1) * stride;
  if (uniform && !perLane && isCovered) {
    Value safe = arith::SelectOp::create(b, location, uniform, at, constant(0));
    Value present = loadVector(buffer(access.buffer), safe, stride, stored, {}, {});
    loaded = arith::SelectOp::create(b, location, uniform, present, padding(vectorOf(stored)));
  } else if (std::optional<int64_t> phase = phaseOf(access, stride);
             phase && hasShuffles(vectorOf(stored), stride) && (!mask || stored.getIntOrFloatBitWidth() >= 32)) {
    Value nothing = mask ? number(cast<TypedAttr>(b.getZeroAttr(vectorOf(stored)))) : Value();
    Value group = addConstant(at, -*phase);
    b = builder();
    loaded = loadStrided(b, location, vectorOf(stored), buffer(access.buffer), group, stride, Beyond::Exists, mask, nothing, *phase);
  } else if (stride || perLane) {
    Value guard = perLane;
    if (uniform) {
      Value spread = vector::BroadcastOp::create(b, location, vectorOf(b.getI1Type()), uniform);
      guard = guard ? Value(arith::AndIOp::create(b, location, guard, spread)) : spread;
    }
    loaded = loadVector(buffer(access.buffer), at, stride, stored, guard,
                        guard ? padding(vectorOf(stored)) : Value());
  } else if (uniform) {
    Value safe = arith::SelectOp::create(b, location, uniform, at, constant(0));
    Value element = memref::LoadOp::create(b, location, buffer(access.buffer), ValueRange{safe});
    loaded = arith::SelectOp::create(b, location, uniform, element, padding(stored));
  } else {
    loaded = memref::LoadOp::create(b, location, buffer(access.buffer), ValueRange{at});
  }
  return fromStorage(loaded, access.elementType);
}

void PointEvaluator::store(const Access &access, Value value) {
  OpBuilder b = builder();
  Value memref = buffer(access.buffer);
  Value at = address(access);
  int64_t stride = vectorAtom >= 0 ? access.address.coefficient(vectorAtom) : 0;
  if (stride && !isa<VectorType>(value.getType()))
    value = splat(value);
  value = toStorage(value);
  if (!isa<VectorType>(value.getType())) {
    memref::StoreOp::create(b, location, value, memref, ValueRange{at});
    return;
  }
  if (stride == 1) {
    if (mask)
      vector::MaskedStoreOp::create(b, location, memref, ValueRange{at}, mask, value);
    else
      vector::StoreOp::create(b, location, value, memref, ValueRange{at});
    return;
  }
  for (int64_t lane = 0; lane < width; ++lane) {
    Value element = vector::ExtractOp::create(b, location, value, lane);
    Value to = addConstant(at, lane * stride);
    if (!laneCount) {
      memref::StoreOp::create(b, location, element, memref, ValueRange{to});
      continue;
    }
    // Lanes past the end do not exist.
    if (auto known = getConstantIntValue(OpFoldResult(laneCount))) {
      if (lane < *known)
        memref::StoreOp::create(b, location, element, memref, ValueRange{to});
      continue;
    }
    Value exists = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, constant(lane), laneCount);
    auto branch = scf::IfOp::create(b, location, exists, /*withElseRegion=*/false);
    OpBuilder inner = branch.getThenBodyBuilder();
    memref::StoreOp::create(inner, location, element, memref, ValueRange{to});
  }
}

void PointEvaluator::storeAll(ArrayRef<const Output *> outputs, ArrayRef<Value> values) {
  SmallVector<bool> isStored(outputs.size(), false);
  for (auto [first, output] : llvm::enumerate(outputs)) {
    const Access &place = output->store;
    // Masks take parts of vectors of single bytes and words apart.
    std::optional<int64_t> count = laneCount ? getConstantIntValue(OpFoldResult(laneCount)) : std::optional<int64_t>(width);
    bool isVector = (!mask && !laneCount) || (count && place.elementType.getIntOrFloatBitWidth() >= 32);
    int64_t stride = vectorAtom >= 0 && isVector ? place.address.coefficient(vectorAtom) : 0;
    // The outputs for the elements between two lanes'.
    SmallVector<int64_t> turns;
    if (!isStored[first] && stride > 1 && stride <= int64_t(outputs.size()))
      for (int64_t turn = 0; turn < stride; ++turn)
        for (auto [other, candidate] : llvm::enumerate(outputs)) {
          const Access &beside = candidate->store;
          if (beside.buffer == place.buffer && beside.address.offset == place.address.offset + turn &&
              beside.address.atoms() == place.address.atoms() && llvm::all_of(place.address.terms, [&](auto term) {
                return beside.address.coefficient(term.first) == term.second;
              }))
            turns.push_back(other);
        }
    if (stride <= 1 || int64_t(turns.size()) != stride) {
      if (!isStored[first])
        store(place, values[first]);
      continue;
    }
    SmallVector<Value> vectors;
    for (int64_t other : turns) {
      isStored[other] = true;
      vectors.push_back(toStorage(splat(values[other])));
    }
    Value at = address(place);
    OpBuilder b = builder();
    storeInterleaved(b, location, vectors, buffer(place.buffer), at, count);
  }
}

Value PointEvaluator::scratchAddress(const ScratchRow &row) {
  Value at = linear(row.address);
  OpBuilder b = builder();
  return row.origin ? arith::SubIOp::create(b, location, at, row.origin).getResult() : at;
}

Value PointEvaluator::loadScratch(const ScratchRow &row, Type element) {
  Value at = scratchAddress(row);
  OpBuilder b = builder();
  if (row.alongLanes && vectorAtom >= 0)
    return fromStorage(vector::LoadOp::create(b, location, vectorOf(cast<MemRefType>(row.memref.getType()).getElementType()),
                                              row.memref, ValueRange{at}),
                       element);
  return fromStorage(memref::LoadOp::create(b, location, row.memref, ValueRange{at}), element);
}

void PointEvaluator::storeScratch(const ScratchRow &row, Value value) {
  Value at = scratchAddress(row);
  OpBuilder b = builder();
  if (row.alongLanes && vectorAtom >= 0 && !isa<VectorType>(value.getType()))
    value = splat(value);
  value = toStorage(value);
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(b, location, value, row.memref, ValueRange{at});
  else
    memref::StoreOp::create(b, location, value, row.memref, ValueRange{at});
}

// ---- Values -------------------------------------------------------------------------------------------------------

Value PointEvaluator::broadcastTo(Value value, Type like) {
  if (!isa<VectorType>(like) || isa<VectorType>(value.getType()))
    return value;
  return splat(value);
}

/// Splats stand where the scalar is defined.
Value PointEvaluator::splat(Value scalar) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  Value &slot = scopes.front()->splats[scalar];
  if (slot)
    return slot;
  Attribute attr;
  if (matchPattern(scalar, m_Constant(&attr)) && !scalar.getType().isIndex())
    return slot = number(DenseElementsAttr::get(vectorOf(scalar.getType()), attr));
  OpBuilder b(fn.getContext());
  b.setInsertionPointAfterValue(scalar);
  return slot = vector::BroadcastOp::create(b, location, vectorOf(scalar.getType()), scalar);
}

Value PointEvaluator::evaluateVector(const Operand &operand) { return splat(evaluate(operand)); }

/// What an operation on constants gives: a divisor, for example, that is none only where it is zero. Null if it depends on the point.
static TypedAttr foldNumber(Operation *op, ArrayRef<Value> operands) {
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 || op->getResult(0).getType().isIndex())
    return {};
  SmallVector<Attribute> numbers(operands.size());
  for (auto [operand, number] : llvm::zip_equal(operands, numbers))
    if (!matchPattern(operand, m_Constant(&number)))
      return {};
  SmallVector<OpFoldResult> folded;
  if (numbers.empty() || failed(op->fold(numbers, folded)) || folded.size() != 1)
    return {};
  if (auto value = dyn_cast<Value>(folded[0]))
    return dyn_cast<TypedAttr>(numbers[std::distance(op->operand_begin(), llvm::find(op->getOperands(), value))]);
  return dyn_cast<TypedAttr>(cast<Attribute>(folded[0]));
}

Value PointEvaluator::cloneOn(Operation *op, ArrayRef<Value> operands) {
  if (TypedAttr known = foldNumber(op, operands))
    return number(known);
  bool anyVector = llvm::any_of(operands, [](Value v) { return isa<VectorType>(v.getType()); });
  IRMapping map;
  OpBuilder b = builder();
  for (auto [from, to] : llvm::zip(op->getOperands(), operands))
    map.map(from, anyVector ? splat(to) : to);
  b = builder();
  Operation *copy = b.clone(*op, map);
  copy->setLoc(op->getLoc());
  if (anyVector)
    for (Value result : copy->getResults())
      result.setType(vectorOf(result.getType()));
  return copy->getResult(0);
}

/// A constant or a captured scalar of a body; null for what the body computes.
Value PointEvaluator::outside(const Node &node, Value value) {
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr)))
    return number(cast<TypedAttr>(attr));
  for (const auto &[captured, operand] : node.captured)
    if (captured == value)
      return evaluate(operand);
  return {};
}

/// linalg.index: a vector if it differs between lanes.
Value PointEvaluator::loopIndex(const LinearExpr &expr) {
  Value base = linear(expr);
  int64_t step = vectorAtom >= 0 ? expr.coefficient(vectorAtom) : 0;
  if (!step)
    return base;
  OpBuilder b = builder();
  SmallVector<int64_t> offsets;
  for (int64_t lane = 0; lane < width; ++lane)
    offsets.push_back(lane * step);
  auto type = vectorOf(b.getIndexType());
  Value spread = vector::BroadcastOp::create(b, location, type, base);
  return arith::AddIOp::create(b, location, spread, number(DenseIntElementsAttr::get(type, ArrayRef<int64_t>(offsets))));
}

/// Returns the elements `perLane` of a table of one vector or two. LLVM makes the processor's permutation of elements that are extracted at indices which
/// are themselves extracted in order.
static Value permuted(PointEvaluator &at, Value table, Value perLane, int64_t elements) {
  OpBuilder b = at.builder();
  Location location = at.loc();
  const int64_t width = at.lanes();
  VectorType integers = at.vectorOf(b.getI32Type()), type = at.vectorOf(cast<MemRefType>(table.getType()).getElementType());
  Value indices = arith::IndexCastOp::create(b, location, integers, perLane);
  auto all = [&](int64_t value) { return at.number(DenseElementsAttr::get(integers, int32_t(value))); };
  Value most = all(width - 1), within = arith::AndIOp::create(b, location, indices, most);
  auto from = [&](int64_t first) -> Value {
    Value part = vector::LoadOp::create(b, location, type, table, ValueRange{at.constant(first)});
    SmallVector<Value> picked;
    for (int64_t lane = 0; lane < width; ++lane) {
      Value index = vector::ExtractOp::create(b, location, within, lane);
      index = arith::IndexCastOp::create(b, location, b.getIndexType(), index);
      picked.push_back(vector::ExtractOp::create(b, location, part, ArrayRef<OpFoldResult>{index}));
    }
    return vector::FromElementsOp::create(b, location, type, picked);
  };
  Value low = from(0);
  if (elements == width)
    return low;
  Value high = from(width);
  Value isHigh = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, indices, most);
  return arith::SelectOp::create(b, location, isHigh, high, low);
}

/// Returns the elements `perLane` behind `at`, which are the same in each row of a tensor of `elements`: where all of them lie within one vector (an
/// image that is resized), that vector is loaded and permuted by one instruction, which only a run can know. LLVM would make loads of single elements of
/// a permutation of what was loaded, hence the intrinsic.
Value PointEvaluator::gatherShared(Value memref, Value at, Value perLane, int64_t elements) {
  OpBuilder b = builder();
  VectorType type = vectorOf(cast<MemRefType>(memref.getType()).getElementType());
  Type integer = b.getI32Type();
  auto narrow = [&](Value index, Type to) { return arith::IndexCastOp::create(b, location, to, index).getResult(); };
  Value first = add(at, vector::ExtractOp::create(b, location, perLane, 0));
  // Both ends are bounds: where the mask leaves the first lane out, its address may be any.
  Value begin = arith::MaxSIOp::create(b, location, arith::MinSIOp::create(b, location, first, constant(elements - width)), constant(0));
  Value before = narrow(arith::SubIOp::create(b, location, begin, at), integer);
  Value indices = arith::SubIOp::create(b, location, narrow(perLane, vectorOf(integer)), vector::BroadcastOp::create(b, location, vectorOf(integer), before));
  auto all = [&](int64_t value) { return number(DenseElementsAttr::get(vectorOf(integer), int32_t(value))); };
  if (mask)
    indices = arith::SelectOp::create(b, location, mask, indices, all(0));
  Value areWithin = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, indices, all(width));
  Value areNear = vector::ReductionOp::create(b, location, vector::CombiningKind::AND, areWithin);
  Value exist = mask ? mask : number(DenseElementsAttr::get(vectorOf(b.getI1Type()), true)), none = number(cast<TypedAttr>(b.getZeroAttr(type)));
  auto branch = scf::IfOp::create(b, location, type, areNear, /*withElseRegion=*/true);
  OpBuilder near = branch.getThenBodyBuilder(), far = branch.getElseBodyBuilder();
  Value loaded = vector::LoadOp::create(near, location, type, memref, ValueRange{begin});
  auto name = near.getStringAttr(width == 16 ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx2.permps");
  scf::YieldOp::create(near, location, LLVM::CallIntrinsicOp::create(near, location, type, name, ValueRange{loaded, indices}).getResult(0));
  scf::YieldOp::create(far, location, vector::GatherOp::create(far, location, type, memref, ValueRange{at}, perLane, exist, none).getResult());
  return branch.getResult(0);
}

/// The element, or one per lane: contiguous ones are one load.
Value PointEvaluator::readAt(const Node &node, const Read &read, ArrayRef<Value> args, Known &known) {
  Value at = address(read.access), perLane;
  bool isShared = vectorAtom >= 0 && (read.access.atoms() & ~atomBit(vectorAtom)); // by all rows
  for (auto [term, stride] : read.computed) {
    std::optional<AtomSet> atoms = atomsInBody(node, term);
    isShared = isShared && atoms && !(*atoms & ~atomBit(vectorAtom));
    Value index = valueInBody(node, term, args, known);
    if (!index)
      return {};
    OpBuilder b = builder();
    if (!isa<VectorType>(index.getType())) {
      at = add(at, mulConstant(index, stride));
      continue;
    }
    if (stride != 1)
      index = arith::MulIOp::create(b, location, index, splat(constant(stride)));
    perLane = perLane ? arith::AddIOp::create(b, location, perLane, index).getResult() : index;
  }
  bool lanesKnown = vectorAtom >= 0 && (scopes.back()->available & atomBit(vectorAtom));
  int64_t step = lanesKnown ? read.access.address.coefficient(vectorAtom) : 0;
  Value memref = buffer(read.access.buffer);
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  OpBuilder b = builder();
  if (!perLane) {
    Value loaded = step ? loadVector(memref, at, step, stored, {}, {})
                        : memref::LoadOp::create(b, location, memref, ValueRange{at}).getResult();
    return fromStorage(loaded, read.access.elementType);
  }
  auto type = vectorOf(b.getIndexType());
  if (step) {
    SmallVector<int64_t> offsets;
    for (int64_t lane = 0; lane < width; ++lane)
      offsets.push_back(lane * step);
    perLane = arith::AddIOp::create(b, location, perLane, number(DenseIntElementsAttr::get(type, ArrayRef<int64_t>(offsets))));
  }
  const int64_t elements = model.bufferElements[read.access.buffer];
  bool isVector = target.permutedLanes && (width == target.permutedLanes || width * 32 == target.vectorBits); // of one register
  if (isShared && isVector && stored.isF32() && elements >= width && llvm::isInt<32>(elements) && model.rowAtom < 0)
    return fromStorage(gatherShared(memref, at, perLane, elements), read.access.elementType);
  if (mask) { // Lanes that do not exist read the first element.
    perLane = arith::AddIOp::create(b, location, perLane, splat(at));
    perLane = arith::SelectOp::create(b, location, mask, perLane, splat(constant(0)));
    at = constant(0);
  }
  VectorType loaded = vectorOf(stored);
  // A table that one or two vectors hold (values of codes) is read once, and permuted. Without an instruction for it, that would be done element by
  // element, through memory.
  if (!mask && matchPattern(at, m_Zero()) && stored.isF32() && target.permutedLanes && width >= target.permutedLanes &&
      (elements == width || elements == 2 * width))
    return fromStorage(permuted(*this, memref, perLane, elements), read.access.elementType);
  // LLVM takes it apart for processors whose gathers are slow, and for elements that none gathers.
  Value all = number(DenseElementsAttr::get(vectorOf(b.getI1Type()), true)), none = number(cast<TypedAttr>(b.getZeroAttr(loaded)));
  Value gathered = vector::GatherOp::create(b, location, loaded, memref, ValueRange{at}, perLane, all, none);
  return fromStorage(gathered, read.access.elementType);
}

/// The atoms that a value of a body depends on; none if it depends on the body's arguments.
std::optional<AtomSet> PointEvaluator::atomsInBody(const Node &node, Value value) const {
  for (const auto &[captured, operand] : node.captured)
    if (captured == value)
      return model.depends(operand);
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (op->getBlock() != node.body)
    return AtomSet(0);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return node.loops[index.getDim()].atoms();
  AtomSet set = 0;
  SmallVector<Value> needed(op->getOperands());
  for (const Read &read : node.reads)
    if (read.op == op) {
      set = read.access.atoms();
      needed = llvm::to_vector(llvm::make_first_range(read.computed));
    }
  for (Value operand : needed) {
    std::optional<AtomSet> more = atomsInBody(node, operand);
    if (!more)
      return std::nullopt;
    set |= *more;
  }
  return set;
}

/// Indices of reads are computed as far out as they are known; null where a missing argument is needed.
Value PointEvaluator::valueInBody(const Node &node, Value value, ArrayRef<Value> args, Known &known) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Value result;
  std::optional<AtomSet> need = node.reads.empty() ? std::nullopt : atomsInBody(node, value);
  size_t level = need ? scopeFor(*need) : scopes.size() - 1;
  if (level + 1 == scopes.size()) {
    result = computeInBody(node, value, args, known);
  } else {
    result = scopes[level]->values.lookup(value);
    if (!result) {
      std::vector<std::shared_ptr<Scope>> all = scopes;
      scopes.resize(level + 1);
      Known outer;
      result = computeInBody(node, value, args, outer);
      scopes = all;
      scopes[level]->values[value] = result;
    }
  }
  return known[value] = result;
}

Value PointEvaluator::computeInBody(const Node &node, Value value, ArrayRef<Value> args, Known &known) {
  if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == node.body)
    return args[arg.getArgNumber()];
  if (Value constantOrCaptured = outside(node, value))
    return constantOrCaptured;
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return loopIndex(node.loops[index.getDim()]);
  Operation *op = value.getDefiningOp();
  for (const Read &read : node.reads)
    if (read.op == op)
      return readAt(node, read, args, known);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(valueInBody(node, operand, args, known));
    if (!operands.back())
      return {};
  }
  return cloneOn(op, operands);
}

Value PointEvaluator::evaluateInBody(const Node &node, Value value, ArrayRef<Value> args) {
  Known known;
  return valueInBody(node, value, args, known);
}

SmallVector<Value> PointEvaluator::cloneBody(const Node &node, ArrayRef<Value> args) {
  // One set of known values for all results, so that shared operations are cloned once.
  Known known;
  SmallVector<Value> results;
  for (Value yielded : node.body->getTerminator()->getOperands())
    results.push_back(valueInBody(node, yielded, args, known));
  return results;
}

SmallVector<Value> PointEvaluator::inputsOf(const Node &node) {
  SmallVector<Value> args;
  for (const Operand &input : node.inputs)
    args.push_back(evaluate(input));
  return args;
}

Value PointEvaluator::evaluate(const Operand &operand) {
  if (operand.kind == Operand::Scalar)
    return number(operand.scalar);

  AtomSet need = model.depends(operand);
  if (operand.kind == Operand::Intermediate) {
    for (auto &scope : llvm::reverse(scopes)) {
      if (auto it = scope->values.find(operand.value); it != scope->values.end())
        return it->second;
      if (need & scope->own)
        break;
    }
  }
  // Work in the outermost scope that knows enough.
  int level = scopeFor(need);
  if (operand.kind == Operand::Buffer)
    if (auto it = scopes[level]->loads.find(&operand.access); it != scopes[level]->loads.end())
      return it->second;
  std::vector<std::shared_ptr<Scope>> all = scopes;
  scopes.resize(level + 1);
  Value result;
  if (operand.kind == Operand::Buffer) {
    result = load(operand.access);
    scopes.back()->loads[&operand.access] = result;
  } else if (auto it = scratch.find(operand.value); it != scratch.end()) {
    result = loadScratch(it->second, operand.elementType);
  } else {
    const Node &node = model.nodeOf(operand);
    if (node.reduction) {
      scopes = all;
      return faultyNumber(operand.elementType);
    }
    SmallVector<Value> args = inputsOf(node);
    if (!node.body) {
      result = args.front();
    } else {
      for (const Operand &init : node.inits)
        args.push_back(init.kind == Operand::None ? Value() : evaluate(init));
      SmallVector<Value> results = cloneBody(node, args);
      for (auto [value, tensor] : llvm::zip(results, node.op->getResults()))
        if (!value)
          value = faultyNumber(getElementTypeOrSelf(tensor.getType()));
      for (auto [tensor, value] : llvm::zip(node.op->getResults(), results))
        scopes.back()->values[tensor] = value;
      result = results[model.producer.find(operand.value)->second.second];
    }
  }
  if (operand.kind == Operand::Intermediate)
    scopes.back()->values[operand.value] = result;
  scopes = all;
  return result;
}

} // namespace millrace::lowering
