// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionProducts.cpp - Packing and register tiles of attention -----===//
#include "lowering/cpu/emitters/attention/AttentionEmitter.h"
#include "lowering/cpu/emitters/FloatControl.h"
#include "lowering/cpu/emitters/rows/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering::attention {

/// Returns true if some buffer on which the operand depends is contiguous along the atom.
bool AttentionEmitter::isContiguous(const Operand &operand, int atom) const {
  if (operand.kind == Operand::Buffer)
    return operand.access.address.coefficient(atom) == 1;
  return operand.kind == Operand::Intermediate &&
         llvm::any_of(model.nodeOf(operand).inputs, [&](const Operand &input) { return isContiguous(input, atom); });
}

RegisterTile AttentionEmitter::chooseTile(int64_t rows, int64_t columns) const {
  int64_t registers = target.vectorRegisters, best = INT64_MAX;
  RegisterTile tile;
  SmallVector<int64_t> widths = registers == 32 ? SmallVector<int64_t>{4, 3, 2, 1} : SmallVector<int64_t>{2, 1, 3};
  for (int64_t vectors : widths) {
    int64_t most = (registers - 1 - vectors - (registers == 32 ? 2 : 0)) / vectors;
    if (registers == 32)
      most = std::min<int64_t>(most, vectors == 3 ? 8 : vectors == 4 ? 6 : vectors == 2 ? 12 : 16);
    int64_t tiles = llvm::divideCeil(rows, most), mr = llvm::divideCeil(rows, tiles);
    int64_t cycles = std::max({mr * vectors, mr + vectors, int64_t(8)}) * tiles * llvm::divideCeil(columns, vectors * lanes);
    if (cycles < best) {
      best = cycles;
      tile = {mr, vectors};
    }
  }
  return tile;
}

/// Chooses a slot for each source, for each product's weights, and one more where that saves recomputation.
void AttentionEmitter::chooseSlots() {
  size_t weights = 0, most = isForward() ? 1 : sources.size() + 1, live = 0;
  for (auto [index, product] : llvm::enumerate(products))
    weights += llvm::none_of(ArrayRef(products).take_front(index), [&](const Product &other) { return haveSameWeights(product, other); });
  for (int level = 2; level <= lastLevel; ++level)
    if (size_t here = liveAfter(level).size(); here <= most)
      live = std::max(live, here);
  slots.resize(std::max({sources.size(), weights, live}));
}

/// Chooses groups of rows, each of which packs keys and values again (`packed` elements): the number that finishes first, and one where rows are
/// summed.
void AttentionEmitter::chooseGroups(int64_t rows, int64_t packed) {
  // The cost of packing keys and values in each group of rows, as kPackedColumn of ContractionPlan.cpp. Unit: cycles per vector that is packed.
  // Source: judgement, as there.
  constexpr double kPackedCycles = 11;
  // How much later the last thread finishes, as in ContractionPlan.cpp. Unit: part of a unit. Source: judgement, as there.
  constexpr double kLate = 0.05;
  // A group has at least so many rows, so that a register tile is full. Unit: rows. Source: judgement, not measured alone; commit 826160f has the
  // figures of the whole change.
  constexpr int64_t kMinRowsOfGroup = 16;
  groups = 1;
  if (sumsRows())
    return;
  int64_t units = model.product(batch);
  double packing = double(packed) / double(lanes) * kPackedCycles, work = cyclesOfProducts() / double(units), best = 0;
  for (int64_t count = 1; count <= std::max<int64_t>(1, rows / kMinRowsOfGroup); ++count) {
    int64_t inGroup = llvm::divideCeil(rows, count);
    double cycles = (double(llvm::divideCeil(units * llvm::divideCeil(rows, inGroup), target.threads)) + kLate) * (packing + work * double(inGroup) / double(rows));
    if (best != 0 && cycles >= best)
      continue;
    best = cycles;
    groups = count;
  }
}

void AttentionEmitter::chooseBlocks() {
  lanes = target.vectorBits / type.getIntOrFloatBitWidth();
  int64_t bytes = type.getIntOrFloatBitWidth() / 8, rows = model.product(rowAtoms), length = model.atomSizes[n], widths = 0;
  for (const Source &source : sources)
    widths += model.atomSizes[source.k];
  for (const Product &product : products)
    widths += model.atomSizes[product.d];
  chooseGroups(rows, length * widths);
  groupRows = llvm::divideCeil(rows, groups);
  groups = llvm::divideCeil(rows, groupRows);
  // A tile of scores stays in the level 2 cache next to keys and values, if they fit there.
  int64_t packed = length * widths * bytes;
  // If they do not fit, each tile reads them from a farther cache: there are as few tiles as possible, unless rows are swept many times.
  bool isNear = packed <= target.l2Bytes * 5 / 8;
  int64_t left = isNear ? (target.l2Bytes - packed) * 2 / 3 : target.l2Bytes * 7 / 8 * (isForward() ? 3 : 2) / 3;
  int64_t most = std::clamp<int64_t>(left / (length * bytes * slots.size()), 12, 96);
  int64_t tiles = llvm::divideCeil(groupRows, most);
  tileRows = llvm::divideCeil(groupRows, tiles);
  chooseUnit();
  if (usesUnit())
    tileRows = llvm::alignTo(tileRows, kUnitRows);
  scoreTile = chooseTile(tileRows, length);
  if (usesUnit()) // register tiles of vectors and AMX tiles both divide the step of keys
    scoreTile = {int64_t(llvm::divideCeil(tileRows, llvm::divideCeil(tileRows, 12))), kUnitColumns / lanes};
  for (Product &product : products) {
    product.tile = chooseTile(product.isSumOfRows ? length : tileRows, model.atomSizes[product.d]);
    if (product.inUnit) {
      product.tile = {kUnitRows, kUnitColumns / lanes};
      product.wideTile = {scoreTile.rows, product.tile.vectors};
    }
    // The values of a piece stay in the level 1 cache during all rows of the tile.
    product.piece = std::max<int64_t>(64, target.l1Bytes / 2 / (product.tile.vectors * lanes * bytes));
  }
}

/// Binds lanes along `atom` from `begin` on; the index of lanes that do not exist stays in bounds.
void AttentionEmitter::bindLanes(PointEvaluator &at, int atom, Value begin, int64_t step) {
  int64_t size = model.atomSizes[atom];
  Value mask, count;
  if (size % step) {
    OpBuilder b = at.builder();
    Value left = arith::SubIOp::create(b, at.loc(), at.constant(size), begin);
    Value exist = arith::MaxSIOp::create(b, at.loc(), left, at.constant(0));
    mask = vector::CreateMaskOp::create(b, at.loc(), at.vectorOf(b.getI1Type()), ValueRange{exist});
    count = arith::MinSIOp::create(b, at.loc(), arith::MaxSIOp::create(b, at.loc(), left, at.constant(1)), at.constant(lanes));
    begin = arith::MinUIOp::create(b, at.loc(), begin, at.constant(size - 1));
  }
  at.bindIndex(atom, begin);
  at.setLanes(atom, mask, count);
}

/// Packs the operand for all indices `depth` and `column` as consecutive panels [depth][vectors * lanes].
void AttentionEmitter::packColumns(PointEvaluator &unit, const SumOfProducts &sum, const Factor &factor, int column, int depth, Value memory,
                                   int64_t vectors) {
  int64_t width = vectors * lanes, columns = model.atomSizes[column], steps = model.atomSizes[depth];
  bool isTransposed = !isContiguous(*factor.operand, column) && isContiguous(*factor.operand, depth);
  PointEvaluator at = unit;
  at.enter(at.block());
  for (int atom : rowOrder) // indices along which heads are repeated
    at.bindIndex(atom, at.constant(0));
  scf::ForOp panels = openLoop(at, at.constant(0), at.constant(columns), width);
  at.enterLoop(panels);
  Value first = panels.getInductionVar(), base = at.mulConstant(first, steps);
  scf::ForOp loop = openLoop(at, at.constant(0), at.constant(steps), isTransposed ? lanes : 1);
  at.enterLoop(loop);
  Value to = at.add(base, at.mulConstant(loop.getInductionVar(), width));
  auto store = [&](PointEvaluator &point, Value vector, int64_t offset, Value further) {
    Value address = point.addConstant(further ? point.add(to, further) : to, offset);
    OpBuilder b = point.builder();
    vector::StoreOp::create(b, point.loc(), vector, memory, ValueRange{address});
  };
  if (!isTransposed) {
    at.bindIndex(depth, loop.getInductionVar());
    for (int64_t v = 0; v < vectors; ++v) {
      PointEvaluator one = at;
      one.enter(at.block());
      bindLanes(one, column, one.addConstant(first, v * lanes), width);
      store(one, one.splat(factorAt(one, sum, factor)), v * lanes, {});
    }
    at.leave();
    at.leave();
    return;
  }
  scf::ForOp inner = openLoop(at, at.constant(0), at.constant(width), lanes);
  at.enterLoop(inner);
  SmallVector<Value> read;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    PointEvaluator one = at;
    one.enter(at.block());
    Value index = one.addConstant(one.add(first, inner.getInductionVar()), lane);
    if (columns % width) {
      OpBuilder b = one.builder();
      index = arith::MinUIOp::create(b, one.loc(), index, one.constant(columns - 1));
    }
    one.bindIndex(column, index);
    bindLanes(one, depth, loop.getInductionVar(), lanes);
    read.push_back(one.splat(factorAt(one, sum, factor)));
  }
  OpBuilder b = at.builder();
  transposeInRegisters(b, at.loc(), read);
  // Rows past the last index are overwritten by the next panel.
  for (int64_t row = 0; row < lanes; ++row)
    store(at, read[row], row * width, inner.getInductionVar());
  for (int loops = 0; loops < 3; ++loops)
    at.leave();
}

/// Packs rows [rowBegin, rowBegin + rows) of the operand, contiguous along `atom`.
void AttentionEmitter::packRows(PointEvaluator &tile, Value rowBegin, Value rows, const SumOfProducts &sum, const Factor &factor, int atom,
                                const Matrix &to) {
  PointEvaluator at = tile;
  scf::ForOp loop = openLoop(at, at.constant(0), rows, 1);
  at.enterLoop(loop);
  bindLinear(at, at.add(rowBegin, loop.getInductionVar()), rowOrder);
  Value base = at.mulConstant(loop.getInductionVar(), to.stride);
  for (int64_t step = 0; step < model.atomSizes[atom]; step += lanes) {
    PointEvaluator one = at;
    one.enter(at.block());
    bindLanes(one, atom, one.constant(step), lanes);
    Value vector = one.splat(factorAt(one, sum, factor));
    Value address = one.addConstant(base, step);
    OpBuilder b = one.builder();
    vector::StoreOp::create(b, one.loc(), vector, to.memory, ValueRange{address});
  }
  at.leave();
}

/// Packs the values of all products over the keys.
void AttentionEmitter::packValues(PointEvaluator &unit) {
  for (const Product &product : products) {
    if (product.isSumOfRows)
      continue;
    if (!product.inUnit) {
      packColumns(unit, product.sum, product.values, product.d, n, product.packedValues, product.tile.vectors);
      continue;
    }
    packPairs(unit, *narrowOf(product.values), product.d, n, product.packedValues);
    if (product.parts == 1)
      continue;
    Value here = areOrdinary(unit, {product.packedValues, 0}, unit.constant(1), product.sums.stride * llvm::alignTo(model.atomSizes[n], kUnitDepth));
    OpBuilder b = unit.builder();
    areParts = areParts ? arith::AndIOp::create(b, unit.loc(), areParts, here).getResult() : here;
  }
  if (!areParts)
    return;
  OpBuilder b = unit.builder();
  auto branch = scf::IfOp::create(b, unit.loc(), arith::XOrIOp::create(b, unit.loc(), areParts, unit.number(b.getBoolAttr(true))), /*withElseRegion=*/false);
  PointEvaluator inside = unit;
  inside.enterRegion(branch, branch.thenBlock());
  for (const Product &product : products)
    if (product.wideValues)
      packColumns(inside, product.sum, product.values, product.d, n, product.wideValues, product.wideTile.vectors);
  inside.leave();
}

/// Returns the first key that none of the rows reaches.
Value AttentionEmitter::reachOfRows(PointEvaluator &tile, Value rowBegin, Value rows) {
  PointEvaluator at = tile;
  scf::ForOp loop = openLoop(at, at.constant(0), rows, 1, at.constant(0));
  at.enterLoop(loop);
  bindLinear(at, at.add(rowBegin, loop.getInductionVar()), rowOrder);
  Value limit = at.linear(mask->limit);
  OpBuilder b = at.builder();
  yieldFrom(loop, {arith::MaxSIOp::create(b, at.loc(), loop.getRegionIterArg(0), limit).getResult()});
  at.leave();
  return loop.getResult(0);
}

/// Sets the first `count` elements to 0.
void AttentionEmitter::clear(PointEvaluator &unit, const Matrix &numbers, int64_t count) {
  PointEvaluator at = unit;
  OpBuilder b = at.builder();
  Value zero = at.number(cast<TypedAttr>(b.getZeroAttr(at.vectorOf(type))));
  scf::ForOp loop = openLoop(at, at.constant(0), at.constant(count), lanes);
  at.enterLoop(loop);
  b = at.builder();
  vector::StoreOp::create(b, at.loc(), zero, numbers.memory, ValueRange{loop.getInductionVar()});
  at.leave();
}

/// Returns whether 0 times every element that is packed for all rows is 0.
Value AttentionEmitter::areUnitsOrdinary(PointEvaluator &unit) {
  Value all = unit.number(unit.builder().getBoolAttr(true));
  auto check = [&](Value memory, int64_t count) {
    Value next = areOrdinary(unit, {memory, 0}, unit.constant(1), count);
    OpBuilder b = unit.builder();
    all = arith::AndIOp::create(b, unit.loc(), all, next);
  };
  for (const Product &product : products)
    if (!product.isSumOfRows)
      check(product.packedValues, product.sums.stride * (product.inUnit ? llvm::alignTo(model.atomSizes[n], kUnitDepth) : model.atomSizes[n]));
  for (const Source &source : sources)
    if (&source == mask->other || mask->isSum)
      check(source.packedKeys, llvm::alignTo(model.atomSizes[n], scoreTile.vectors * lanes) * llvm::alignTo(model.atomSizes[source.k], source.inUnit ? kUnitDepth : 1));
  return all;
}

/// Returns the same for the elements that are packed for the rows of a tile; null if nothing needs it.
Value AttentionEmitter::areRowsOrdinary(PointEvaluator &tile, Value rows) {
  Value all;
  auto check = [&](const Matrix &matrix, int64_t width) {
    Value next = areOrdinary(tile, matrix, rows, llvm::alignTo(width, lanes));
    OpBuilder b = tile.builder();
    all = all ? arith::AndIOp::create(b, tile.loc(), all, next).getResult() : next;
  };
  for (const Source &source : sources)
    if (&source == mask->other || mask->isSum)
      check(source.queryRows, model.atomSizes[source.k]);
  for (const Product &product : products)
    if (product.isSumOfRows)
      check(product.valueRows, model.atomSizes[product.d]);
  return all;
}

/// Returns whether all elements are so small that 0 times each is 0 and no sum of products of two of them overflows.
Value AttentionEmitter::areOrdinary(PointEvaluator &unit, const Matrix &numbers, Value rows, int64_t width) {
  PointEvaluator at = unit;
  OpBuilder b = at.builder();
  VectorType vectorType = at.vectorOf(type);
  scf::ForOp loop = openLoop(at, at.constant(0), rows, 1, at.number(cast<TypedAttr>(b.getZeroAttr(vectorType))));
  at.enterLoop(loop);
  Value base = at.mulConstant(loop.getInductionVar(), numbers.stride);
  scf::ForOp inner = openLoop(at, at.constant(0), at.constant(width), lanes, loop.getRegionIterArg(0));
  at.enterLoop(inner);
  Value from = at.add(base, inner.getInductionVar());
  b = at.builder();
  Type element = cast<MemRefType>(numbers.memory.getType()).getElementType();
  Value vector = vector::LoadOp::create(b, at.loc(), at.vectorOf(element), numbers.memory, ValueRange{from});
  if (element != type)
    vector = arith::ExtFOp::create(b, at.loc(), vectorType, vector);
  Value magnitude = math::AbsFOp::create(b, at.loc(), vector);
  yieldFrom(inner, {arith::MaximumFOp::create(b, at.loc(), inner.getRegionIterArg(0), magnitude).getResult()});
  at.leave();
  yieldFrom(loop, inner.getResult(0));
  at.leave();
  SmallVector<Value> most = foldLanes(at, {loop.getResult(0)}, [&](ArrayRef<Value> left, ArrayRef<Value> right) -> SmallVector<Value> {
    OpBuilder inside = at.builder();
    return {arith::MaximumFOp::create(inside, at.loc(), left[0], right[0])};
  });
  b = at.builder();
  Value limit = at.number(b.getFloatAttr(type, 0x1p58)); // a sum of 512 squares of it is finite in f32
  return arith::CmpFOp::create(b, at.loc(), arith::CmpFPredicate::OLT, most[0], limit);
}

/// c[row, column] (+)= sum over [kBegin, kEnd) of a[row, k] * panel[k, column] for the rows and columns of one register tile.
void AttentionEmitter::multiply(PointEvaluator &at, const RegisterTile &tile, const Matrix &a, Value aBase, const Matrix &panel,
                                Value panelBase, Value kBegin, Value kEnd, const Matrix &c, Value cBase, bool isSumming) {
  VectorType vectorType = at.vectorOf(type);
  SmallVector<Value> total, aRows, cAt;
  OpBuilder b = at.builder();
  Value zero = at.number(cast<TypedAttr>(b.getZeroAttr(vectorType)));
  for (int64_t r = 0; r < tile.rows; ++r) {
    aRows.push_back(at.addConstant(aBase, r * a.stride));
    for (int64_t v = 0; v < tile.vectors; ++v) {
      cAt.push_back(at.addConstant(cBase, r * c.stride + v * lanes));
      b = at.builder();
      total.push_back(isSumming ? vector::LoadOp::create(b, at.loc(), vectorType, c.memory, ValueRange{cAt.back()}).getResult() : zero);
    }
  }
  scf::ForOp loop = openLoop(at, kBegin, kEnd, 1, total);
  PointEvaluator in = at;
  in.enterLoop(loop);
  SmallVector<Value> next(loop.getRegionIterArgs()), columns;
  Value index = loop.getInductionVar();
  Value from = in.add(panelBase, in.mulConstant(index, panel.stride));
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Value address = in.addConstant(from, v * lanes);
    b = in.builder();
    columns.push_back(vector::LoadOp::create(b, in.loc(), vectorType, panel.memory, ValueRange{address}));
  }
  Value offset = in.mulConstant(index, a.step);
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value address = in.add(aRows[r], offset);
    b = in.builder();
    Value spread = in.splat(memref::LoadOp::create(b, in.loc(), a.memory, ValueRange{address}));
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value &sum = next[r * tile.vectors + v];
      sum = accumulateProduct(in, spread, columns[v], sum, target.fma);
    }
  }
  yieldFrom(loop, next);
  in.leave();
  for (auto [address, sum] : llvm::zip(cAt, loop.getResults())) {
    b = at.builder();
    vector::StoreOp::create(b, at.loc(), sum, c.memory, ValueRange{address});
  }
}

/// Multiplies a tile of rows with all keys.
void AttentionEmitter::multiplyTile(PointEvaluator &tile, Value rows, const Source &source, const Matrix &to) {
  int64_t width = scoreTile.vectors * lanes, depth = model.atomSizes[source.k];
  if (source.inUnit) {
    int64_t padded = llvm::alignTo(depth, kUnitDepth);
    multiplyInUnit(tile, rows, source.queryRows, 1, source.packedKeys, keysEnd, tile.constant(padded), padded, to);
    return;
  }
  PointEvaluator at = tile;
  scf::ForOp panels = openLoop(at, at.constant(0), keysEnd, width);
  at.enterLoop(panels);
  Value column = panels.getInductionVar(), panelBase = at.mulConstant(column, depth);
  scf::ForOp loop = openLoop(at, at.constant(0), rows, scoreTile.rows);
  at.enterLoop(loop);
  Value row = loop.getInductionVar();
  multiply(at, scoreTile, source.queryRows, at.mulConstant(row, source.queryRows.stride), {source.packedKeys, width}, panelBase, at.constant(0),
           at.constant(depth), to, at.add(at.mulConstant(row, to.stride), column), /*isSumming=*/false);
  at.leave();
  at.leave();
}

/// Multiplies a tile's weights with the values.
void AttentionEmitter::multiplyValues(PointEvaluator &tile, Value rows, const Product &product) {
  if (!product.inUnit) {
    // With weights that decrease along a row (biases), some have subnormal sums and products with every value. The region stores all results to
    // memory.
    bool flushes = target.avx512 && (type.isF32() || type.isF64());
    if (flushes) {
      saveFloatControl(tile, floatControl);
      flushSubnormals(tile, floatControl);
    }
    multiplyWideValues(tile, rows, product);
    if (flushes)
      keepSubnormals(tile, floatControl);
    return;
  }
  auto inUnit = [&](PointEvaluator &at) {
    narrowWeights(at, rows, product);
    multiplyInUnit(at, rows, product.narrowWeights, product.parts, product.packedValues, at.constant(model.atomSizes[product.d]), keysEnd,
                   llvm::alignTo(model.atomSizes[n], kUnitDepth), product.sums);
  };
  if (product.parts == 1) {
    inUnit(tile);
    return;
  }
  OpBuilder b = tile.builder();
  auto branch = scf::IfOp::create(b, tile.loc(), areParts, /*withElseRegion=*/true);
  PointEvaluator inside = tile;
  inside.enterRegion(branch, branch.thenBlock());
  inUnit(inside);
  inside.leave();
  inside.enterRegion(branch, branch.elseBlock());
  multiplyWideValues(inside, rows, product);
  inside.leave();
}

/// Does the same with vectors instead of AMX tiles.
void AttentionEmitter::multiplyWideValues(PointEvaluator &tile, Value rows, const Product &product) {
  const RegisterTile &registers = product.inUnit ? product.wideTile : product.tile;
  Value packedValues = product.inUnit ? product.wideValues : product.packedValues;
  int64_t width = registers.vectors * lanes, length = model.atomSizes[n], piece = product.piece;
  const Matrix &weights = slots[product.slot];
  auto panelsOf = [&](Value begin, Value end, bool isSumming) {
    PointEvaluator at = tile;
    scf::ForOp panels = openLoop(at, at.constant(0), at.constant(model.atomSizes[product.d]), width);
    at.enterLoop(panels);
    Value column = panels.getInductionVar(), panelBase = at.mulConstant(column, length);
    scf::ForOp loop = openLoop(at, at.constant(0), rows, registers.rows);
    at.enterLoop(loop);
    Value row = loop.getInductionVar();
    multiply(at, registers, weights, at.mulConstant(row, weights.stride), {packedValues, width}, panelBase, begin, end, product.sums,
             at.add(at.mulConstant(row, product.sums.stride), column), isSumming);
    at.leave();
    at.leave();
  };
  auto least = [&](Value value, Value most) {
    OpBuilder b = tile.builder();
    return arith::MinUIOp::create(b, tile.loc(), value, most).getResult();
  };
  panelsOf(tile.constant(0), least(tile.constant(std::min(piece, length)), keysEnd), false);
  if (length <= piece)
    return;
  scf::ForOp pieces = openLoop(tile, tile.constant(piece), keysEnd, piece);
  tile.enterLoop(pieces);
  panelsOf(pieces.getInductionVar(), least(tile.addConstant(pieces.getInductionVar(), piece), keysEnd), true);
  tile.leave();
}

/// Adds the contribution of a tile's rows to a sum over all rows, for each key, in row order.
void AttentionEmitter::multiplyRows(PointEvaluator &tile, Value rows, const Product &product) {
  const Matrix &weights = slots[product.slot];
  PointEvaluator at = tile;
  scf::ForOp loop = openLoop(at, at.constant(0), keysEnd, product.tile.rows);
  at.enterLoop(loop);
  Value key = loop.getInductionVar();
  scf::ForOp panels = openLoop(at, at.constant(0), at.constant(model.atomSizes[product.d]), product.tile.vectors * lanes);
  at.enterLoop(panels);
  Value column = panels.getInductionVar();
  multiply(at, product.tile, {weights.memory, 1, weights.stride}, key, product.valueRows, column, at.constant(0), rows, product.sums,
           at.add(at.mulConstant(key, product.sums.stride), column), /*isSumming=*/true);
  at.leave();
  at.leave();
}

} // namespace millrace::lowering::attention
