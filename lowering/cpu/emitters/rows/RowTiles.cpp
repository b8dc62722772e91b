// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowTiles.cpp - Emit sums of wide columns ---------------------------===//
// Input:   sum over dimension 0 of x: 2048x2048.
// Output:  an iteration adds a chunk of the columns: some rows at a time, the whole chunk of each, with its sums in scratch. Reading each of these
//          rows from one end of the chunk to the other is faster than reading a few vectors of every row in turn. Each column still adds its elements
//          in row order, so the results have the same bits.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/RowEmitter.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns how many rows are added between loading and storing the sums, preferably a divisor of their number. Rows a power of two apart share one
/// set of the level 1 cache, which has eight ways.
int64_t rowsAtOnce(int64_t rows) { return rows % 6 && rows % 5 == 0 ? 5 : std::min<int64_t>(rows, 6); }

} // namespace

/// Returns true for sums of all columns, without other operations along the rows, whose rows are several chunks wider than what registers hold.
bool RowEmitter::suitsTiles(AtomSet reduced, double costPerPoint) const {
  // Sums of fewer rows are not cut into tiles. Unit: rows. Source: judgement, not measured alone; chosen in commit f7caa64.
  constexpr int64_t kMinTileRows = 16;
  // Elements that cost more are not added several rows at a time, because memory is not the limit. Unit: operations per element. Source: judgement,
  // not measured alone; chosen in commit f7caa64.
  constexpr double kMaxTileCost = 16;
  int64_t inRegisters = 16 * plan_.width;
  if (!reduced || costPerPoint > kMaxTileCost || model.atomSizes[plan_.lane] < 4 * inRegisters || model.product(reduced) < kMinTileRows)
    return false;
  return llvm::all_of(plan_.groups, [](const RowGroup &group) { return group.outputs.empty() || !group.inner; });
}

/// Calls `body` for every strip of the piece.
void RowEmitter::alongPiece(PointEvaluator &at, const Piece &piece, llvm::function_ref<void(Points &)> body) {
  int64_t width = plan_.width, strip = plan_.strips * width, size = model.atomSizes[plan_.lane], rest = size % strip;
  auto strips = [&](Value base, int64_t lanes) {
    Points points;
    columnPoints(at, base, lanes, points);
    body(points);
  };
  scf::ForOp loop = openLoop(at, piece.begin, piece.end, strip);
  at.enterLoop(loop);
  strips(loop.getInductionVar(), strip);
  at.leave();
  if (!rest)
    return;
  if (!piece.isLast)
    return strips(at.constant(size - rest), rest);
  OpBuilder b = at.builder();
  auto branch = scf::IfOp::create(b, at.loc(), piece.isLast, /*withElseRegion=*/false);
  at.enterRegion(branch, branch.thenBlock());
  strips(at.constant(size - rest), rest);
  at.leave();
}

/// Adds all rows of `loops` to the sums.
void RowEmitter::tileRows(PointEvaluator &at, ArrayRef<int> loops, const RowGroup &group, const Piece &piece, ArrayRef<ScratchRow> sums) {
  auto add = [&](ArrayRef<Value> rows) {
    alongPiece(at, piece, [&](Points &columns) {
      SmallVector<Value> carried;
      for (PointEvaluator &column : columns)
        for (auto [sum, type] : llvm::zip(sums, accumulatorTypes(group)))
          carried.push_back(column.loadScratch(sum, type));
      for (Value row : rows) {
        Points points(columns.begin(), columns.end());
        for (PointEvaluator &point : points) {
          point.enter(point.block());
          point.bindIndex(loops[0], row);
        }
        step(points, group, carried);
      }
      for (auto [slot, column] : llvm::enumerate(columns))
        for (auto [number, sum] : llvm::enumerate(sums))
          column.storeScratch(sum, carried[slot * sums.size() + number]);
    });
  };
  int64_t size = model.atomSizes[loops[0]], atOnce = loops.size() > 1 ? 1 : rowsAtOnce(size), full = size / atOnce * atOnce;
  scf::ForOp loop = openLoop(at, at.constant(0), at.constant(full), atOnce);
  at.enterLoop(loop);
  if (loops.size() > 1) {
    at.bindIndex(loops[0], loop.getInductionVar());
    tileRows(at, loops.drop_front(), group, piece, sums);
  } else {
    SmallVector<Value> rows;
    for (int64_t row = 0; row < atOnce; ++row)
      rows.push_back(at.addConstant(loop.getInductionVar(), row));
    add(rows);
  }
  at.leave();
  if (full == size)
    return;
  SmallVector<Value> rows;
  for (int64_t row = full; row < size; ++row)
    rows.push_back(at.constant(row));
  add(rows);
}

SmallVector<Type> RowEmitter::accumulatorTypes(const RowGroup &group) const {
  SmallVector<Type> types;
  for (const Node *node : group.reductions)
    for (Value result : node->op->getResults())
      types.push_back(getElementTypeOrSelf(result.getType()));
  return types;
}

void RowEmitter::emitTiles(PointEvaluator &at, const Piece &piece) {
  for (const RowGroup &group : plan_.groups) {
    if (group.reductions.empty()) {
      alongPiece(at, piece, [&](Points &columns) { step(columns, group, {}); });
      continue;
    }
    SmallVector<ScratchRow> sums;
    for (Type type : accumulatorTypes(group)) {
      ScratchRow sum;
      sum.address.add(plan_.lane, 1);
      sum.memref = scratch->take(type, plan_.chunk + plan_.strips * plan_.width);
      sum.origin = piece.begin;
      sum.alongLanes = true;
      sums.push_back(sum);
    }
    alongPiece(at, piece, [&](Points &columns) {
      for (PointEvaluator &column : columns) {
        const ScratchRow *sum = sums.begin();
        for (const Node *node : group.reductions)
          for (unsigned i = 0; i < node->op->getNumResults(); ++i)
            column.storeScratch(*sum++, start(column, *node, i, /*vector=*/true));
      }
    });
    SmallVector<int> loops = outermostFirst(model, group.inner);
    tileRows(at, loops, group, piece, sums);
    // The sums in scratch are the operands of the results.
    alongPiece(at, piece, [&](Points &columns) {
      for (PointEvaluator &column : columns) {
        const ScratchRow *sum = sums.begin();
        for (const Node *node : group.reductions) {
          SmallVector<Value> values;
          for (Value result : node->op->getResults())
            values.push_back(column.loadScratch(sum[values.size()], getElementTypeOrSelf(result.getType())));
          for (Value value : finishReduction(column, *node, values))
            column.storeScratch(*sum++, value);
        }
      }
    });
    const ScratchRow *sum = sums.begin();
    for (const Node *node : group.reductions)
      for (Value result : node->op->getResults()) {
        at.keepIn(result, *sum++);
        at.readKept(result);
      }
  }
}

} // namespace millrace::lowering
