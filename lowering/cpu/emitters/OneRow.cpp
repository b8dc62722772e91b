// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OneRow.cpp - A row times a matrix whose rows are contiguous --------===//
// Input:   c[batch, n] = sum over k of a[batch, k] * b[batch, k, n], b a buffer that is contiguous along n; elementwise
//          consumers of c.
// Output:  an iteration is a strip of columns. Its sums stand in scratch; eight rows of b at a time are added to all of them: long
//          contiguous pieces of few rows, as prefetchers like them. (Prefetches in the code only cost time.)
// Leaves alone: columns that are no whole number of steps, several k; b that fits into the caches nearby (column sums do).
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/OneRow.h"

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/SumOfProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

constexpr int64_t kRows = 8;    ///< of b at a time
constexpr int64_t kVectors = 2; ///< of sums at a time
/// Of b, per call. Smaller matrices come from near caches, where nothing is gained.
constexpr int64_t kLeastBytes = 128 << 10;

class OneRowEmitter {
public:
  OneRowEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void chooseStrips();
  bool emit();
  void addRows(PointEvaluator &at, Value begin, Value end, int64_t rows);
  void finish(PointEvaluator &at);

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  SumOfProducts products;
  Factor a, b;
  int lane = -1, k = -1;
  AtomSet batch = 0;
  int64_t lanes = 1, strip = 1, strips = 1;
  func::FuncOp shell;
  Value sums; ///< of the strip
  Value stripBegin, stripEnd;
  int64_t scratchBytes = 0;
};

LogicalResult OneRowEmitter::match() {
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
  if ((kept & ~inB) && !(kept & ~inA)) {
    std::swap(a, b);
    std::swap(inA, inB);
  }
  AtomSet columns = kept & inB & ~inA;
  batch = kept & ~columns;
  if ((kept & ~inB) || (summed & ~(inA & inB)) || llvm::popcount(columns) != 1 || llvm::popcount(summed) != 1)
    return failure();
  lane = members(columns).front();
  k = members(summed).front();
  for (const Output &output : model.outputs)
    if (output.store.address.atoms() != kept || output.store.address.coefficient(lane) != 1)
      return failure();
  if (b.operand->kind != Operand::Buffer || !b.operand->access.guards.empty() || b.operand->access.address.coefficient(lane) != 1)
    return failure();
  lanes = target.vectorBits / products.accType.getIntOrFloatBitWidth();
  int64_t bytes = model.atomSizes[k] * model.atomSizes[lane] * b.operand->elementType.getIntOrFloatBitWidth() / 8;
  if (model.atomSizes[lane] % (kVectors * lanes) || model.atomSizes[k] < 2 * kRows || bytes < kLeastBytes)
    return failure();
  return success();
}

/// Some strips per thread, each of a page or so of every row.
void OneRowEmitter::chooseStrips() {
  int64_t columns = model.atomSizes[lane], step = kVectors * lanes;
  int64_t wanted = llvm::divideCeil(4 * target.threads, model.product(batch));
  strip = std::clamp<int64_t>(llvm::divideCeil(columns, wanted), step, 1024);
  strip = llvm::alignTo(strip, step);
  strips = llvm::divideCeil(columns, strip);
}

/// sums += a[k] * b[k] for k in [begin, end), `rows` of them at a time.
void OneRowEmitter::addRows(PointEvaluator &at, Value begin, Value end, int64_t rows) {
  scf::ForOp loop = openLoop(at, begin, end, rows);
  at.enterLoop(loop);
  SmallVector<PointEvaluator> points;
  SmallVector<Value> factors;
  for (int64_t row = 0; row < rows; ++row) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(k, point.addConstant(loop.getInductionVar(), row));
    factors.push_back(point.splat(factorAt(point, products, a)));
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
  for (int64_t v = 0; v < kVectors; ++v) {
    places.push_back(at.addConstant(place, v * lanes));
    builder = at.builder();
    current.push_back(vector::LoadOp::create(builder, at.loc(), sumType, sums, ValueRange{places.back()}));
  }
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t v = 0; v < kVectors; ++v) {
      PointEvaluator point = points[row];
      point.enter(point.block());
      point.bindIndex(lane, point.addConstant(column, v * lanes));
      point.setLanes(lane);
      Value factor = point.splat(factorAt(point, products, b));
      current[v] = accumulateProduct(point, factors[row], factor, current[v], target.fma);
    }
  }
  for (int64_t v = 0; v < kVectors; ++v) {
    builder = at.builder();
    vector::StoreOp::create(builder, at.loc(), current[v], sums, ValueRange{places[v]});
  }
  at.leave();
  at.leave();
}

/// Consumers and stores.
void OneRowEmitter::finish(PointEvaluator &at) {
  scf::ForOp loop = openLoop(at, stripBegin, stripEnd, lanes);
  at.enterLoop(loop);
  at.bindIndex(lane, loop.getInductionVar());
  PointEvaluator point = at;
  point.setLanes(lane);
  OpBuilder builder = point.builder();
  Value place = arith::SubIOp::create(builder, point.loc(), loop.getInductionVar(), stripBegin);
  Value sum = vector::LoadOp::create(builder, point.loc(), VectorType::get({lanes}, products.accType), sums, ValueRange{place});
  point.bind(products.node->op->getResult(0), finishSum(point, products, sum));
  SmallVector<Value> values;
  for (const Output &output : model.outputs)
    values.push_back(point.evaluate(output.value));
  for (auto [output, value] : llvm::zip(model.outputs, values))
    point.store(output.store, value);
  at.leave();
}

bool OneRowEmitter::emit() {
  shell = createShell(kernel, model);
  Scratch scratch(shell);
  sums = scratch.take(products.accType, strip);
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
  scf::ForOp clear = openLoop(at, at.constant(0), at.constant(strip), lanes);
  at.enterLoop(clear);
  builder = at.builder();
  vector::StoreOp::create(builder, at.loc(), zero, sums, ValueRange{clear.getInductionVar()});
  at.leave();
  int64_t whole = model.atomSizes[k] / kRows * kRows;
  addRows(at, at.constant(0), at.constant(whole), kRows);
  if (whole < model.atomSizes[k])
    addRows(at, at.constant(whole), at.constant(model.atomSizes[k]), 1);
  finish(at);
  return !at.broken();
}

FailureOr<EmittedKernel> OneRowEmitter::run() {
  if (failed(match()))
    return failure();
  chooseStrips();
  if (!emit()) {
    shell.erase();
    return refuse(kernel, "contraction", "internal fault: a value was needed where it is not known");
  }
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "contraction";
  out.rangeEnd = model.product(batch) * strips;
  out.scratchBytesPerTask = scratchBytes;
  out.nanosPerIteration = model.totalBytes() / 15.0 / double(out.rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitOneRow(func::FuncOp fn, const KernelModel &model, const KernelTarget &target) {
  return OneRowEmitter(fn, model, target).run();
}

} // namespace millrace::lowering
