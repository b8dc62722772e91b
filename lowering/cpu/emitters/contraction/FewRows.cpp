// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewRows.cpp - Emit contractions of few rows with a matrix -----------===//
// Input:   c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n], one to sixteen m, b a buffer that is contiguous along n
//          or, like a, along k; elementwise consumers of c.
// Output:  an iteration is a strip of columns. Its sums are in scratch; some rows of b at a time are added to all of them: long contiguous pieces of
//          few rows, as prefetchers like. (Software prefetches only cost time.)
//          Where b is contiguous along k, some columns at a time are multiplied with all rows of a, lanes along k. So are the weights of a
//          convolution that are contiguous along all k (input channels, then the window) where few elements of the result share them: a is copied to
//          scratch in their order once per strip, and the much larger weights are neither packed nor transposed.
//          Bytes are multiplied by the instructions that processors have for them (GroupedProducts.h): a is copied to scratch once per strip, and rows of b
//          are interleaved in registers, which permutes the columns of the sums until they are finished.
//          All operands of consumers for a vector are read before it is stored, once: a result may share the memory of such an operand.
// Leaves alone: columns that are no whole number of steps, several k in another order; b that fits into the near caches (column
//          sums and register tiles are as fast).
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/FewRows.h"

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/contraction/ByteShuffles.h"
#include "lowering/cpu/emitters/contraction/GroupedProducts.h"
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
/// Smaller matrices of bytes are packed, where several rows read them: unlike sums of floats, those of integers are the same in every order. Unit:
/// bytes of b. Source: judgement, not measured alone.
constexpr int64_t kMinBytesOfGroups = 16 << 10;

class FewRowsEmitter {
public:
  FewRowsEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void chooseGroups();
  void chooseStrips();
  bool emit();
  void addRows(PointEvaluator &at, Value begin, Value end, int64_t ofB);
  void addAllRows(PointEvaluator &at);
  bool isFlat(const Factor &factor) const;
  const Operand &memoryOf(const Factor &factor) const;
  void bindK(PointEvaluator &at, Value index);
  void copyRows(PointEvaluator &at);
  void copyGroups(PointEvaluator &at);
  void addGroups(PointEvaluator &at, Value begin, Value end, int64_t ofB);
  SmallVector<Value> interleavedRows(PointEvaluator &at, Value column);
  Value bytesAlong(PointEvaluator &at, int atom, Value index);
  Value loadSums(PointEvaluator &at, Value column, int64_t row);
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
  /// The instruction for bytes: a is copied to scratch as it reads it, and sums are corrected for each row of a if it reads b flipped.
  GroupedProducts grouped;
  int64_t group = 1;
  Value corrections;
  Type typeOfCopy() const {
    return grouped.isNone() ? products.accType : Type(IntegerType::get(products.accType.getContext(), grouped.widens() ? 16 : 8));
  }
  /// Neighbouring columns in a vector of sums, if rows of b are interleaved.
  int64_t blockOfColumns() const { return std::min(kInterleavedBytes, group * lanes) / group; }
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
  if ((batch & ~(inA & inB)) || (summed & ~(inA & inB)) || !isColumn(columns) || summed == 0 || rows > kMaxFewRows)
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
  vectors = rows > 4 || alongK ? 1 : 2;
  lanes = target.vectorBits / products.accType.getIntOrFloatBitWidth();
  chooseGroups();
  copies = group > 1 || (alongK && !isFlat(a));
  // The copy is far smaller than what is read.
  if (copies && group == 1 && (a.converts || &memoryOf(a) != a.operand || rows * 8 > model.atomSizes[lane]))
    return failure();
  if (model.atomSizes[lane] % (vectors * lanes))
    vectors = 1;
  int64_t bytes = allK * model.atomSizes[lane] * numbers.elementType.getIntOrFloatBitWidth() / 8;
  if (alongK && (allK < kMinK || allK % lanes || (group == 1 && bytes < kMinBytesOfRows)))
    return failure();
  // Registers hold sums of `rowsAtOnce` x `columnsAtOnce`, a vector of each column, one of a row.
  rowGroups = llvm::divideCeil(rows, kRowsAtOnce);
  rowsAtOnce = llvm::divideCeil(rows, rowGroups);
  columnsAtOnce = std::clamp<int64_t>((target.vectorRegisters - 1) / (rowsAtOnce + 1), 1, lanes);
  kBlock = rowGroups == 1 ? allK : std::min(allK, target.l1Bytes * 8 / typeOfCopy().getIntOrFloatBitWidth() / rows / (group * lanes) * (group * lanes));
  int64_t least = group > 1 ? kMinBytesOfGroups : rows == 1 ? kMinBytesOfOneRow : kMinBytesOfRows;
  if (model.atomSizes[lane] % (vectors * lanes) || allK < 16 || bytes < least)
    return failure();
  return success();
}

/// Chooses an instruction for products of bytes where k and columns are whole vectors of them.
void FewRowsEmitter::chooseGroups() {
  grouped = GroupedProducts::ofBytes(a, b, products.accType, target);
  int64_t wanted = grouped.group();
  if (wanted == 1 || allK % (alongK ? wanted * lanes : wanted) || (!alongK && model.atomSizes[lane] % (wanted * lanes))) {
    grouped = {};
    return;
  }
  group = wanted;
  if (!alongK)
    vectors = group;
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

/// Returns the bytes of b for `group` rows, from the k that is bound on, and group * lanes columns: in each lane of a vector those of one column.
SmallVector<Value> FewRowsEmitter::interleavedRows(PointEvaluator &at, Value column) {
  Value first = at.index(k);
  SmallVector<Value> rowsOfB;
  for (int64_t i = 0; i < group; ++i) {
    PointEvaluator row = at;
    row.enter(at.block());
    row.bindIndex(k, row.addConstant(first, i));
    rowsOfB.push_back(bytesAlong(row, lane, column));
  }
  OpBuilder builder = at.builder();
  return interleaved(builder, at.loc(), rowsOfB);
}

/// Returns group * lanes bytes of b along `atom` from `index` on, with all other indices as they are bound.
Value FewRowsEmitter::bytesAlong(PointEvaluator &at, int atom, Value index) {
  PointEvaluator point = at;
  point.enter(at.block());
  point.bindIndex(atom, index);
  if (b.operand->kind == Operand::Buffer) {
    Value from = point.address(b.operand->access);
    OpBuilder builder = point.builder();
    return vector::LoadOp::create(builder, point.loc(), VectorType::get({group * lanes}, builder.getI8Type()), point.buffer(b.operand->access.buffer),
                                  ValueRange{from});
  }
  // What is converted to bytes is computed by vectors of as many lanes as the sums have.
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < group; ++i) {
    PointEvaluator piece = at;
    piece.enter(at.block());
    piece.bindIndex(atom, piece.addConstant(index, i * lanes));
    piece.setLanes(atom);
    pieces.push_back(piece.evaluateVector(*b.operand));
  }
  OpBuilder builder = at.builder();
  return joined(builder, at.loc(), pieces);
}

/// Emits sums += a[k] * b[k] for k in [begin, end), `ofB` of them at a time, in groups.
void FewRowsEmitter::addGroups(PointEvaluator &at, Value begin, Value end, int64_t ofB) {
  scf::ForOp loop = openLoop(at, begin, end, ofB);
  at.enterLoop(loop);
  scf::ForOp columns = openLoop(at, stripBegin, stripEnd, vectors * lanes);
  at.enterLoop(columns);
  Value column = columns.getInductionVar();
  SmallVector<Value> ofGroups; // the vectors of the first group, then of the next one
  for (int64_t i = 0; i < ofB; i += group) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(k, point.addConstant(loop.getInductionVar(), i));
    for (Value bytes : interleavedRows(point, column)) {
      if (grouped.flips())
        bytes = grouped.flip(point, bytes);
      ofGroups.push_back(grouped.widens() ? grouped.widenB(point, bytes) : bytes);
    }
  }
  OpBuilder builder = at.builder();
  Value place = arith::SubIOp::create(builder, at.loc(), column, stripBegin);
  auto sumType = VectorType::get({lanes}, products.accType);
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<Value> places, current;
    for (int64_t v = 0; v < vectors; ++v) {
      places.push_back(at.addConstant(place, row * strip + v * lanes));
      builder = at.builder();
      current.push_back(vector::LoadOp::create(builder, at.loc(), sumType, sums, ValueRange{places.back()}));
    }
    for (int64_t i = 0; i < ofB; i += group) {
      Value from = at.addConstant(loop.getInductionVar(), row * allK + i);
      Value factors = grouped.broadcast(at, copied, from);
      for (int64_t v = 0; v < vectors; ++v)
        current[v] = grouped.add(at, factors, ofGroups[i / group * vectors + v], current[v]);
    }
    for (auto [value, to] : llvm::zip(current, places)) {
      builder = at.builder();
      vector::StoreOp::create(builder, at.loc(), value, sums, ValueRange{to});
    }
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
  if (group > 1) {
    addGroups(at, at.constant(0), at.constant(whole), kRowsOfB);
    if (whole < model.atomSizes[k])
      addGroups(at, at.constant(whole), at.constant(model.atomSizes[k]), group);
    return;
  }
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

/// Copies all rows of a in the order of b's k, as the instruction for bytes reads them, and computes what sums are corrected by.
void FewRowsEmitter::copyGroups(PointEvaluator &at) {
  scf::ForOp loop = openLoop(at, at.constant(0), at.constant(rows), 1);
  at.enterLoop(loop);
  bindLinear(at, loop.getInductionVar(), mOrder);
  Value to = at.mulConstant(loop.getInductionVar(), allK);
  OpBuilder builder = at.builder();
  // Lanes along k where whole vectors are, else one element at a time.
  bool isVector = kOrder.size() == 1 && allK % lanes == 0;
  Type sumType = isVector ? Type(VectorType::get({lanes}, products.accType)) : products.accType;
  Value sum = at.number(cast<TypedAttr>(builder.getZeroAttr(sumType)));
  std::function<Value(PointEvaluator &, size_t, Value, Value)> nest = [&](PointEvaluator &point, size_t depth, Value place, Value carried) -> Value {
    if (depth == kOrder.size()) {
      PointEvaluator one = point;
      one.enter(point.block());
      if (isVector)
        one.setLanes(k);
      Value bytes = isVector ? one.evaluateVector(*a.operand) : one.evaluate(*a.operand);
      carried = grouped.addElements(one, bytes, carried);
      if (grouped.widens())
        bytes = grouped.widenA(one, bytes);
      OpBuilder inner = one.builder();
      if (isVector)
        vector::StoreOp::create(inner, one.loc(), bytes, copied, ValueRange{place});
      else
        memref::StoreOp::create(inner, one.loc(), bytes, copied, ValueRange{place});
      return carried;
    }
    int atom = kOrder[depth];
    scf::ForOp inner = openLoop(point, point.constant(0), point.constant(model.atomSizes[atom]), isVector ? lanes : 1, carried);
    point.enterLoop(inner);
    point.bindIndex(atom, inner.getInductionVar());
    int64_t stride = 1;
    for (size_t deeper = depth + 1; deeper < kOrder.size(); ++deeper)
      stride *= model.atomSizes[kOrder[deeper]];
    Value next = nest(point, depth + 1, point.add(place, point.mulConstant(inner.getInductionVar(), stride)), inner.getRegionIterArgs().front());
    yieldFrom(inner, next);
    point.leave();
    return inner.getResult(0);
  };
  sum = nest(at, 0, to, sum);
  if (grouped.flips()) {
    builder = at.builder();
    if (isVector)
      sum = vector::ReductionOp::create(builder, at.loc(), vector::CombiningKind::ADD, sum);
    Value factor = arith::ConstantOp::create(builder, at.loc(), builder.getI32IntegerAttr(int32_t(grouped.correction())));
    Value correction = arith::MulIOp::create(builder, at.loc(), sum, factor);
    memref::StoreOp::create(builder, at.loc(), correction, corrections, ValueRange{loop.getInductionVar()});
  }
  at.leave();
}

/// Returns current + a * b of `columnsAtOnce` columns from `column` and `rowsAtOnce` rows from `firstRow`, k in [begin, end).
SmallVector<Value> FewRowsEmitter::multiplyRows(PointEvaluator &at, Value column, Value begin, Value end, Value firstRow,
                                                SmallVector<Value> current) {
  scf::ForOp along = openLoop(at, begin, end, group * lanes, current);
  at.enterLoop(along);
  bindK(at, along.getInductionVar());
  current.assign(along.getRegionIterArgs().begin(), along.getRegionIterArgs().end());
  SmallVector<Value> columns;
  for (int64_t i = 0; i < columnsAtOnce; ++i) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(lane, point.addConstant(column, i));
    if (group > 1) {
      Value bytes = bytesAlong(point, k, along.getInductionVar());
      if (grouped.flips())
        bytes = grouped.flip(point, bytes);
      columns.push_back(grouped.widens() ? grouped.widenB(point, bytes) : bytes);
      continue;
    }
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
      factor = vector::LoadOp::create(builder, point.loc(), VectorType::get({group * lanes}, typeOfCopy()), copied, ValueRange{from});
    } else {
      bindLinear(point, point.addConstant(firstRow, row), mOrder);
      point.setLanes(k);
      factor = point.splat(factorAt(point, products, a));
    }
    for (int64_t i = 0; i < columnsAtOnce; ++i) {
      Value &sum = current[row * columnsAtOnce + i];
      sum = group > 1 ? grouped.add(point, factor, columns[i], sum) : accumulateProduct(point, factor, columns[i], sum, target.fma);
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

/// Returns the sums of a row for `lanes` columns from `place` in the strip on: where rows of b were interleaved, from blocks of columns.
Value FewRowsEmitter::loadSums(PointEvaluator &at, Value place, int64_t row) {
  auto type = VectorType::get({lanes}, products.accType);
  int64_t block = blockOfColumns();
  OpBuilder builder = at.builder();
  Value result;
  if (group == 1 || alongK || block >= lanes) {
    Value from = at.addConstant(place, row * strip);
    builder = at.builder();
    result = vector::LoadOp::create(builder, at.loc(), type, sums, ValueRange{from});
  } else {
    // Block number B of a step is part B / group of vector B % group.
    Value inStep = arith::RemUIOp::create(builder, at.loc(), place, at.constant(group * lanes));
    Value begin = at.addConstant(arith::SubIOp::create(builder, at.loc(), place, inStep), row * strip);
    builder = at.builder();
    result = at.number(cast<TypedAttr>(builder.getZeroAttr(type)));
    for (int64_t i = 0; i < lanes; i += block) {
      Value columnInStep = at.addConstant(inStep, i);
      builder = at.builder();
      Value number = arith::DivUIOp::create(builder, at.loc(), columnInStep, at.constant(block));
      Value part = arith::DivUIOp::create(builder, at.loc(), number, at.constant(group));
      Value vector = arith::RemUIOp::create(builder, at.loc(), number, at.constant(group));
      Value from = at.add(at.add(begin, at.mulConstant(vector, lanes)), at.mulConstant(part, block));
      builder = at.builder();
      Value some = vector::LoadOp::create(builder, at.loc(), VectorType::get({block}, products.accType), sums, ValueRange{from});
      result = vector::InsertStridedSliceOp::create(builder, at.loc(), some, result, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1});
    }
  }
  if (!corrections)
    return result;
  builder = at.builder();
  Value correction = memref::LoadOp::create(builder, at.loc(), corrections, ValueRange{at.constant(row)});
  correction = at.splat(correction);
  builder = at.builder();
  return arith::AddIOp::create(builder, at.loc(), result, correction);
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
    Value sum = loadSums(point, place, row);
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
    copied = scratch.take(typeOfCopy(), rows * allK);
  if (grouped.flips())
    corrections = scratch.take(products.accType, rows);
  if (rowGroups > 1 && alongK)
    partials = scratch.take(products.accType, rowGroups * rowsAtOnce * columnsAtOnce * lanes);
  scratchBytes = scratch.bytes();
  PointEvaluator at(model, target, shell, lanes);
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
  if (group > 1)
    copyGroups(at);
  else if (copies)
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
