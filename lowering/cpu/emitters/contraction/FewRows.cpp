// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewRows.cpp - Emit contractions of few rows with a matrix -----------===//
// Input:   c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n], one to sixteen m, b a buffer that is contiguous along n
//          or, like a, along k; elementwise consumers of c.
// Output:  an iteration is a strip of columns. Its sums are in scratch; some rows of b at a time are added to all of them: long contiguous pieces of
//          few rows, as prefetchers like. (Software prefetches only cost time.)
//          Where b is contiguous along k, some columns at a time are multiplied with all rows of a, lanes along k. So are the weights of a
//          convolution that are contiguous along all k (input channels, then the window) where few elements of the result share them: a is copied to
//          scratch in their order once per strip, and the much larger weights are neither packed nor transposed.
//          All operands of consumers for a vector are read before it is stored, once: a result may share the memory of such an operand.
// Leaves alone: columns that are no whole number of steps, several k in another order; b that fits into the near caches (column
//          sums and register tiles are as fast).
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/FewRows.h"

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/model/SumOfProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Rows of b at a time: as many streams as use the memory's bandwidth. Elements of a that find no register are on the stack. Unit: rows of b. Source:
/// judgement, not measured alone; commit 7dcb786 has the figures of the whole change.
constexpr int64_t kRowsOfB = 8;
/// Contractions of more rows are packed. Unit: rows of a. Source: commit ffd4955, one thread, 2048x2048 transposed: 16 rows 1.56 to 1.21 ms, 8 rows
/// 1.14 to 0.76.
constexpr int64_t kMaxRows = 16;
/// Where b is read by columns: rows whose sums are in registers at a time. Unit: rows of a. Source: judgement, not measured alone; commit ffd4955 has
/// the figures of the whole change.
constexpr int64_t kRowsAtOnce = 4;
/// Strips are as wide as several threads allow: b is read in memory order, and prefetchers restart less often. Unit: strips per thread. Source:
/// commit 73c0369: gemm_1x4096x4096 1.21 to 1.16 ms on two threads with one strip each.
constexpr int64_t kStripsPerThread = 1;
/// Smaller matrices come from near caches, where this emitter gains nothing: for one row. The limit is no part of the machine model, because other
/// emitters add in another order and results have the same bits for all sizes of caches. Unit: bytes of b. Source: judgement, not measured alone;
/// commit 7dcb786 has the figures of the whole change.
constexpr int64_t kMinBytesOfOneRow = 128 << 10;
/// The same for several rows. Unit: bytes of b. Source: judgement, not measured alone; commit 7dcb786 has the figures of the whole change.
constexpr int64_t kMinBytesOfRows = 2 << 20;
/// Shorter sums do not have lanes along k, which are added up at the end. Unit: products per sum. Source: judgement, not measured alone; chosen in
/// commit f7caa64.
constexpr int64_t kMinK = 256;

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
  void addAllRows(PointEvaluator &at);
  bool isFlat(const Factor &factor) const;
  const Operand &memoryOf(const Factor &factor) const;
  void bindK(PointEvaluator &at, Value index);
  void copyRows(PointEvaluator &at);
  void multiplyColumns(PointEvaluator &at);
  SmallVector<Value> multiplyRows(PointEvaluator &at, Value column, Value begin, Value end, Value firstRow, SmallVector<Value> current);
  void finish(PointEvaluator &at);

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  SumOfProducts products;
  Factor a, b;
  int lane = -1, k = -1;
  AtomSet batch = 0;
  bool alongK = false; ///< lanes are along k
  // If alongK:
  int64_t columnsAtOnce = 1, rowsAtOnce = 1, rowGroups = 1; ///< the last group may overlap the one before
  int64_t kBlock = 1;                                       ///< of which all groups of rows are computed in turn
  SmallVector<int> kOrder;                                  ///< in the order of b, the innermost last
  bool copies = false;                                      ///< a is copied to scratch
  Value copied, partials;
  SmallVector<int> mOrder;
  int64_t rows = 1, allK = 1, vectors = 2; ///< vectors of one row's sums at a time
  int64_t lanes = 1, strip = 1, strips = 1;
  func::FuncOp shell;
  Value sums; ///< of the strip
  Value stripBegin, stripEnd;
  int64_t scratchBytes = 0;
};

/// Returns the memory that the operand reads, where it is only converted elementwise.
const Operand &FewRowsEmitter::memoryOf(const Factor &factor) const {
  const Operand *operand = factor.operand;
  while (operand->kind == Operand::Intermediate) {
    const Node &node = model.nodeOf(*operand);
    Operation *yield = node.body ? node.body->getTerminator() : nullptr;
    Operation *convert = yield ? yield->getOperand(0).getDefiningOp() : nullptr;
    bool isConversion = convert && convert->getNumOperands() == 1 && isa<BlockArgument>(convert->getOperand(0)) && isa<CastOpInterface>(convert);
    if (node.reduction || !node.reads.empty() || node.inputs.size() != 1 || (node.body && !isConversion))
      break;
    operand = &node.inputs.front();
  }
  return *operand;
}

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
  if ((batch & ~(inA & inB)) || (summed & ~(inA & inB)) || !isColumn(columns) || summed == 0 || rows > kMaxRows)
    return failure();
  mOrder = outermostFirst(model, inRows);
  lane = members(columns).front();
  allK = model.product(summed);
  kOrder.assign(members(summed));
  const Operand &numbers = memoryOf(b);
  if (numbers.kind != Operand::Buffer)
    return failure();
  llvm::sort(kOrder, [&](int x, int y) { return numbers.access.address.coefficient(x) > numbers.access.address.coefficient(y); });
  k = kOrder.back();
  for (const Output &output : model.outputs)
    if (output.store.address.atoms() != kept || output.store.address.coefficient(lane) != 1)
      return failure();
  auto isContiguous = [&](const Factor &factor, int atom) {
    const Operand &memory = memoryOf(factor);
    return memory.kind == Operand::Buffer && memory.access.guards.empty() && memory.access.address.coefficient(atom) == 1;
  };
  alongK = !isContiguous(b, lane);
  if (alongK ? !isContiguous(b, k) || !isFlat(b) || memoryOf(a).kind != Operand::Buffer || !memoryOf(a).access.guards.empty() : kOrder.size() != 1)
    return failure();
  copies = alongK && !isFlat(a);
  // The copy is far smaller than what is read.
  if (copies && (a.converts || &memoryOf(a) != a.operand || rows * 8 > model.atomSizes[lane]))
    return failure();
  vectors = rows > 4 || alongK ? 1 : 2;
  lanes = target.vectorBits / products.accType.getIntOrFloatBitWidth();
  if (model.atomSizes[lane] % (vectors * lanes))
    vectors = 1;
  int64_t bytes = allK * model.atomSizes[lane] * numbers.elementType.getIntOrFloatBitWidth() / 8;
  if (alongK && (allK < kMinK || allK % lanes || bytes < kMinBytesOfRows))
    return failure();
  // Registers hold sums of `rowsAtOnce` x `columnsAtOnce`, a vector of each column, one of a row.
  rowGroups = llvm::divideCeil(rows, kRowsAtOnce);
  rowsAtOnce = llvm::divideCeil(rows, rowGroups);
  columnsAtOnce = std::clamp<int64_t>((target.vectorRegisters - 1) / (rowsAtOnce + 1), 1, lanes);
  kBlock = rowGroups == 1 ? allK : std::min(allK, target.l1Bytes / int64_t(sizeof(float)) / rows / lanes * lanes);
  if (model.atomSizes[lane] % (vectors * lanes) || allK < 16 || bytes < (rows == 1 ? kMinBytesOfOneRow : kMinBytesOfRows))
    return failure();
  return success();
}

void FewRowsEmitter::chooseStrips() {
  int64_t columns = model.atomSizes[lane], step = vectors * lanes;
  int64_t wanted = llvm::divideCeil((copies ? 1 : kStripsPerThread) * target.threads, model.product(batch));
  strip = std::clamp<int64_t>(llvm::divideCeil(columns, wanted), step, std::max<int64_t>(target.residentBytes() / int64_t(sizeof(float)) / step * step, step));
  strip = llvm::alignTo(strip, step);
  strips = llvm::divideCeil(columns, strip);
}

/// Emits sums += a[k] * b[k] for k in [begin, end), `ofB` of them at a time.
void FewRowsEmitter::addRows(PointEvaluator &at, Value begin, Value end, int64_t ofB) {
  scf::ForOp loop = openLoop(at, begin, end, ofB);
  at.enterLoop(loop);
  SmallVector<PointEvaluator> points;
  SmallVector<Value> factors; // elements of a: those of one row of b for all rows of a, then of the next row
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
  scf::ForOp columns = openLoop(at, stripBegin, stripEnd, vectors * lanes);
  at.enterLoop(columns);
  for (PointEvaluator &point : points)
    point.enterLoop(columns);
  Value column = columns.getInductionVar();
  OpBuilder builder = at.builder();
  Value place = arith::SubIOp::create(builder, at.loc(), column, stripBegin);
  auto sumType = VectorType::get({lanes}, products.accType);
  SmallVector<Value> places, current;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v) {
      places.push_back(at.addConstant(place, row * strip + v * lanes));
      builder = at.builder();
      current.push_back(vector::LoadOp::create(builder, at.loc(), sumType, sums, ValueRange{places.back()}));
    }
  for (int64_t i = 0; i < ofB; ++i)
    for (int64_t v = 0; v < vectors; ++v) {
      PointEvaluator point = points[i];
      point.enter(point.block());
      point.bindIndex(lane, point.addConstant(column, v * lanes));
      point.setLanes(lane);
      Value factor = point.splat(factorAt(point, products, b));
      for (int64_t row = 0; row < rows; ++row) {
        Value &sum = current[row * vectors + v];
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

/// Emits sums = a * b, rows of b one after another.
void FewRowsEmitter::addAllRows(PointEvaluator &at) {
  OpBuilder builder = at.builder();
  Value zero = at.number(cast<TypedAttr>(builder.getZeroAttr(VectorType::get({lanes}, products.accType))));
  scf::ForOp clear = openLoop(at, at.constant(0), at.constant(rows * strip), lanes);
  at.enterLoop(clear);
  builder = at.builder();
  vector::StoreOp::create(builder, at.loc(), zero, sums, ValueRange{clear.getInductionVar()});
  at.leave();
  int64_t whole = model.atomSizes[k] / kRowsOfB * kRowsOfB;
  addRows(at, at.constant(0), at.constant(whole), kRowsOfB);
  if (whole < model.atomSizes[k])
    addRows(at, at.constant(whole), at.constant(model.atomSizes[k]), 1);
}

/// Returns true if consecutive k of the operand are contiguous.
bool FewRowsEmitter::isFlat(const Factor &factor) const {
  int64_t distance = 1;
  for (int atom : llvm::reverse(kOrder)) {
    if (memoryOf(factor).access.address.coefficient(atom) != distance)
      return false;
    distance *= model.atomSizes[atom];
  }
  return true;
}

/// Binds the k number `index` of contiguous operands.
void FewRowsEmitter::bindK(PointEvaluator &at, Value index) {
  for (int atom : kOrder)
    at.bindIndex(atom, atom == k ? index : at.constant(0));
}

/// Copies all rows of a in the order of b's k.
void FewRowsEmitter::copyRows(PointEvaluator &at) {
  scf::ForOp loop = openLoop(at, at.constant(0), at.constant(rows), 1);
  at.enterLoop(loop);
  bindLinear(at, loop.getInductionVar(), mOrder);
  Value to = at.mulConstant(loop.getInductionVar(), allK);
  // Contiguous elements of a are innermost.
  SmallVector<int> order = kOrder;
  const LinearExpr &address = memoryOf(a).access.address;
  llvm::stable_sort(order, [&](int x, int y) { return address.coefficient(x) > address.coefficient(y); });
  for (int atom : order) {
    scf::ForOp inner = openLoop(at, at.constant(0), at.constant(model.atomSizes[atom]), 1);
    at.enterLoop(inner);
    at.bindIndex(atom, inner.getInductionVar());
    to = at.add(to, at.mulConstant(inner.getInductionVar(), memoryOf(b).access.address.coefficient(atom)));
  }
  Value element = factorAt(at, products, a);
  OpBuilder builder = at.builder();
  memref::StoreOp::create(builder, at.loc(), element, copied, ValueRange{to});
  for (int64_t depth = order.size(); depth >= 0; --depth)
    at.leave();
}

/// Returns current + a * b of `columnsAtOnce` columns from `column` and `rowsAtOnce` rows from `firstRow`, k in [begin, end).
SmallVector<Value> FewRowsEmitter::multiplyRows(PointEvaluator &at, Value column, Value begin, Value end, Value firstRow,
                                                SmallVector<Value> current) {
  scf::ForOp along = openLoop(at, begin, end, lanes, current);
  at.enterLoop(along);
  bindK(at, along.getInductionVar());
  current.assign(along.getRegionIterArgs().begin(), along.getRegionIterArgs().end());
  SmallVector<Value> columns;
  for (int64_t i = 0; i < columnsAtOnce; ++i) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(lane, point.addConstant(column, i));
    point.setLanes(k);
    columns.push_back(point.splat(factorAt(point, products, b)));
  }
  for (int64_t row = 0; row < rowsAtOnce; ++row) {
    PointEvaluator point = at;
    point.enter(at.block());
    Value factor;
    if (copies) {
      Value from = point.add(along.getInductionVar(), point.mulConstant(point.addConstant(firstRow, row), allK));
      OpBuilder builder = point.builder();
      factor = vector::LoadOp::create(builder, point.loc(), VectorType::get({lanes}, products.accType), copied, ValueRange{from});
    } else {
      bindLinear(point, point.addConstant(firstRow, row), mOrder);
      point.setLanes(k);
      factor = point.splat(factorAt(point, products, a));
    }
    for (int64_t i = 0; i < columnsAtOnce; ++i) {
      Value &sum = current[row * columnsAtOnce + i];
      sum = accumulateProduct(point, factor, columns[i], sum, target.fma);
    }
  }
  yieldFrom(along, current);
  at.leave();
  return SmallVector<Value>(along.getResults());
}

/// Emits sums = a * b, `columnsAtOnce` of b at a time; groups of rows alternate, block by block of k.
void FewRowsEmitter::multiplyColumns(PointEvaluator &at) {
  scf::ForOp loop = openLoop(at, stripBegin, stripEnd, columnsAtOnce);
  at.enterLoop(loop);
  // The last columns overlap those before.
  OpBuilder builder = at.builder();
  Value latest = arith::SubIOp::create(builder, at.loc(), stripEnd, at.constant(columnsAtOnce));
  Value first = arith::MinUIOp::create(builder, at.loc(), loop.getInductionVar(), latest);
  Value place = arith::SubIOp::create(builder, at.loc(), first, stripBegin);
  auto type = VectorType::get({lanes}, products.accType);
  Value zero = at.number(cast<TypedAttr>(builder.getZeroAttr(type)));
  int64_t sumsOfGroup = rowsAtOnce * columnsAtOnce;
  auto addUp = [&](Value firstRow, ArrayRef<Value> lanesOfSums) {
    bool floats = isa<FloatType>(products.accType);
    SmallVector<Value> totals = foldLanes(at, SmallVector<Value>(lanesOfSums), [&](ArrayRef<Value> x, ArrayRef<Value> y) {
      SmallVector<Value> added;
      OpBuilder inner = at.builder();
      for (auto [left, right] : llvm::zip(x, y))
        added.push_back(floats ? Value(arith::AddFOp::create(inner, at.loc(), left, right)) : Value(arith::AddIOp::create(inner, at.loc(), left, right)));
      return added;
    });
    Value base = at.add(place, at.mulConstant(firstRow, strip));
    for (auto [i, value] : llvm::enumerate(totals)) {
      Value to = at.addConstant(base, int64_t(i) / columnsAtOnce * strip + int64_t(i) % columnsAtOnce);
      OpBuilder inner = at.builder();
      memref::StoreOp::create(inner, at.loc(), value, sums, ValueRange{to});
    }
  };
  if (rowGroups == 1) {
    addUp(at.constant(0), multiplyRows(at, first, at.constant(0), at.constant(allK), at.constant(0), SmallVector<Value>(sumsOfGroup, zero)));
    at.leave();
    return;
  }
  // The groups are a loop: unrolled, LLVM would keep the sums of all of them in registers that do not exist.
  auto forEachGroup = [&](llvm::function_ref<void(Value firstRow, Value place)> act) {
    scf::ForOp groups = openLoop(at, at.constant(0), at.constant(rowGroups), 1);
    at.enterLoop(groups);
    Value row = at.mulConstant(groups.getInductionVar(), rowsAtOnce);
    OpBuilder inner = at.builder();
    if (rows % rowsAtOnce)
      row = arith::MinUIOp::create(inner, at.loc(), row, at.constant(rows - rowsAtOnce));
    act(row, at.mulConstant(groups.getInductionVar(), sumsOfGroup * lanes));
    at.leave();
  };
  auto loadSums = [&](Value from) {
    SmallVector<Value> current;
    for (int64_t i = 0; i < sumsOfGroup; ++i) {
      Value place = at.addConstant(from, i * lanes);
      OpBuilder inner = at.builder();
      current.push_back(vector::LoadOp::create(inner, at.loc(), type, partials, ValueRange{place}));
    }
    return current;
  };
  auto storeSums = [&](Value from, ArrayRef<Value> current) {
    for (auto [i, value] : llvm::enumerate(current)) {
      Value place = at.addConstant(from, int64_t(i) * lanes);
      OpBuilder inner = at.builder();
      vector::StoreOp::create(inner, at.loc(), value, partials, ValueRange{place});
    }
  };
  forEachGroup([&](Value, Value from) { storeSums(from, SmallVector<Value>(sumsOfGroup, zero)); });
  scf::ForOp blocks = openLoop(at, at.constant(0), at.constant(allK), kBlock);
  at.enterLoop(blocks);
  builder = at.builder();
  Value end = arith::MinUIOp::create(builder, at.loc(), at.addConstant(blocks.getInductionVar(), kBlock), at.constant(allK));
  forEachGroup([&](Value firstRow, Value from) { storeSums(from, multiplyRows(at, first, blocks.getInductionVar(), end, firstRow, loadSums(from))); });
  at.leave();
  forEachGroup([&](Value firstRow, Value from) { addUp(firstRow, loadSums(from)); });
  at.leave();
}

/// Emits consumers and stores.
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
  if (copies)
    copied = scratch.take(products.accType, rows * allK);
  if (rowGroups > 1 && alongK)
    partials = scratch.take(products.accType, rowGroups * rowsAtOnce * columnsAtOnce * lanes);
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
  if (copies)
    copyRows(at);
  if (alongK)
    multiplyColumns(at);
  else
    addAllRows(at);
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
  out->rows = rowRange(model, outermostFirst(model, batch), out->rangeEnd);
  out->scratchBytesPerTask = scratchBytes;
  out->nanosPerIteration = model.totalBytes() / target.rowBytesPerNanosecond / double(out->rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitFewRows(func::FuncOp fn, const KernelModel &model, const KernelTarget &target) {
  return FewRowsEmitter(fn, model, target).run();
}

} // namespace millrace::lowering
