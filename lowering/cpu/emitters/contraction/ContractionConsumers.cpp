// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionConsumers.cpp - Emit the consumers of a contraction -----===//
// Consumers are evaluated on the sums of a register tile, or, if they are many operations, in a loop over its rows with the sums in memory. A tile reads
// all operands of consumers before it stores a result.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace millrace::lowering {

/// Returns true if the results are stored without consumers.
bool ContractionEmitter::onlyStores() const {
  return !siblings.empty() || llvm::all_of(model.outputs, [&](const Output &output) {
    return output.value.kind == Operand::Intermediate && output.value.value == node->op->getResult(0);
  });
}

/// Returns the scalar operations per element of the consumers.
double ContractionEmitter::consumerCost() const {
  double cost = 0;
  SmallVector<const Operand *> open;
  llvm::SmallPtrSet<const Node *, 8> seen;
  for (const Output &output : model.outputs)
    open.push_back(&output.value);
  while (!open.empty()) {
    const Operand &operand = *open.pop_back_val();
    if (operand.kind != Operand::Intermediate)
      continue;
    const Node &consumer = model.nodeOf(operand);
    if (consumer.reduction || !seen.insert(&consumer).second)
      continue;
    // Values of other buffers per row and column are computed with each sum; functions of rows or columns alone are computed once per row or column.
    if ((consumer.depends & kInsideTask) || ((consumer.depends & mAtoms) && (consumer.depends & nAtoms)))
      cost += consumer.cost;
    for (const Operand &input : consumer.inputs)
      open.push_back(&input);
    for (const auto &captured : consumer.captured)
      open.push_back(&captured.second);
  }
  return cost;
}

/// Returns an evaluator for the columns of vector number `v` of the panel.
PointEvaluator ContractionEmitter::columnPoint(PointEvaluator &panel, Value columnBegin, int64_t v) {
  PointEvaluator column = panel;
  column.enter(panel.block());
  column.bindIndex(nLane, column.addConstant(columnBegin, v * tile.lanes));
  Value count;
  Value mask = columnMask(column, columnBegin, v, count);
  column.setLanes(nLane, mask, count);
  return column;
}

/// Returns the outputs for the sums `ofSums`.
SmallVector<Value> ContractionEmitter::outputsOf(PointEvaluator &point, ArrayRef<Value> ofSums) {
  point.bind(node->op->getResult(0), finishSum(point, products, ofSums.front()));
  for (auto [other, sum] : llvm::zip(siblings, ofSums.drop_front()))
    point.bind(other.node->op->getResult(0), finishSum(point, other.products, sum));
  SmallVector<Value> values;
  for (const Output &output : model.outputs)
    values.push_back(point.evaluate(output.value));
  return values;
}

/// Emits consumers and stores of one register tile whose first row is `row`.
void ContractionEmitter::finishTile(PointEvaluator &panel, Value row, MutableArrayRef<PointEvaluator> rowPoints,
                                    Value columnBegin, ArrayRef<Value> sums) {
  if (finished) {
    finishRowByRow(panel, rowPoints.size(), row, columnBegin, sums);
    return;
  }
  struct Pending {
    PointEvaluator point;
    SmallVector<Value> values;
  };
  std::vector<Pending> pending;
  for (int64_t v = 0; v < vectors; ++v) {
    PointEvaluator column = columnPoint(panel, columnBegin, v);
    for (auto [r, rowPoint] : llvm::enumerate(rowPoints)) {
      PointEvaluator point = column;
      point.enter(panel.block());
      for (int atom : mOrder)
        point.bindIndex(atom, rowPoint.index(atom));
      SmallVector<Value> values = outputsOf(point, sums[r * vectors + v]);
      pending.push_back({point, values});
    }
  }
  // A row that is in a tile twice is stored twice: all reads of a tile come before its stores.
  for (Pending &entry : pending)
    for (auto [output, value] : llvm::zip(model.outputs, entry.values))
      entry.point.store(output.store, value);
}

/// Emits the same as a loop over the rows, with the sums in memory: unrolled MR x NV times, consumers of many operations take most of the time to
/// compile and leave no registers.
void ContractionEmitter::finishRowByRow(PointEvaluator &panel, int64_t mr, Value row, Value columnBegin, ArrayRef<Value> sums) {
  int64_t lanes = tile.lanes;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    OpBuilder builder = panel.builder();
    int64_t place = static_cast<int64_t>(i) / vectors * tile.nr() + static_cast<int64_t>(i) % vectors * lanes;
    vector::StoreOp::create(builder, panel.loc(), sum, finished, ValueRange{panel.constant(place)});
  }
  // The last tile may have fewer rows, each of which is computed once.
  Value count = panel.constant(mr);
  if (overlaps()) {
    OpBuilder builder = panel.builder();
    Value left = arith::SubIOp::create(builder, panel.loc(), panel.constant(rows()), row);
    count = arith::MinUIOp::create(builder, panel.loc(), left, count);
  }
  finishRows(panel, row, panel.constant(0), count, columnBegin);
}

/// Emits consumers and stores of the rows from `row` + `begin` to `row` + `end`, whose sums are in memory from `row` on.
void ContractionEmitter::finishRows(PointEvaluator &panel, Value row, Value begin, Value end, Value columnBegin) {
  int64_t lanes = tile.lanes;
  SmallVector<PointEvaluator, 4> points;
  for (int64_t v = 0; v < vectors; ++v)
    points.push_back(columnPoint(panel, columnBegin, v));
  scf::ForOp loop = openLoop(panel, begin, end, 1);
  for (PointEvaluator &point : points)
    point.enterLoop(loop);
  PointEvaluator &first = points.front();
  Value local = loop.getInductionVar();
  bindLinear(first, first.add(row, local), mOrder);
  Value base = first.mulConstant(local, tile.nr());
  SmallVector<SmallVector<Value>> values;
  for (auto [v, point] : llvm::enumerate(points)) {
    if (v)
      for (int atom : mOrder)
        point.bindIndex(atom, first.index(atom));
    SmallVector<Value> ofSums;
    for (int64_t number = 0; number < sums(); ++number) {
      Value from = point.addConstant(base, number * sumElements() + static_cast<int64_t>(v) * lanes);
      OpBuilder builder = point.builder();
      ofSums.push_back(vector::LoadOp::create(builder, point.loc(), VectorType::get({lanes}, accType), finished, ValueRange{from}));
    }
    values.push_back(outputsOf(point, ofSums));
  }
  for (auto [point, ofPoint] : llvm::zip(points, values))
    for (auto [output, value] : llvm::zip(model.outputs, ofPoint))
      point.store(output.store, value);
  for (PointEvaluator &point : points)
    point.leave();
}

/// Emits finishTile() without masks for panels that need none: without mask registers, a masked store takes ten times as long.
void ContractionEmitter::finishPanel(PointEvaluator &panel, Value row, MutableArrayRef<PointEvaluator> rowPoints, Value columnBegin,
                                     ArrayRef<Value> sums) {
  int64_t columns = model.atomSizes[nLane];
  if (!columnsMasked() || columns < tile.nr() || target.avx512) {
    finishTile(panel, row, rowPoints, columnBegin, sums);
    return;
  }
  Value last = panel.constant(columns - tile.nr());
  OpBuilder builder = panel.builder();
  Value isWhole = arith::CmpIOp::create(builder, panel.loc(), arith::CmpIPredicate::ule, columnBegin, last);
  auto branch = scf::IfOp::create(builder, panel.loc(), isWhole, /*withElseRegion=*/true);
  for (bool whole : {true, false}) {
    PointEvaluator inside = panel;
    inside.enterRegion(branch, whole ? branch.thenBlock() : branch.elseBlock());
    panelIsWhole = whole;
    finishTile(inside, row, rowPoints, columnBegin, sums);
    panelIsWhole = false;
    inside.leave();
  }
}

} // namespace millrace::lowering
