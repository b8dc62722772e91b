// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixTile.cpp - Emit AMX tiles ------------------------------------===//
// Up to four AMX registers of 16 rows of 64 bytes hold 16 x 16 sums each; one instruction adds the products of 16 rows of a and 16 columns of b over
// 32 (bf16) or 64 (8 bits) k. Rows of a are in scratch or are read in place; b is packed as [k/group][NR][group]. The sums are stored to memory, from
// where consumers read them row by row. Registers are operands by number, not values: LLVM keeps the order of the instructions.
// Subnormal bf16 count as 0, as in the pair products of vectors.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionEmitter.h"
#include "lowering/cpu/emitters/contraction/MatrixUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace millrace::lowering {
/// Emits loops over the k of the current part.
void ContractionEmitter::forEachOfPart(PointEvaluator &at, KBody body) {
  OpBuilder builder = at.builder();
  Value length = arith::SubIOp::create(builder, at.loc(), kEnd, kBegin);
  Value end = arith::MinUIOp::create(builder, at.loc(), partEnd, length);
  scf::ForOp loop = openLoop(at, partBegin, end, matrixDepth());
  at.enterLoop(loop);
  Value packedIndex = loop.getInductionVar(), k = at.add(kBegin, packedIndex);
  at.bindIndex(kInner, k);
  body(at, packedIndex, k, {});
  at.leave();
}

/// Returns the rows whose consumers are computed in each step of the next tile, overlapping with AMX. 0 if steps are too few, or not all alike, so
/// that consumers follow their own tile.
int64_t ContractionEmitter::finishedPerStep() const {
  // Rows of the previous tile whose consumers are computed in each step of the next one: more would take longer than AMX multiplies. Unit: rows.
  // Source: judgement, not measured alone; commit 38823e0 has the figures of the whole change.
  constexpr int64_t kMaxRowsPerStep = 4;
  if (tile.parts == 1 || kBlocks() > 1)
    return 0;
  int64_t steps = llvm::divideCeil(packedK - (tile.parts - 1) * partK(), matrixDepth()), perStep = llvm::divideCeil(tile.mr, steps);
  return perStep <= kMaxRowsPerStep ? perStep : 0;
}

/// Emits the consumers of the last tile of the rows from `begin` to `end`.
void ContractionEmitter::finishLast(PointEvaluator &panel, Value begin, Value end, Value isLast) {
  OpBuilder builder = panel.builder();
  Location loc = panel.loc();
  Value isAny = arith::AndIOp::create(builder, loc, isLast, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, begin, end));
  auto branch = scf::IfOp::create(builder, loc, isAny, /*withElseRegion=*/false);
  PointEvaluator inside = panel;
  inside.enterRegion(branch, branch.thenBlock());
  builder = inside.builder();
  Value mr = inside.constant(tile.mr), one = inside.constant(1);
  Value length = arith::SubIOp::create(builder, loc, end, begin);
  Value before = arith::SubIOp::create(builder, loc, arith::CeilDivUIOp::create(builder, loc, length, mr), one);
  before = arith::MulIOp::create(builder, loc, before, mr);
  finishRowByRow(inside, tile.mr, arith::AddIOp::create(builder, loc, begin, before), columnBegin, {});
  inside.leave();
}

/// Emits the `mr` rows from `row` of one panel over the k of one part of a block. `begin` is the first of the rows whose tiles are consecutive.
void ContractionEmitter::emitMatrixTile(PointEvaluator &panel, Value begin, Value row, Value isFirst, Value isLast) {
  int64_t rowTiles = tile.mr / kMatrixRows;
  auto sumRegister = [&](int64_t r, int64_t v) { return r * tile.nv + v; };
  int64_t firstOfA = rowTiles * tile.nv, firstOfB = firstOfA + rowTiles;
  auto forEachSum = [&](llvm::function_ref<void(int64_t number, int64_t element)> act) {
    for (int64_t r = 0; r < rowTiles; ++r)
      for (int64_t v = 0; v < tile.nv; ++v)
        act(sumRegister(r, v), r * kMatrixRows * tile.nr() + v * tile.lanes);
  };
  PointEvaluator at = panel;
  at.enter(panel.block());
  bindLinear(at, row, mOrder);
  AtomSet inBlock = atomBit(kInner);
  for (int atom : kMiddle)
    inBlock |= atomBit(atom);
  const LinearExpr &inPlace = a.operand->access.address;
  int64_t rowStride = a.packed ? aRowStride : inPlace.coefficient(mOrder.back());
  OpBuilder builder = at.builder();
  Value rowBase;
  if (a.packed)
    rowBase = at.mulConstant(arith::SubIOp::create(builder, at.loc(), row, chunkBegin), aRowStride);
  else
    rowBase = at.addConstant(at.terms(inPlace, ~inBlock), inPlace.offset);
  Value rowsOfA = a.packed ? packedA : at.buffer(a.operand->access.buffer);

  // `partialBase` addresses the sums of earlier blocks.
  Value partialBase;
  auto clear = [&](PointEvaluator &point) {
    forEachSum([&](int64_t number, int64_t) {
      matrix::clear(point, number);
    });
  };
  if (partials) {
    builder = at.builder();
    Value local = arith::SubIOp::create(builder, at.loc(), row, kBlocks() > 1 ? rowBegin : chunkBegin);
    partialBase = at.mulConstant(local, tile.nr());
    if (kBlocks() > 1)
      partialBase = at.add(partialBase, at.mulConstant(panelInGroup, tile.blockRows * tile.nr()));
    builder = at.builder();
    auto branch = scf::IfOp::create(builder, at.loc(), isFirst, /*withElseRegion=*/true);
    PointEvaluator inside = at;
    inside.enterRegion(branch, branch.thenBlock());
    clear(inside);
    inside.leave();
    inside.enterRegion(branch, branch.elseBlock());
    forEachSum([&](int64_t number, int64_t element) {
      matrix::move(inside, matrix::Move::Load, number, partials, inside.addConstant(partialBase, element), tile.nr());
    });
    inside.leave();
  } else {
    clear(at);
  }

  // The panel is read again for every tile of rows. If both together exceed the level 1 cache, it stays there only if the rows bypass it (1930 GF/s
  // instead of 1490).
  bool isTooMuch = (tile.mr + tile.nr()) * partK() * packType.getIntOrFloatBitWidth() / 8 > target.l1Bytes;
  auto addProducts = [&](PointEvaluator &point, Value packedIndex, Value, SmallVector<Value>) -> SmallVector<Value> {
    Value kOffset = a.packed ? packedIndex : point.terms(inPlace, inBlock);
    Value from = point.add(rowBase, kOffset), column = point.add(packedBase, point.mulConstant(packedIndex, tile.nr()));
    for (int64_t v = 0; v < tile.nv; ++v)
      matrix::move(point, matrix::Move::Load, firstOfB + v, packedB, point.addConstant(column, v * tile.lanes * group), tile.nr() * group);
    StringRef multiply = "tdpbf16ps";
    if (group == 4)
      multiply = isSigned(a) ? (isSigned(b) ? "tdpbssd" : "tdpbsud") : isSigned(b) ? "tdpbusd" : "tdpbuud";
    for (int64_t r = 0; r < rowTiles; ++r) {
      matrix::move(point, isTooMuch ? matrix::Move::LoadOnce : matrix::Move::Load, firstOfA + r, rowsOfA, point.addConstant(from, r * kMatrixRows * rowStride), rowStride);
      for (int64_t v = 0; v < tile.nv; ++v)
        matrix::multiply(point, multiply, sumRegister(r, v), firstOfA + r, firstOfB + v);
    }
    return {};
  };
  // The previous tile is finished in the same part: its consumers are interleaved with these products.
  int64_t perStep = finishedPerStep();
  auto addAndFinish = [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value> none) -> SmallVector<Value> {
    addProducts(point, packedIndex, k, none);
    OpBuilder inner = point.builder();
    Location loc = point.loc();
    Value step = arith::DivUIOp::create(inner, loc, arith::SubIOp::create(inner, loc, packedIndex, partBegin), point.constant(matrixDepth()));
    Value mr = point.constant(tile.mr);
    Value from = point.mulConstant(step, perStep), to = point.addConstant(from, perStep);
    inner = point.builder();
    to = arith::MinUIOp::create(inner, loc, to, mr);
    Value isAny = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ugt, row, begin);
    to = arith::SelectOp::create(inner, loc, isAny, to, from);
    finishRows(point, arith::SubIOp::create(inner, loc, row, mr), from, to, columnBegin);
    return {};
  };
  if (perStep) {
    builder = at.builder();
    auto branch = scf::IfOp::create(builder, at.loc(), isLast, /*withElseRegion=*/true);
    for (bool last : {true, false}) {
      PointEvaluator inside = at;
      inside.enterRegion(branch, last ? branch.thenBlock() : branch.elseBlock());
      if (last)
        forEachOfPart(inside, addAndFinish);
      else
        forEachOfPart(inside, addProducts);
      inside.leave();
    }
  } else if (tile.parts > 1)
    forEachOfPart(at, addProducts);
  else if (a.packed && isDense())
    forEachPacked(at, matrixDepth(), {}, addProducts);
  else
    forEachK(at, matrixDepth(), {}, addProducts);

  auto finish = [&](PointEvaluator &point) {
    forEachSum([&](int64_t number, int64_t element) {
      matrix::move(point, matrix::Move::Store, number, finished, point.constant(element), tile.nr());
    });
    if (!perStep)
      finishRowByRow(point, tile.mr, row, columnBegin, {});
  };
  if (!partials) {
    finish(at);
    return;
  }
  builder = at.builder();
  auto branch = scf::IfOp::create(builder, at.loc(), isLast, /*withElseRegion=*/true);
  PointEvaluator inside = at;
  inside.enterRegion(branch, branch.elseBlock());
  forEachSum([&](int64_t number, int64_t element) {
    matrix::move(inside, matrix::Move::Store, number, partials, inside.addConstant(partialBase, element), tile.nr());
  });
  inside.leave();
  inside.enterRegion(branch, branch.thenBlock());
  finish(inside);
  inside.leave();
}

} // namespace millrace::lowering
