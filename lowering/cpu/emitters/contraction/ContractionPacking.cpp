// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionPacking.cpp - Pack the operands of a block --------------===//
// a is packed as rows of k, or as rows for each k where rows are contiguous; b as [k][NR], by shuffles where k is contiguous.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionEmitter.h"

#include "lowering/cpu/emitters/contraction/ByteShuffles.h"
#include "lowering/cpu/emitters/rows/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {
namespace {
/// Rows that are prefetched ahead of the one that is packed: they are on other pages, for which the hardware prefetcher is late. Unit: rows of b.
/// Source: judgement, not measured alone; commit 1d8c63d has the figures of the whole change.
constexpr int64_t kRowsAhead = 8;
/// The same for a, of which pieces of rows are packed: at least so many rows ahead. Unit: rows of a. Source: judgement, not measured alone; commit
/// 73c0369 has the figures of the whole change.
constexpr int64_t kRowsOfAAhead = 2;
/// And at least so many cache lines. Unit: cache lines of a. Source: commit 73c0369: gemm_1024 bf16 2.60 to 2.11 ms with other changes, one thread.
constexpr int64_t kLinesOfAAhead = 64;
} // namespace

/// Returns the element of the operand in its packed type; lanes that do not exist are 0 before elements of b are flipped.
Value ContractionEmitter::packedFactor(PointEvaluator &at, const Side &side) {
  if (group == 1)
    return at.splat(factorAt(at, products, side));
  Value value = factorOfGroup(at, side);
  if (&side == &b && grouped.flips())
    return grouped.flip(at, value);
  return &side == &a && grouped.widens() ? grouped.widenA(at, value) : value;
}

/// Returns the narrow element of the operand; lanes that do not exist are 0.
Value ContractionEmitter::factorOfGroup(PointEvaluator &at, const Side &side) {
  Value value = at.evaluateVector(*side.operand);
  if (at.laneMask()) {
    OpBuilder builder = at.builder();
    Value zero = at.number(cast<TypedAttr>(builder.getZeroAttr(value.getType())));
    value = arith::SelectOp::create(builder, at.loc(), at.laneMask(), value, zero);
  }
  return value;
}

/// Emits one loop over the packed k of the current block, for code that needs no index of k.
SmallVector<Value> ContractionEmitter::forEachPacked(
    PointEvaluator &at, int64_t step, SmallVector<Value> carried, KBody body) {
  Value end = at.constant(packedK);
  if (tile.kChunks > 1 && kMiddle.empty()) {
    OpBuilder builder = at.builder();
    end = arith::SubIOp::create(builder, at.loc(), kEnd, kBegin);
  }
  scf::ForOp loop = openLoop(at, at.constant(0), end, step, carried);
  at.enterLoop(loop);
  yieldFrom(loop, body(at, loop.getInductionVar(), {}, SmallVector<Value>(loop.getRegionIterArgs())));
  at.leave();
  return SmallVector<Value>(loop.getResults());
}

/// Emits loops over the k of the current block in steps of the innermost atom. `packedIndex` counts them from 0.
SmallVector<Value> ContractionEmitter::forEachK(PointEvaluator &at, int64_t step, SmallVector<Value> carried, KBody body) {
  std::function<SmallVector<Value>(PointEvaluator &, size_t, Value, SmallVector<Value>)> nest =
      [&](PointEvaluator &point, size_t depth, Value base, SmallVector<Value> values) -> SmallVector<Value> {
    if (depth == kMiddle.size()) {
      if (kInner < 0)
        return body(point, base, {}, values);
      scf::ForOp loop = openLoop(point, kBegin, kEnd, step, values);
      point.enterLoop(loop);
      Value k = loop.getInductionVar();
      point.bindIndex(kInner, k);
      Value offset = k;
      if (!matchPattern(kBegin, m_Zero())) {
        OpBuilder builder = point.builder();
        offset = arith::SubIOp::create(builder, point.loc(), k, kBegin);
      }
      SmallVector<Value> next = body(point, point.add(base, offset), k,
                                     SmallVector<Value>(loop.getRegionIterArgs()));
      yieldFrom(loop, next);
      point.leave();
      return SmallVector<Value>(loop.getResults());
    }
    int atom = kMiddle[depth];
    bool isSplit = tile.splits > 1 && depth == 0;
    scf::ForOp loop = openLoop(point, point.constant(0),
                               point.constant(isSplit ? tile.splitLength : model.atomSizes[atom]), 1, values);
    point.enterLoop(loop);
    point.bindIndex(atom, isSplit ? point.add(splitBegin, loop.getInductionVar()) : Value(loop.getInductionVar()));
    int64_t stride = tile.kStride;
    for (size_t deeper = depth + 1; deeper < kMiddle.size(); ++deeper)
      stride *= model.atomSizes[kMiddle[deeper]];
    Value inner = point.add(base, point.mulConstant(loop.getInductionVar(), stride));
    SmallVector<Value> next = nest(point, depth + 1, inner, SmallVector<Value>(loop.getRegionIterArgs()));
    yieldFrom(loop, next);
    point.leave();
    return SmallVector<Value>(loop.getResults());
  };
  return nest(at, 0, at.constant(0), carried);
}

/// Packs a[rows of the chunk, k of the block] to scratch, unless a is read in place, and adds up each row for its correction, if there are any.
void ContractionEmitter::packRows(PointEvaluator &block, Value begin, Value end) {
  bool alongRows = a.lane != kInner;
  int64_t lanes = tile.lanes;
  if (alongRows && mOrder.size() == 1) {
    packRowsOfEachK(block, begin, end);
    return;
  }
  PointEvaluator at = block;
  scf::ForOp loop = openLoop(at, begin, end, alongRows ? lanes : 1);
  at.enterLoop(loop);
  OpBuilder builder = at.builder();
  Value row = loop.getInductionVar();
  bindLinear(at, row, mOrder);
  Value local = arith::SubIOp::create(builder, at.loc(), row, begin);
  Value base = at.mulConstant(local, aRowStride);
  if (alongRows) {
    Value mask, count;
    if (rows() % lanes) {
      builder = at.builder();
      Value left = arith::SubIOp::create(builder, at.loc(), at.constant(rows()), row);
      count = arith::MinUIOp::create(builder, at.loc(), left, at.constant(lanes));
      mask = vector::CreateMaskOp::create(builder, at.loc(), at.vectorOf(builder.getI1Type()), ValueRange{left});
    }
    at.setLanes(a.lane, mask, count);
  }
  // `ahead` is the distance from an element of this row to that of a later row.
  Value ahead;
  if (!alongRows && a.operand->kind == Operand::Buffer && a.operand->access.guards.empty() && mOrder.size() == 1)
    if (int64_t stride = a.operand->access.address.coefficient(mOrder.back()); stride >= 256) {
      builder = at.builder();
      int64_t lines = llvm::divideCeil(packedK * a.operand->elementType.getIntOrFloatBitWidth(), target.lineBytes * 8);
      int64_t rowsAhead = std::max<int64_t>(kRowsOfAAhead, llvm::divideCeil(kLinesOfAAhead, lines));
      Value left = arith::SubIOp::create(builder, at.loc(), at.constant(rows() - 1), row);
      ahead = at.mulConstant(arith::MinUIOp::create(builder, at.loc(), left, at.constant(rowsAhead)), stride);
    }
  // AMX tiles have whole cache lines of k.
  int64_t pieces = matrixUnit && !alongRows ? group : 1;
  SmallVector<Value> rowSums;
  if (corrections)
    rowSums.push_back(at.number(DenseElementsAttr::get(VectorType::get({lanes}, at.builder().getI32Type()), int32_t(0))));
  rowSums = forEachK(at, alongRows ? 1 : pieces * lanes, rowSums,
           [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value> added) -> SmallVector<Value> {
             if (!alongRows && kInner >= 0) {
               Value mask, count;
               if (model.atomSizes[kInner] % lanes) {
                 OpBuilder inner = point.builder();
                 Value left = arith::SubIOp::create(inner, point.loc(), kEnd, k);
                 count = arith::MinUIOp::create(inner, point.loc(), left, point.constant(lanes));
                 mask = vector::CreateMaskOp::create(inner, point.loc(), point.vectorOf(inner.getI1Type()),
                                                     ValueRange{left});
               }
               point.setLanes(kInner, mask, count);
             }
             if (ahead) {
               Value from = point.add(point.address(a.operand->access), ahead);
               OpBuilder inner = point.builder();
               memref::PrefetchOp::create(inner, point.loc(), point.buffer(a.operand->access.buffer), ValueRange{from}, /*isWrite=*/false,
                                          /*localityHint=*/3, /*isDataCache=*/true);
             }
             for (Value &sum : added)
               sum = grouped.addElements(point, factorOfGroup(point, a), sum);
             for (int64_t piece = 0; piece < (a.packed ? pieces : 0); ++piece) {
               PointEvaluator one = point;
               one.enter(point.block());
               if (piece)
                 one.bindIndex(kInner, one.addConstant(k, piece * lanes));
               Value value = packedFactor(one, a);
               Value to = one.addConstant(one.add(base, one.mulConstant(packedIndex, aKStride)), piece * lanes * aKStride);
               OpBuilder inner = one.builder();
               vector::StoreOp::create(inner, one.loc(), value, packedA, ValueRange{to});
             }
             return added;
           });
  if (corrections) {
    builder = at.builder();
    Value sum = vector::ReductionOp::create(builder, at.loc(), vector::CombiningKind::ADD, rowSums.front());
    Value factor = arith::ConstantOp::create(builder, at.loc(), builder.getI32IntegerAttr(int32_t(grouped.correction())));
    Value correction = arith::MulIOp::create(builder, at.loc(), sum, factor);
    memref::StoreOp::create(builder, at.loc(), correction, corrections, ValueRange{local});
  }
  at.leave();
}

/// Does the same where all rows of one k are contiguous: they are read in this order.
void ContractionEmitter::packRowsOfEachK(PointEvaluator &block, Value begin, Value end) {
  int64_t lanes = tile.lanes;
  // Blocks and chunks begin at multiples of the tile's rows, not of the lanes: the last vector of the last one may reach past the last row.
  bool lastRowsNeedMask = rows() % lanes || (tile.mBlocks > 1 && tile.blockRows % lanes) ||
                          (tile.chunkRows < tile.blockRows && tile.chunkRows % lanes);
  PointEvaluator at = block;
  forEachK(at, 1, {}, [&](PointEvaluator &point, Value packedIndex, Value, SmallVector<Value>) -> SmallVector<Value> {
    Value base = point.mulConstant(packedIndex, aKStride);
    scf::ForOp loop = openLoop(point, begin, end, lanes);
    point.enterLoop(loop);
    Value row = loop.getInductionVar(), mask, count;
    point.bindIndex(mOrder.back(), row);
    if (lastRowsNeedMask) {
      OpBuilder builder = point.builder();
      Value left = arith::SubIOp::create(builder, point.loc(), point.constant(rows()), row);
      count = arith::MinUIOp::create(builder, point.loc(), left, point.constant(lanes));
      mask = vector::CreateMaskOp::create(builder, point.loc(), point.vectorOf(builder.getI1Type()), ValueRange{left});
    }
    point.setLanes(a.lane, mask, count);
    Value value = packedFactor(point, a);
    OpBuilder builder = point.builder();
    Value to = point.add(base, arith::SubIOp::create(builder, point.loc(), row, begin));
    builder = point.builder();
    vector::StoreOp::create(builder, point.loc(), value, packedA, ValueRange{to});
    point.leave();
    return {};
  });
}

/// Returns the mask of vector number `vector` of the panel; null if all its columns are known to exist.
Value ContractionEmitter::columnMask(PointEvaluator &at, Value columnBegin, int64_t vector, Value &count) {
  if (!columnsMasked() || panelIsWhole)
    return {};
  OpBuilder builder = at.builder();
  Value left =
      arith::SubIOp::create(builder, at.loc(), at.constant(model.atomSizes[nLane] - vector * tile.lanes), columnBegin);
  Value positive = arith::MaxSIOp::create(builder, at.loc(), left, at.constant(0));
  count = arith::MinSIOp::create(builder, at.loc(), positive, at.constant(tile.lanes));
  return vector::CreateMaskOp::create(builder, at.loc(), at.vectorOf(builder.getI1Type()), ValueRange{count});
}

/// Enters a panel: sets its columns, its index in the group and its place in scratch, which starts with `firstPacked`.
void ContractionEmitter::enterPanel(PointEvaluator &at, Value panel, Value firstPanel, Value firstPacked) {
  columnBegin = at.constant(0);
  if (panelAtom < 0)
    columnBegin = at.mulConstant(panel, tile.nr());
  else
    at.bindIndex(panelAtom, panel);
  OpBuilder builder = at.builder();
  panelInGroup = arith::SubIOp::create(builder, at.loc(), panel, firstPanel);
  if (hasPanels()) {
    Value place = kBlock ? at.add(at.mulConstant(kBlock, tile.panels), panel) : panel, matrix;
    for (int atom : batchOrder)
      matrix = matrix ? at.add(at.mulConstant(matrix, model.atomSizes[atom]), at.index(atom)) : at.index(atom);
    if (matrix)
      place = at.add(at.mulConstant(matrix, kBlocks() * tile.panels), place);
    packedBase = at.mulConstant(place, panelElements());
    return;
  }
  Value inPacked = arith::SubIOp::create(builder, at.loc(), panel, firstPacked);
  packedBase = tile.packedPanels > 1 ? at.add(packedBuffer, at.mulConstant(inPacked, panelElements())) : at.constant(0);
}

/// Packs the panels in [begin, end) to scratch, several at a time, so that wide pieces of b's rows are read. `firstPacked` is the first one in
/// scratch.
void ContractionEmitter::packManyPanels(PointEvaluator &block, Value begin, Value end, int64_t most, Value firstPanel, Value firstPacked) {
  int64_t count = std::min(most, panelsAtOnce());
  PointEvaluator at = block;
  scf::ForOp loop = openLoop(at, begin, end, count);
  at.enterLoop(loop);
  Value panel = loop.getInductionVar();
  if (most % count || tile.panels % tile.groupPanels) {
    // The last panels overlap those before.
    OpBuilder builder = at.builder();
    panel = arith::MinUIOp::create(builder, at.loc(), panel, arith::SubIOp::create(builder, at.loc(), end, at.constant(count)));
  }
  enterPanel(at, panel, firstPanel, firstPacked);
  if (runs)
    packRuns(at, columnBegin);
  else
    packPanels(at, columnBegin, count);
  at.leave();
}

/// Chooses the panels that are packed while those from `packedBegin` to `packedEnd` are multiplied: the next ones, and after the last ones the first
/// ones of the next block of k. Two buffers alternate.
void ContractionEmitter::choosePanelsAhead(PointEvaluator &at, Value packedBegin, Value packedEnd, Value firstPanel, Value panelEnd,
                                           Value tilesOfPanel) {
  OpBuilder builder = at.builder();
  Location loc = at.loc();
  Value atOnce = at.constant(tile.packedPanels), one = at.constant(1), none = at.constant(0);
  Value ofGroup = arith::SubIOp::create(builder, loc, panelEnd, firstPanel), before = arith::SubIOp::create(builder, loc, packedBegin, firstPanel);
  Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, packedEnd, panelEnd);
  Value turn = arith::DivUIOp::create(builder, loc, before, atOnce), nextBlock;
  if (kBlocks() > 1) {
    Value turnsOfBlock = arith::CeilDivUIOp::create(builder, loc, ofGroup, atOnce);
    turn = arith::AddIOp::create(builder, loc, turn, arith::MulIOp::create(builder, loc, kBlock, turnsOfBlock));
    nextBlock = arith::AddIOp::create(builder, loc, kBlock, arith::SelectOp::create(builder, loc, isEnd, one, none));
    Value lastBlock = at.constant(kBlocks() - 1);
    isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, nextBlock, lastBlock);
    nextBlock = arith::MinUIOp::create(builder, loc, nextBlock, lastBlock);
  }
  Value isOdd = arith::RemUIOp::create(builder, loc, turn, at.constant(2));
  Value isEven = arith::SubIOp::create(builder, loc, one, isOdd);
  packedBuffer = at.mulConstant(isOdd, tile.packedPanels * panelElements());
  ahead.buffer = at.mulConstant(isEven, tile.packedPanels * panelElements());

  builder = at.builder();
  Value isLastOfGroup = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, packedEnd, panelEnd);
  Value nextEnd = arith::MinUIOp::create(builder, loc, arith::AddIOp::create(builder, loc, packedEnd, atOnce), panelEnd);
  nextEnd = arith::SelectOp::create(builder, loc, isLastOfGroup, arith::AddIOp::create(builder, loc, firstPanel, atOnce), nextEnd);
  ahead.columnBegin = at.mulConstant(arith::SubIOp::create(builder, loc, nextEnd, atOnce), tile.nr());

  PointEvaluator point = at;
  point.enter(at.block());
  Value begin = kBegin, end = kEnd, split = splitBegin;
  if (nextBlock)
    bindBlock(point, nextBlock);
  for (auto [depth, atom] : llvm::enumerate(kMiddle))
    point.bindIndex(atom, tile.splits > 1 && depth == 0 ? splitBegin : none);
  point.bindIndex(kInner, kBegin);
  point.bindIndex(nLane, ahead.columnBegin);
  ahead.address = point.address(b.operand->access);
  builder = at.builder();
  Value length = at.constant(packedK);
  if (tile.kChunks > 1)
    length = arith::SubIOp::create(builder, loc, kEnd, kBegin);
  ahead.length = arith::SelectOp::create(builder, loc, isEnd, none, length);
  kBegin = begin;
  kEnd = end;
  splitBegin = split;

  Value panels = arith::SubIOp::create(builder, loc, packedEnd, packedBegin);
  Value tiles = arith::MulIOp::create(builder, loc, panels, tilesOfPanel);
  ahead.step = arith::CeilDivUIOp::create(builder, loc, ahead.length, tiles);
}

/// Emits the packing that precedes tile number `number` of those that multiply with the same packed panels.
void ContractionEmitter::packAhead(PointEvaluator &at, Value number) {
  int64_t lanes = tile.lanes, vectors = tile.packedPanels * tile.nv;
  SmallVector<Value> masks(vectors), counts(vectors);
  for (int64_t v = 0; v < vectors; ++v)
    masks[v] = columnMask(at, ahead.columnBegin, v, counts[v]);
  OpBuilder builder = at.builder();
  Location loc = at.loc();
  Value begin = arith::MinUIOp::create(builder, loc, arith::MulIOp::create(builder, loc, number, ahead.step), ahead.length);
  Value end = arith::MinUIOp::create(builder, loc, arith::AddIOp::create(builder, loc, begin, ahead.step), ahead.length);
  ahead.nextAddress = at.add(ahead.address, at.mulConstant(end, b.operand->access.address.coefficient(kInner)));
  scf::ForOp loop = openLoop(at, begin, end, 1);
  at.enterLoop(loop);
  Value memory = at.buffer(b.operand->access.buffer), k = loop.getInductionVar();
  Value from = at.add(ahead.address, at.mulConstant(k, b.operand->access.address.coefficient(kInner)));
  Value to = at.add(ahead.buffer, at.mulConstant(k, tile.nr()));
  auto type = VectorType::get({lanes}, packType);
  Value zero = at.number(cast<TypedAttr>(builder.getZeroAttr(type)));
  for (int64_t v = 0; v < vectors; ++v) {
    Value place = at.addConstant(from, v * lanes), target = at.addConstant(to, v / tile.nv * panelElements() + v % tile.nv * lanes);
    builder = at.builder();
    Value value = masks[v] ? vector::MaskedLoadOp::create(builder, loc, type, memory, ValueRange{place}, masks[v], zero).getResult()
                           : vector::LoadOp::create(builder, loc, type, memory, ValueRange{place}).getResult();
    vector::StoreOp::create(builder, loc, value, packedB, ValueRange{target});
  }
  at.leave();
}

/// Prefetches, at every other k, a cache line of what is packed before the next tiles. It takes few instructions, because the products need the
/// address units, too. Prefetches of lines and rows that are not packed, even past the end of b, are harmless.
void ContractionEmitter::prefetchAhead(PointEvaluator &at, Value packedIndex) {
  auto lines = static_cast<int64_t>(llvm::PowerOf2Ceil(tile.packedPanels * tile.nv));
  Location loc = at.loc();
  OpBuilder builder = at.builder();
  Value row = arith::ShRUIOp::create(builder, loc, packedIndex, at.constant(llvm::Log2_64(2 * lines)));
  Value line = arith::AndIOp::create(builder, loc, packedIndex, at.constant(2 * lines - 2));
  Value from = at.add(at.mulConstant(row, b.operand->access.address.coefficient(kInner)), at.mulConstant(line, tile.lanes / 2));
  from = at.add(ahead.nextAddress, from);
  builder = at.builder();
  memref::PrefetchOp::create(builder, loc, at.buffer(b.operand->access.buffer), ValueRange{from}, /*isWrite=*/false, /*localityHint=*/2,
                             /*isDataCache=*/true);
}

/// Packs b[k of the block, columns of `count` panels] to scratch as [k][NR] each.
void ContractionEmitter::packPanels(PointEvaluator &panel, Value columnBegin, int64_t count) {
  if (b.lane != nLane) {
    packColumns(panel, columnBegin);
    return;
  }
  int64_t lanes = tile.lanes, vectors = count * tile.nv;
  SmallVector<Value> masks(vectors), counts(vectors);
  for (int64_t v = 0; v < vectors; ++v)
    masks[v] = columnMask(panel, columnBegin, v, counts[v]);
  PointEvaluator at = panel;
  bool prefetches = kInner >= 0 && b.operand->kind == Operand::Buffer && b.operand->access.guards.empty() &&
                    b.operand->access.address.coefficient(kInner) >= 256;
  Value lastK = kInner < 0 ? Value() : at.constant(model.atomSizes[kInner] - 1);
  forEachK(at, group, {},
           [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value>) -> SmallVector<Value> {
             Value base = point.add(packedBase, point.mulConstant(packedIndex, tile.nr()));
             if (prefetches) {
               int64_t columnsOfLine = target.lineBytes * 8 / b.operand->elementType.getIntOrFloatBitWidth();
               for (int64_t row = 0; row < group; ++row) {
                 PointEvaluator ahead = point;
                 ahead.enter(point.block());
                 OpBuilder builder = ahead.builder();
                 Value later = arith::MinUIOp::create(builder, ahead.loc(), ahead.addConstant(k, kRowsAhead * group + row), lastK);
                 ahead.bindIndex(kInner, later);
                 ahead.bindIndex(nLane, columnBegin);
                 for (int64_t column = 0; column < vectors * lanes; column += columnsOfLine) {
                   Value from = ahead.addConstant(ahead.address(b.operand->access), column);
                   builder = ahead.builder();
                   memref::PrefetchOp::create(builder, ahead.loc(), ahead.buffer(b.operand->access.buffer), ValueRange{from},
                                              /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
                 }
               }
             }
             for (int64_t v = 0; v < vectors; ++v) {
               auto read = [&](int64_t ahead) {
                 PointEvaluator one = point;
                 one.enter(point.block());
                 // Where the last group lacks rows, the row before takes their place: a has zeros for them.
                 if (ahead) {
                   Value row = one.addConstant(k, ahead);
                   OpBuilder builder = one.builder();
                   if (model.atomSizes[kInner] % group)
                     row = arith::MinUIOp::create(builder, one.loc(), row, lastK);
                   one.bindIndex(kInner, row);
                 }
                 one.bindIndex(nLane, one.addConstant(columnBegin, v * lanes));
                 one.setLanes(nLane, masks[v], counts[v]);
                 return packedFactor(one, b);
               };
               // Element i of row r is stored at i * group + r: the halves of the rows are interleaved, then the halves of these.
               SmallVector<Value> neighbours;
               for (int64_t ahead = 0; ahead < group; ++ahead)
                 neighbours.push_back(read(ahead));
               for (int64_t half = group / 2; half > 0; half /= 2)
                 for (int64_t i = 0; i < half; ++i) {
                   OpBuilder builder = point.builder();
                   neighbours[i] = vector::InterleaveOp::create(builder, point.loc(), neighbours[i], neighbours[i + half]);
                 }
               Value value = neighbours.front();
               PointEvaluator &one = point;
               Value to = one.addConstant(base, v / tile.nv * panelElements() + v % tile.nv * lanes * group);
               OpBuilder builder = one.builder();
               vector::StoreOp::create(builder, one.loc(), value, packedB, ValueRange{to});
             }
             return {};
           });
}

/// Does the same where b is contiguous along k: vectors of k for `lanes` columns are transposed in registers.
void ContractionEmitter::packColumns(PointEvaluator &panel, Value columnBegin) {
  int64_t lanes = tile.lanes;
  PointEvaluator at = panel;
  int64_t depth = group * lanes;
  forEachK(at, depth, {},
           [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value>) -> SmallVector<Value> {
             SmallVector<Value> masks(group), counts(group);
             if (model.atomSizes[kInner] % depth)
               for (int64_t part = 0; part < group; ++part) {
                 OpBuilder builder = point.builder();
                 Value left = arith::SubIOp::create(builder, point.loc(), kEnd, point.addConstant(k, part * lanes));
                 left = arith::MaxSIOp::create(builder, point.loc(), left, point.constant(0));
                 counts[part] = arith::MinUIOp::create(builder, point.loc(), left, point.constant(lanes));
                 masks[part] = vector::CreateMaskOp::create(builder, point.loc(), point.vectorOf(builder.getI1Type()),
                                                            ValueRange{left});
               }
             Value base = point.add(packedBase, point.mulConstant(packedIndex, tile.nr()));
             scf::ForOp loop = openLoop(point, point.constant(0), point.constant(tile.nr()), lanes);
             point.enterLoop(loop);
             Value firstColumn = point.add(columnBegin, loop.getInductionVar());
             Value to = point.add(base, point.mulConstant(loop.getInductionVar(), group));
             SmallVector<Value> vectors;
             for (int64_t column = 0; column < lanes; ++column) {
               PointEvaluator one = point;
               one.enter(point.block());
               Value index = one.addConstant(firstColumn, column);
               if (columnsMasked()) {
                 OpBuilder builder = one.builder();
                 index = arith::MinUIOp::create(builder, one.loc(), index,
                                                one.constant(model.atomSizes[nLane] - 1));
               }
               // Neighbouring k are one element.
               SmallVector<Value> parts;
               for (int64_t part = 0; part < group; ++part) {
                 PointEvaluator piece = point;
                 piece.enter(point.block());
                 piece.bindIndex(nLane, index);
                 if (part)
                   piece.bindIndex(kInner, piece.addConstant(k, part * lanes));
                 piece.setLanes(kInner, masks[part], counts[part]);
                 parts.push_back(packedFactor(piece, b));
               }
               OpBuilder join = point.builder();
               Value value = joined(join, point.loc(), parts);
               if (group > 1)
                 value = vector::BitCastOp::create(join, point.loc(),
                                                   point.vectorOf(join.getIntegerType(group * packType.getIntOrFloatBitWidth())), value);
               vectors.push_back(value);
             }
             OpBuilder builder = point.builder();
             transposeInRegisters(builder, point.loc(), vectors);
             for (int64_t row = 0; row < lanes; ++row) {
               Value at = point.addConstant(to, row * tile.nr() * group);
               OpBuilder store = point.builder();
               Value value = vectors[row];
               if (group > 1)
                 value = vector::BitCastOp::create(store, point.loc(), VectorType::get({group * lanes}, packType), value);
               vector::StoreOp::create(store, point.loc(), value, packedB, ValueRange{at});
             }
             point.leave();
             return {};
           });
}

/// Does the same where columns are runs of the block's k in their own order: vectors of k of `lanes` columns are transposed in registers, and each k
/// is stored where the rows of a have it.
void ContractionEmitter::packRuns(PointEvaluator &panel, Value columnBegin) {
  int64_t lanes = tile.lanes;
  PointEvaluator at = panel;
  const LinearExpr &address = b.operand->access.address;
  AtomSet kAndColumn = kAtoms | atomBit(nLane);
  Value base = at.addConstant(at.terms(address, ~kAndColumn), address.offset);
  base = at.add(base, at.mulConstant(kBegin, window));
  OpBuilder builder = at.builder();
  Value length = at.mulConstant(arith::SubIOp::create(builder, at.loc(), kEnd, kBegin), window);
  scf::ForOp loop = openLoop(at, at.constant(0), length, lanes);
  at.enterLoop(loop);
  Value from = loop.getInductionVar();
  int64_t last = model.atomSizes[kInner] - (tile.kChunks - 1) * tile.kc;
  if (tile.kc * window % lanes || last * window % lanes) {
    builder = at.builder();
    Value latest = arith::SubIOp::create(builder, at.loc(), length, at.constant(lanes));
    from = arith::MinUIOp::create(builder, at.loc(), from, latest);
  }
  SmallVector<Value> to;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value local = at.addConstant(from, lane);
    builder = at.builder();
    Value inner = arith::DivUIOp::create(builder, at.loc(), local, at.constant(window));
    Value middle = arith::RemUIOp::create(builder, at.loc(), local, at.constant(window));
    to.push_back(at.add(packedBase, at.mulConstant(at.add(at.mulConstant(middle, tile.kStride), inner), tile.nr())));
  }
  base = at.add(base, from);
  scf::ForOp columns = openLoop(at, at.constant(0), at.constant(tile.nr()), lanes);
  at.enterLoop(columns);
  Value firstColumn = at.add(columnBegin, columns.getInductionVar());
  SmallVector<Value> vectors;
  for (int64_t column = 0; column < lanes; ++column) {
    Value index = at.addConstant(firstColumn, column);
    builder = at.builder();
    if (columnsMasked())
      index = arith::MinUIOp::create(builder, at.loc(), index, at.constant(model.atomSizes[nLane] - 1));
    Value start = at.add(base, at.mulConstant(index, address.coefficient(nLane)));
    builder = at.builder();
    vectors.push_back(vector::LoadOp::create(builder, at.loc(), VectorType::get({lanes}, accType), at.buffer(b.operand->access.buffer),
                                             ValueRange{start}));
  }
  builder = at.builder();
  transposeInRegisters(builder, at.loc(), vectors);
  for (auto [vector, row] : llvm::zip(vectors, to)) {
    Value place = at.add(row, columns.getInductionVar());
    builder = at.builder();
    vector::StoreOp::create(builder, at.loc(), vector, packedB, ValueRange{place});
  }
  at.leave();
  at.leave();
}

} // namespace millrace::lowering
