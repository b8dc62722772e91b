// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewRows.cpp - Few rows times a matrix with contiguous rows ---------===//
// Input:   c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n], one to four m, b a buffer that is contiguous along n;
//          elementwise consumers of c.
// Output:  an iteration is a strip of columns. Its sums stand in scratch; some rows of b at a time are added to all of them: long
//          contiguous pieces of few rows, as prefetchers like them. (Prefetches in the code only cost time.)
// Leaves alone: columns that are no whole number of steps, several k; b that fits into the caches nearby (column
//          sums and register tiles do).
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/FewRows.h"

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/SumOfProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

constexpr int64_t kVectors = 2; ///< of one row's sums at a time
/// Rows of b at a time: as many streams as keep memory busy. Factors of a that find no register come from the stack.
constexpr int64_t kRowsOfB = 8;
constexpr int64_t kMostRows = 4;
/// Of b. Smaller matrices come from near caches, where nothing is gained: for one row, and for several.
constexpr int64_t kLeastBytes = 128 << 10, kLeastBytesOfRows = 2 << 20;

class FewRowsEmitter {
public:
  FewRowsEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void chooseStrips();
  bool emit();
  void addRows(PointEvaluator &at, Value begin, Value end, int64_t ofB);
  void finish(PointEvaluator &at);

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  SumOfProducts products;
  Factor a, b;
  int lane = -1, k = -1;
  AtomSet batch = 0;
  SmallVector<int> mOrder;
  int64_t rows = 1;
  int64_t lanes = 1, strip = 1, strips = 1;
  func::FuncOp shell;
  Value sums; ///< of the strip
  Value stripBegin, stripEnd;
  int64_t scratchBytes = 0;
};

LogicalResult FewRowsEmitter::match() {
  const Node *node = nullptr;
  for (const Node &candidate : model.nodes) {
    if (!candidate.reduction)
      continue;
    if (node)
      return failure();
    node = &candidate;
  }
  std::string why;
  if (!node || failed(matchSumOfProducts(*node, products, why)))
    return failure();
  a = products.a;
  b = products.b;
  AtomSet kept = node->kept, summed = node->reduced();
  AtomSet inA = model.depends(*a.operand), inB = model.depends(*b.operand);
  auto isColumn = [&](AtomSet atoms) {
    return llvm::popcount(atoms) == 1 && model.outputs.front().store.address.coefficient(members(atoms).front()) == 1;
  };
  if (!isColumn(kept & inB & ~inA)) {
    std::swap(a, b);
    std::swap(inA, inB);
  }
  AtomSet columns = kept & inB & ~inA, inRows = kept & inA & ~inB;
  batch = kept & ~columns & ~inRows;
  rows = model.product(inRows);
  if ((batch & ~(inA & inB)) || (summed & ~(inA & inB)) || !isColumn(columns) || llvm::popcount(summed) != 1 || rows > kMostRows)
    return failure();
  mOrder = outermostFirst(model, inRows);
  lane = members(columns).front();
  k = members(summed).front();
  for (const Output &output : model.outputs)
    if (output.store.address.atoms() != kept || output.store.address.coefficient(lane) != 1)
      return failure();
  if (b.operand->kind != Operand::Buffer || !b.operand->access.guards.empty() || b.operand->access.address.coefficient(lane) != 1)
    return failure();
  lanes = target.vectorBits / products.accType.getIntOrFloatBitWidth();
  int64_t bytes = model.atomSizes[k] * model.atomSizes[lane] * b.operand->elementType.getIntOrFloatBitWidth() / 8;
  if (model.atomSizes[lane] % (kVectors * lanes) || model.atomSizes[k] < 16 || bytes < (rows == 1 ? kLeastBytes : kLeastBytesOfRows))
    return failure();
  return success();
}

/// Some strips per thread, each of a page or so of every row.
void FewRowsEmitter::chooseStrips() {
  int64_t columns = model.atomSizes[lane], step = kVectors * lanes;
  int64_t wanted = llvm::divideCeil(4 * target.threads, model.product(batch));
  strip = std::clamp<int64_t>(llvm::divideCeil(columns, wanted), step, 1024);
  strip = llvm::alignTo(strip, step);
  strips = llvm::divideCeil(columns, strip);
}

/// sums += a[k] * b[k] for k in [begin, end), `ofB` of them at a time.
void FewRowsEmitter::addRows(PointEvaluator &at, Value begin, Value end, int64_t ofB) {
  scf::ForOp loop = openLoop(at, begin, end, ofB);
  at.enterLoop(loop);
  SmallVector<PointEvaluator> points;
  SmallVector<Value> factors; // of one row of b for all rows of a, and so on
  for (int64_t i = 0; i < ofB; ++i) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(k, point.addConstant(loop.getInductionVar(), i));
    for (int64_t row = 0; row < rows; ++row) {
      PointEvaluator one = point;
      one.enter(point.block());
      bindLinear(one, one.constant(row), mOrder);
      factors.push_back(one.splat(factorAt(one, products, a)));
    }
    points.push_back(point);
  }
  scf::ForOp columns = openLoop(at, stripBegin, stripEnd, kVectors * lanes);
  at.enterLoop(columns);
  for (PointEvaluator &point : points)
    point.enterLoop(columns);
  Value column = columns.getInductionVar();
  OpBuilder builder = at.builder();
  Value place = arith::SubIOp::create(builder, at.loc(), column, stripBegin);
  auto sumType = VectorType::get({lanes}, products.accType);
  SmallVector<Value> places, current;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < kVectors; ++v) {
      places.push_back(at.addConstant(place, row * strip + v * lanes));
      builder = at.builder();
      current.push_back(vector::LoadOp::create(builder, at.loc(), sumType, sums, ValueRange{places.back()}));
    }
  for (int64_t i = 0; i < ofB; ++i)
    for (int64_t v = 0; v < kVectors; ++v) {
      PointEvaluator point = points[i];
      point.enter(point.block());
      point.bindIndex(lane, point.addConstant(column, v * lanes));
      point.setLanes(lane);
      Value factor = point.splat(factorAt(point, products, b));
      for (int64_t row = 0; row < rows; ++row) {
        Value &sum = current[row * kVectors + v];
        sum = accumulateProduct(point, factors[i * rows + row], factor, sum, target.fma);
      }
    }
  for (auto [value, to] : llvm::zip(current, places)) {
    builder = at.builder();
    vector::StoreOp::create(builder, at.loc(), value, sums, ValueRange{to});
  }
  at.leave();
  at.leave();
}

/// Consumers and stores.
void FewRowsEmitter::finish(PointEvaluator &at) {
  scf::ForOp loop = openLoop(at, stripBegin, stripEnd, lanes);
  at.enterLoop(loop);
  OpBuilder builder = at.builder();
  Value place = arith::SubIOp::create(builder, at.loc(), loop.getInductionVar(), stripBegin);
  for (int64_t row = 0; row < rows; ++row) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(lane, loop.getInductionVar());
    bindLinear(point, point.constant(row), mOrder);
    point.setLanes(lane);
    Value from = point.addConstant(place, row * strip);
    builder = point.builder();
    Value sum = vector::LoadOp::create(builder, point.loc(), VectorType::get({lanes}, products.accType), sums, ValueRange{from});
    point.bind(products.node->op->getResult(0), finishSum(point, products, sum));
    SmallVector<Value> values;
    for (const Output &output : model.outputs)
      values.push_back(point.evaluate(output.value));
    for (auto [output, value] : llvm::zip(model.outputs, values))
      point.store(output.store, value);
  }
  at.leave();
}

bool FewRowsEmitter::emit() {
  shell = createShell(kernel, model);
  Scratch scratch(shell);
  sums = scratch.take(products.accType, rows * strip);
  scratchBytes = scratch.bytes();
  PointEvaluator at(model, shell, lanes);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  OpBuilder builder = at.builder();
  Value number = arith::RemUIOp::create(builder, at.loc(), loop.getInductionVar(), at.constant(strips));
  Value outer = arith::DivUIOp::create(builder, at.loc(), loop.getInductionVar(), at.constant(strips));
  bindLinear(at, outer, outermostFirst(model, batch));
  stripBegin = at.mulConstant(number, strip);
  stripEnd = at.addConstant(stripBegin, strip);
  if (model.atomSizes[lane] % strip) {
    builder = at.builder();
    stripEnd = arith::MinUIOp::create(builder, at.loc(), stripEnd, at.constant(model.atomSizes[lane]));
  }
  auto sumType = VectorType::get({lanes}, products.accType);
  Value zero = at.number(cast<TypedAttr>(builder.getZeroAttr(sumType)));
  scf::ForOp clear = openLoop(at, at.constant(0), at.constant(rows * strip), lanes);
  at.enterLoop(clear);
  builder = at.builder();
  vector::StoreOp::create(builder, at.loc(), zero, sums, ValueRange{clear.getInductionVar()});
  at.leave();
  int64_t whole = model.atomSizes[k] / kRowsOfB * kRowsOfB;
  addRows(at, at.constant(0), at.constant(whole), kRowsOfB);
  if (whole < model.atomSizes[k])
    addRows(at, at.constant(whole), at.constant(model.atomSizes[k]), 1);
  finish(at);
  return !at.broken();
}

FailureOr<EmittedKernel> FewRowsEmitter::run() {
  if (failed(match()))
    return failure();
  chooseStrips();
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "contraction", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = model.product(batch) * strips;
  out->scratchBytesPerTask = scratchBytes;
  out->nanosPerIteration = model.totalBytes() / 15.0 / double(out->rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitFewRows(func::FuncOp fn, const KernelModel &model, const KernelTarget &target) {
  return FewRowsEmitter(fn, model, target).run();
}

} // namespace millrace::lowering
