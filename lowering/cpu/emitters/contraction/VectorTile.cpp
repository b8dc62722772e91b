// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorTile.cpp - Emit register tiles of vectors --------------------===//
// MR rows of a panel are added up over the k of one block in MR x NR/lanes vectors. Of several blocks, partial sums wait in scratch.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionEmitter.h"
#include "lowering/cpu/emitters/FloatControl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {

/// Binds a tile's rows, and returns where each row is in a and among the partial sums.
void ContractionEmitter::bindRows(PointEvaluator &panel, int64_t mr, Value row, AtomSet inBlock, TileRows &made) {
  const LinearExpr &inPlace = a.operand->access.address;
  for (int64_t r = 0; r < mr; ++r) {
    PointEvaluator point = panel;
    point.enter(panel.block());
    Value index = point.addConstant(row, r);
    if (overlaps()) {
      OpBuilder builder = point.builder();
      index = arith::MinUIOp::create(builder, point.loc(), index, point.constant(rows() - 1));
    }
    if (isStraight(mr) && r > 0) {
      for (int atom : mOrder)
        point.bindIndex(atom, made.points.front().index(atom));
      point.bindIndex(mOrder.back(), point.addConstant(made.points.front().index(mOrder.back()), r));
    } else {
      bindLinear(point, index, mOrder);
    }
    OpBuilder builder = point.builder();
    Value local = arith::SubIOp::create(builder, point.loc(), index, chunkBegin);
    bool follows = r > 0 && (a.packed ? !overlaps() : isStraight(mr));
    made.offsets.push_back(follows ? r * (a.packed ? aRowStride : inPlace.coefficient(mOrder.back())) : 0);
    if (follows)
      made.bases.push_back(made.bases.front());
    else if (a.packed)
      made.bases.push_back(point.mulConstant(local, aRowStride));
    else
      made.bases.push_back(point.addConstant(point.terms(inPlace, ~inBlock), inPlace.offset));
    if (!siblings.empty())
      made.partialBases.push_back(point.addConstant(point.mulConstant(local, tile.nr()), sibling * sumElements()));
    if (partials) {
      builder = point.builder();
      Value ofBlock = arith::SubIOp::create(builder, point.loc(), index, rowBegin);
      made.partialBases.push_back(point.add(point.mulConstant(panelInGroup, tile.blockRows * tile.nr()),
                                            point.mulConstant(ofBlock, tile.nr())));
    }
    if (corrections) {
      builder = point.builder();
      Value correction = memref::LoadOp::create(builder, point.loc(), corrections, ValueRange{local});
      made.corrections.push_back(point.splat(correction));
    }
    made.points.push_back(point);
  }
}

/// Emits `mr` rows of one panel over the k of one block.
void ContractionEmitter::emitTile(PointEvaluator &panel, int64_t mr, Value row, Value isFirst, Value isLast) {
  int64_t lanes = tile.lanes;
  AtomSet inBlock = atomBit(kInner);
  for (int atom : kMiddle)
    inBlock |= atomBit(atom);
  TileRows tileRows;
  bindRows(panel, mr, row, inBlock, tileRows);
  SmallVector<PointEvaluator, 8> &points = tileRows.points;
  SmallVector<Value> &rowBases = tileRows.bases, &partialBases = tileRows.partialBases;
  SmallVector<int64_t> &rowOffsets = tileRows.offsets;
  auto sumType = VectorType::get({lanes}, accType);
  OpBuilder builder = panel.builder();
  Value zero = panel.number(cast<TypedAttr>(builder.getZeroAttr(sumType)));
  SmallVector<Value> sums(mr * vectors, zero);
  for (auto [r, correction] : llvm::enumerate(tileRows.corrections))
    std::fill_n(sums.begin() + int64_t(r) * vectors, vectors, correction);
  if (partials) {
    SmallVector<Type> types(sums.size(), sumType);
    builder = panel.builder();
    auto branch = scf::IfOp::create(builder, panel.loc(), types, isFirst, /*withElseRegion=*/true);
    OpBuilder first = branch.getThenBodyBuilder();
    scf::YieldOp::create(first, panel.loc(), sums);
    OpBuilder later = branch.getElseBodyBuilder();
    SmallVector<Value> loaded;
    for (int64_t r = 0; r < mr; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value offset = arith::AddIOp::create(later, panel.loc(), partialBases[r], panel.constant(v * lanes));
        Value partial = vector::LoadOp::create(later, panel.loc(), sumType, partials, ValueRange{offset});
        if (corrections)
          partial = arith::AddIOp::create(later, panel.loc(), partial, tileRows.corrections[r]);
        loaded.push_back(partial);
      }
    scf::YieldOp::create(later, panel.loc(), loaded);
    sums.assign(branch.getResults().begin(), branch.getResults().end());
  }

  // These are the masks of columns that are read in place.
  SmallVector<Value> masks(vectors), counts(vectors);
  if (!b.packed)
    for (int64_t v = 0; v < vectors; ++v)
      masks[v] = columnMask(panel, columnBegin, v, counts[v]);

  PointEvaluator at = panel;
  at.enter(panel.block());
  auto groupType = VectorType::get({group * lanes}, packType);
  // Adds the products of one k, `later` after the index of the loop.
  auto addProducts =
      [&](PointEvaluator &point, Value packedIndex, int64_t later, SmallVector<Value> current) -> SmallVector<Value> {
        SmallVector<Value> columns;
        Value base = b.packed ? point.add(packedBase, point.mulConstant(packedIndex, tile.nr())) : Value();
        int64_t laterInA = later * (a.packed ? aKStride : kInner < 0 ? 0 : a.operand->access.address.coefficient(kInner));
        for (int64_t v = 0; v < vectors; ++v) {
          if (b.packed) {
            Value from = point.addConstant(base, later * tile.nr() + v * lanes * group);
            OpBuilder inner = point.builder();
            Value column = vector::LoadOp::create(inner, point.loc(), group > 1 ? groupType : sumType, packedB, ValueRange{from});
            if (hasPanels() && grouped.flips())
              column = grouped.flip(point, column);
            columns.push_back(grouped.widens() ? grouped.widenB(point, column) : column);
            continue;
          }
          PointEvaluator one = point;
          one.enter(point.block());
          one.bindIndex(nLane, one.addConstant(columnBegin, v * lanes));
          one.setLanes(nLane, masks[v], counts[v]);
          columns.push_back(one.splat(factorAt(one, products, b)));
        }
        Value kOffset = a.packed ? point.mulConstant(packedIndex, aKStride)
                                 : point.terms(a.operand->access.address, inBlock);
        for (int64_t r = 0; r < mr; ++r) {
          Value from = point.addConstant(point.add(rowBases[r], kOffset), rowOffsets[r] + laterInA);
          Value memory = a.packed ? packedA : point.buffer(a.operand->access.buffer);
          OpBuilder inner = point.builder();
          if (group > 1) {
            Value factors = grouped.broadcast(point, memory, from);
            for (int64_t v = 0; v < vectors; ++v) {
              Value &sum = current[r * vectors + v];
              sum = grouped.add(point, factors, columns[v], sum);
            }
            continue;
          }
          Value element = memref::LoadOp::create(inner, point.loc(), memory, ValueRange{from});
          Value spread = point.splat(element);
          for (int64_t v = 0; v < vectors; ++v) {
            Value &sum = current[r * vectors + v];
            sum = accumulateProduct(point, spread, columns[v], sum, target.fma);
          }
        }
        return current;
      };
  // Panels that come from memory are prefetched: while a tile is multiplied, one vector of each k of the next panel.
  Value nextPanel;
  if (prefetchesPanels()) {
    builder = panel.builder();
    Value number = arith::DivUIOp::create(builder, panel.loc(), arith::SubIOp::create(builder, panel.loc(), row, chunkBegin), panel.constant(tile.mr));
    Value vector = arith::RemUIOp::create(builder, panel.loc(), number, panel.constant(tile.nv));
    nextPanel = panel.addConstant(panel.add(packedBase, panel.mulConstant(vector, lanes * group)), panelElements());
  }
  enterStreams(points.front());
  // Every other k prefetches what is packed next: more often, memory would not keep up and the products would wait.
  int64_t step = tile.ahead ? 2 : streams.of.empty() ? group : streams.step;
  auto addStep = [&](PointEvaluator &point, Value packedIndex, Value, SmallVector<Value> current) {
    if (tile.ahead)
      prefetchAhead(point, packedIndex);
    prefetchStreams(point, packedIndex);
    if (nextPanel) {
      Value from = point.add(nextPanel, point.mulConstant(packedIndex, tile.nr()));
      OpBuilder inner = point.builder();
      memref::PrefetchOp::create(inner, point.loc(), packedB, ValueRange{from}, /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
    }
    for (int64_t later = 0; later < step; later += group)
      current = addProducts(point, packedIndex, later, current);
    return current;
  };
  bool flushesHere = floatControl && !onlyStores();
  if (flushesHere)
    flushSubnormals(at, floatControl);
  if (a.packed && b.packed && isDense())
    sums = forEachPacked(at, step, sums, addStep);
  else
    sums = forEachK(at, step, sums, addStep);
  if (flushesHere)
    sums = keepSubnormals(at, floatControl, sums);

  if (!siblings.empty()) {
    builder = panel.builder();
    for (int64_t r = 0; r < mr; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value offset = arith::AddIOp::create(builder, panel.loc(), partialBases[r], panel.constant(v * lanes));
        vector::StoreOp::create(builder, panel.loc(), sums[r * vectors + v], finished, ValueRange{offset});
      }
    return;
  }
  if (!partials) {
    finishPanel(panel, row, points, columnBegin, sums);
    return;
  }
  builder = panel.builder();
  auto branch = scf::IfOp::create(builder, panel.loc(), isLast, /*withElseRegion=*/true);
  OpBuilder later = branch.getElseBodyBuilder();
  for (int64_t r = 0; r < mr; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Value offset = arith::AddIOp::create(later, panel.loc(), partialBases[r], panel.constant(v * lanes));
      vector::StoreOp::create(later, panel.loc(), sums[r * vectors + v], partials, ValueRange{offset});
    }
  PointEvaluator inside = panel;
  inside.enterRegion(branch, branch.thenBlock());
  finishPanel(inside, row, points, columnBegin, sums);
  inside.leave();
}

} // namespace millrace::lowering
