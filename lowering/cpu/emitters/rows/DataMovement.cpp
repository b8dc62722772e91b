// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovement.cpp - Emit transposes ---------------------------------===//
// Input:   y[u, v] = f(x[v, u], ...): x is contiguous along u, y along v; f is elementwise, other indices are outer loops.
// Output:  an iteration is a block of v (several vectors) for one value of the outer indices. For each square of `lanes` u and v: vectors of x along
//          u, transposed by shuffles, and f for each u along v.
//   direct   the rows of a square are stored at once.
//   joined   v has a few elements and u is the next index of y (pixels of two by two): vectors of x along u for every v are interleaved. Likewise
//            colours, where x is read as y is and other operands depend on v only. Without computation, groups of v are one vector that is loaded,
//            permuted and stored (pixels in reverse order, red and blue exchanged).
//   staged   where rows are powers of two apart: a tile of transposed squares is collected in scratch, so that whole cache lines of x are read and
//            long pieces of y's rows written before they displace each other; also for large results, which are then stored with streaming stores.
//          The last squares of u and v overlap those before. A v shorter than a vector is masked. A u that is no multiple of a vector is read
//          together with the next outer index, where x is contiguous along both (weights of convolutions: 9 and channels).
// Leaves alone kernels with reductions, and kernels all of whose accesses are contiguous along one index.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/rows/VectorStride.h"
#include "lowering/cpu/emitters/rows/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Up to so many short rows are transposed in registers and stored in turns. Unit: vectors. Source: judgement, not measured alone; commit 1c52e2a has
/// the figures of the whole change.
constexpr int64_t kMaxJoinedVectors = 8;
/// Outer indices join an iteration until it has so many elements. Unit: elements of an iteration. Source: judgement, not measured alone; commit
/// 1c52e2a has the figures of the whole change.
constexpr int64_t kMinElementsOfIteration = 1024;
/// From here on streaming stores are faster, even if the result is read next. Unit: bytes of the result. Source: judgement, not measured alone;
/// commit e27ca1c has the figures of the whole change.
constexpr int64_t kMinStreamedBytes = 4 << 20;

class TransposeEmitter {
public:
  TransposeEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  int besideFew(AtomSet all) const;
  void chooseBlocks(AtomSet outside);
  bool suitsJoining() const;
  void chooseJoinedBlocks(AtomSet outside);
  const Access *copiedGroups() const;
  bool maySkipCaches() const;
  bool emit();
  using Squares = SmallVector<SmallVector<Value>>; ///< per transposed access and u: a vector along v
  Squares readSquares(PointEvaluator &at, Value u0, Value v0, Value rowMask);
  void writeRow(PointEvaluator &point, ArrayRef<Value> vectors);
  void emitDirect(PointEvaluator &at, Value begin, Value end);
  void emitSquare(PointEvaluator &at, Value u0, Value v0);
  void emitStaged(PointEvaluator &at, Value begin, Value end);
  void emitJoined(PointEvaluator &at, Value begin, Value end);
  void permuteGroups(PointEvaluator &at, Value u0);
  Value atMost(PointEvaluator &at, Value index, int64_t most);

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;
  int u = -1, v = -1;
  int around = -1; ///< index along which x is contiguous together with u
  int64_t sizeU = 0; ///< of both together
  int64_t sizeV = 0;
  int64_t lanes = 1, block = 1, blocks = 1;
  bool isStaged = false, isStreamed = false, isJoined = false;
  const Access *groups = nullptr; ///< joined, without computation
  int64_t tile = 0;  ///< of u, staged
  int64_t pitch = 0; ///< from one u to the next in a tile
  int64_t scratchBytes = 0;
  SmallVector<int> outer;
  SmallVector<int> rows; ///< other indices that are loops of an iteration, joined
  SmallVector<const Access *> transposed;
  func::FuncOp shell;
};

LogicalResult TransposeEmitter::match() {
  if (model.hasComputedReads()) {
    why = "reads at computed indices";
    return failure();
  }
  for (const Node &node : model.nodes)
    if (node.reduction) {
      why = "a reduction";
      return failure();
    }
  AtomSet all = model.outputs[0].store.address.atoms();
  for (const Output &output : model.outputs) {
    if (output.store.address.atoms() != all) {
      why = "outputs with different indices";
      return failure();
    }
    for (int atom : members(all))
      if (output.store.address.coefficient(atom) == 1) {
        if (v >= 0 && v != atom) {
          why = "outputs contiguous along different indices";
          return failure();
        }
        v = atom;
      }
  }
  if (v < 0) {
    why = "no contiguous index";
    return failure();
  }
  // u is the index along which most of the bytes that are not contiguous along v are contiguous.
  std::map<int, double> bytes;
  model.forEachAccess([&](const Access &access, bool isStore) {
    if (isStore || access.address.coefficient(v) == 1 || access.address.coefficient(v) == 0)
      return;
    for (auto [atom, coefficient] : access.address.terms)
      if (coefficient == 1)
        bytes[atom] += access.numElements;
  });
  for (auto [atom, count] : bytes)
    if (u < 0 || count > bytes[u])
      u = atom;
  bool isTransposed = u >= 0;
  if (!isTransposed)
    u = besideFew(all);
  if (u < 0) {
    why = "no transposed access";
    return failure();
  }
  lanes = std::min<int64_t>(16, target.vectorBits / model.maxElementBits);
  sizeU = model.atomSizes[u];
  sizeV = model.atomSizes[v];
  isJoined = suitsJoining();
  if (isJoined) {
    groups = copiedGroups();
    while (groups && lanes * sizeV * groups->elementType.getIntOrFloatBitWidth() > target.vectorBits)
      lanes /= 2;
    chooseJoinedBlocks(all & ~(atomBit(u) | atomBit(v)));
    return success();
  }
  if (!isTransposed) {
    why = "no transposed access";
    return failure();
  }
  if (model.atomSizes[u] * 2 < lanes || model.atomSizes[v] * 2 < lanes) {
    why = "a side of the transpose shorter than half a vector";
    return failure();
  }
  model.forEachAccess([&](const Access &access, bool isStore) {
    if (!isStore && access.guards.empty() && access.address.coefficient(u) == 1 &&
        access.address.coefficient(v) != 0 && access.address.coefficient(v) != 1)
      transposed.push_back(&access);
  });
  if (transposed.empty()) {
    why = "only padded transposed accesses";
    return failure();
  }
  if (sizeU % lanes && sizeU < 8 * lanes)
    for (int atom : members(all & ~(atomBit(u) | atomBit(v))))
      if (llvm::all_of(transposed, [&](const Access *access) { return access->address.coefficient(atom) == sizeU; }))
        around = atom;
  if (around >= 0)
    sizeU *= model.atomSizes[around];
  AtomSet outside = all & ~(atomBit(u) | atomBit(v) | atomBit(around));
  outer = outermostFirst(model, outside);
  chooseBlocks(outside);
  return success();
}

/// Returns the next index of all results where v is too short for lanes of its own, if all reads are vectors along that index.
int TransposeEmitter::besideFew(AtomSet all) const {
  // Elements at a short stride are read by vectors and shuffles; wider strides are single loads. Unit: elements. Source: judgement, not measured
  // alone; commit e27ca1c has the figures of the whole change.
  constexpr int64_t kMaxShuffledStride = 4;
  int64_t few = model.atomSizes[v];
  for (int atom : members(all & ~atomBit(v))) {
    bool isNext = few <= kMaxShuffledStride;
    model.forEachAccess([&](const Access &access, bool isStore) {
      int64_t step = access.address.coefficient(atom);
      isNext &= access.guards.empty() && (step == few || (!isStore && std::abs(step) <= kMaxShuffledStride));
    });
    if (isNext)
      return atom;
  }
  return -1;
}

/// Returns true if the results' rows of v for consecutive u are contiguous.
bool TransposeEmitter::suitsJoining() const {
  return sizeV < lanes && sizeV <= kMaxJoinedVectors && sizeU >= lanes &&
         llvm::all_of(model.outputs, [&](const Output &output) { return output.store.address.coefficient(u) == sizeV; });
}

void TransposeEmitter::chooseJoinedBlocks(AtomSet outside) {
  outer = outermostFirst(model, outside);
  block = std::min(llvm::alignTo(sizeU, lanes), uint64_t(16 * lanes));
  blocks = llvm::divideCeil(sizeU, block);
  int64_t elements = std::min(block, sizeU) * sizeV, iterations = model.product(outside) * blocks;
  while (blocks == 1 && !outer.empty() && outer.back() != model.rowAtom && elements < kMinElementsOfIteration && iterations / model.atomSizes[outer.back()] >= 8 * target.threads) {
    elements *= model.atomSizes[outer.back()];
    iterations /= model.atomSizes[outer.back()];
    rows.insert(rows.begin(), outer.pop_back_val());
  }
}

/// Returns the access if the result is x with groups of v permuted, and the processor permutes a vector of such groups in one instruction. Null
/// otherwise.
const Access *TransposeEmitter::copiedGroups() const {
  if (model.outputs.size() != 1 || !target.avx512)
    return nullptr;
  const Access &store = model.outputs[0].store;
  const Operand *value = &model.outputs[0].value;
  while (value->kind == Operand::Intermediate) {
    const Node &node = model.nodeOf(*value);
    if (!node.body) {
      value = &node.inputs[0];
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(node.body->getTerminator()->getOperand(0));
    if (node.op->getNumResults() != 1 || !argument || argument.getOwner() != node.body || argument.getArgNumber() >= node.inputs.size())
      return nullptr;
    value = &node.inputs[argument.getArgNumber()];
  }
  const Access &access = value->access;
  // Booleans may be stored as bytes other than 0 and 1.
  if (value->kind != Operand::Buffer || !access.guards.empty() || access.elementType != store.elementType || !access.elementType.isIntOrFloat() ||
      access.elementType.getIntOrFloatBitWidth() % 8 != 0)
    return nullptr;
  bool isGroups = std::abs(access.address.coefficient(v)) == 1 && std::abs(access.address.coefficient(u)) == sizeV;
  return isGroups ? &access : nullptr;
}

void TransposeEmitter::chooseBlocks(AtomSet outside) {
  int64_t bytes = 0;
  bool isCrowded = false;
  auto bytesOf = [](const Access &access) -> int64_t { return llvm::divideCeil(access.elementType.getIntOrFloatBitWidth(), 8); };
  for (const Access *access : transposed) {
    bytes += access->numElements * bytesOf(*access);
    isCrowded |= access->address.coefficient(v) * bytesOf(*access) % target.crowdedBytes() == 0;
  }
  for (const Output &output : model.outputs)
    isCrowded |= output.store.address.coefficient(u) * bytesOf(output.store) % target.crowdedBytes() == 0;
  bool mayStage = around < 0 && sizeU >= lanes && sizeV >= lanes && bytes >= target.minReorderedBytes();
  isStreamed = mayStage && maySkipCaches();
  isStaged = isStreamed || (mayStage && isCrowded);
  // Long pieces of the result's rows save address translations, but the threads need enough pieces. Tiles that are stored through the caches are
  // smaller, because they share the cache with what is read.
  block = isStaged && !isStreamed ? 4 * lanes : 8 * lanes;
  while (block > 4 * lanes && sizeV / block * model.product(outside) < 4 * target.threads)
    block /= 2;
  blocks = llvm::divideCeil(sizeV, block);
  tile = 8 * lanes;
  pitch = block;
  // Where vectors are whole lines, tiles of two lines by four in the level 1 cache, with rows one line apart, are the fastest of all measured.
  bool isLines = isStreamed && llvm::all_of(model.outputs, [&](const Output &output) { return lanes * bytesOf(output.store) == target.lineBytes; });
  if (isLines && sizeV % (2 * lanes) == 0) {
    block = 2 * lanes;
    blocks = llvm::divideCeil(sizeV, block);
    tile = 4 * lanes;
    pitch = block + lanes;
  }
}

/// Returns true if the result is large, the more so the better it would stay in the caches, and all its vectors are parts of whole cache lines.
bool TransposeEmitter::maySkipCaches() const {
  return llvm::all_of(model.outputs, [&](const Output &output) {
    const Access &store = output.store;
    int64_t width = llvm::divideCeil(store.elementType.getIntOrFloatBitWidth(), 8), rows = std::abs(store.address.coefficient(u)) * width;
    auto isAligned = [&](int64_t elements) { return elements * width % target.lineBytes == 0; };
    int64_t least = rows % target.pageBytes == 0 ? kMinStreamedBytes : rows > target.pageBytes ? 2 * kMinStreamedBytes : 6 * kMinStreamedBytes;
    return store.numElements * width >= least && isAligned(store.address.offset) && isAligned(sizeV) &&
           llvm::all_of(store.address.terms, [&](auto term) { return term.first == v || isAligned(term.second); });
  });
}

Value TransposeEmitter::atMost(PointEvaluator &at, Value index, int64_t most) {
  OpBuilder b = at.builder();
  return arith::MinUIOp::create(b, at.loc(), index, at.constant(most));
}

TransposeEmitter::Squares TransposeEmitter::readSquares(PointEvaluator &at, Value u0, Value v0, Value rowMask) {
  Squares squares;
  for (const Access *access : transposed) {
    SmallVector<Value> vectors;
    for (int64_t column = 0; column < lanes; ++column) {
      PointEvaluator point = at;
      point.enter(at.block());
      Value index = point.addConstant(v0, column);
      point.bindIndex(v, sizeV < lanes ? atMost(point, index, sizeV - 1) : index);
      point.bindIndex(u, u0);
      if (around >= 0)
        point.bindIndex(around, point.constant(0));
      point.setLanes(u, rowMask, rowMask ? point.constant(std::min(lanes, sizeU)) : Value());
      vectors.push_back(point.load(*access));
    }
    OpBuilder b = at.builder();
    transposeInRegisters(b, at.loc(), vectors);
    squares.push_back(vectors);
  }
  return squares;
}

/// Evaluates f and stores the results at a point with u and v bound, given the values of the transposed accesses there.
void TransposeEmitter::writeRow(PointEvaluator &point, ArrayRef<Value> vectors) {
  for (auto [access, vector] : llvm::zip(transposed, vectors))
    point.bindLoad(*access, vector);
  for (const Output &output : model.outputs) {
    if (!isStreamed) {
      point.store(output.store, point.evaluate(output.value));
      continue;
    }
    Value value = point.evaluateVector(output.value), to = point.address(output.store);
    OpBuilder b = point.builder();
    if (output.store.elementType.isInteger(1))
      value = arith::ExtUIOp::create(b, point.loc(), point.vectorOf(b.getI8Type()), value);
    auto type = cast<VectorType>(value.getType());
    vector::StoreOp::create(b, point.loc(), value, point.buffer(output.store.buffer), ValueRange{to}, /*nontemporal=*/true,
                            llvm::Align(lanes * type.getElementTypeBitWidth() / 8));
  }
}

void TransposeEmitter::emitSquare(PointEvaluator &at, Value u0, Value v0) {
  int64_t rows = std::min(lanes, sizeU);
  auto maskOf = [&](int64_t count) {
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), count, true);
    return at.number(DenseElementsAttr::get(at.vectorOf(IntegerType::get(kernel.getContext(), 1)), bits));
  };
  Squares squares = readSquares(at, u0, v0, rows < lanes ? maskOf(rows) : Value());
  for (int64_t row = 0; row < rows; ++row) {
    PointEvaluator point = at;
    point.enter(at.block());
    Value index = point.addConstant(u0, row);
    if (around >= 0) {
      OpBuilder b = point.builder();
      Value inner = point.constant(model.atomSizes[u]);
      point.bindIndex(around, arith::DivUIOp::create(b, point.loc(), index, inner));
      index = arith::RemUIOp::create(b, point.loc(), index, inner);
    }
    point.bindIndex(u, index);
    point.bindIndex(v, v0);
    point.setLanes(v, sizeV < lanes ? maskOf(sizeV) : Value(), sizeV < lanes ? point.constant(sizeV) : Value());
    SmallVector<Value> vectors;
    for (ArrayRef<Value> square : squares)
      vectors.push_back(square[row]);
    writeRow(point, vectors);
  }
}

void TransposeEmitter::emitDirect(PointEvaluator &at, Value begin, Value end) {
  // Two neighbouring squares use whole cache lines of x before its next rows displace them.
  int64_t squares = sizeU >= 2 * lanes ? 2 : 1, step = squares * lanes;
  scf::ForOp uLoop = openLoop(at, at.constant(0), at.constant(sizeU), step);
  at.enterLoop(uLoop);
  Value u0 = uLoop.getInductionVar();
  if (sizeU < lanes)
    u0 = at.constant(0);
  else if (sizeU % step)
    u0 = atMost(at, u0, sizeU - step);
  // The other parts of `around` and u are far apart in the result, often by powers of two: whole cache lines of a row are stored at once, before the
  // lines of other rows displace them.
  int64_t beside = around >= 0 && sizeV % (2 * lanes) == 0 ? 2 : 1;
  scf::ForOp vLoop = openLoop(at, begin, end, beside * lanes);
  at.enterLoop(vLoop);
  Value v0 = vLoop.getInductionVar();
  if (sizeV % lanes && sizeV > lanes)
    v0 = atMost(at, v0, sizeV - lanes);
  for (int64_t square = 0; square < squares; ++square)
    for (int64_t next = 0; next < beside; ++next)
      emitSquare(at, at.addConstant(u0, square * lanes), at.addConstant(v0, next * lanes));
}

void TransposeEmitter::emitJoined(PointEvaluator &at, Value begin, Value end) {
  for (int atom : rows) {
    scf::ForOp along = openLoop(at, at.constant(0), at.constant(model.atomSizes[atom]), 1);
    at.enterLoop(along);
    at.bindIndex(atom, along.getInductionVar());
  }
  scf::ForOp loop = openLoop(at, begin, end, lanes);
  at.enterLoop(loop);
  Value u0 = loop.getInductionVar();
  if (sizeU % lanes)
    u0 = atMost(at, u0, sizeU - lanes);
  if (groups)
    return permuteGroups(at, u0);
  SmallVector<SmallVector<Value>> vectors(model.outputs.size());
  SmallVector<Value> places;
  for (int64_t element = 0; element < sizeV; ++element) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(v, point.constant(element));
    point.bindIndex(u, u0);
    point.setLanes(u);
    for (auto [output, parts] : llvm::zip_equal(model.outputs, vectors)) {
      Value value = point.evaluateVector(output.value);
      OpBuilder b = point.builder();
      if (output.store.elementType.isInteger(1))
        value = arith::ExtUIOp::create(b, point.loc(), point.vectorOf(b.getI8Type()), value);
      parts.push_back(value);
      if (element == 0)
        places.push_back(point.address(output.store));
    }
  }
  OpBuilder b = at.builder();
  for (auto [output, parts, to] : llvm::zip_equal(model.outputs, vectors, places))
    storeInterleaved(b, at.loc(), parts, at.buffer(output.store.buffer), to);
}

void TransposeEmitter::permuteGroups(PointEvaluator &at, Value u0) {
  const Access &from = *groups, &store = model.outputs[0].store;
  bool isBackU = from.address.coefficient(u) < 0, isBackV = from.address.coefficient(v) < 0;
  auto addressOf = [&](const Access &access, Value uAt, int64_t vAt) {
    PointEvaluator point = at;
    point.enter(at.block());
    point.bindIndex(u, uAt);
    point.bindIndex(v, point.constant(vAt));
    return point.address(access);
  };
  Value first = addressOf(from, isBackU ? at.addConstant(u0, lanes - 1) : u0, isBackV ? sizeV - 1 : 0);
  Value to = addressOf(store, u0, 0);
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    for (int64_t element = 0; element < sizeV; ++element)
      order.push_back((isBackU ? lanes - 1 - lane : lane) * sizeV + (isBackV ? sizeV - 1 - element : element));
  OpBuilder b = at.builder();
  auto type = VectorType::get({lanes * sizeV}, from.elementType);
  auto bits = type.clone(b.getIntegerType(from.elementType.getIntOrFloatBitWidth()));
  Value vector = vector::LoadOp::create(b, at.loc(), type, at.buffer(from.buffer), ValueRange{first});
  // The shuffles are on integers, because LLVM splits shuffles of small floats.
  if (bits != type)
    vector = arith::BitcastOp::create(b, at.loc(), bits, vector);
  vector = vector::ShuffleOp::create(b, at.loc(), vector, vector, order);
  if (bits != type)
    vector = arith::BitcastOp::create(b, at.loc(), type, vector);
  vector::StoreOp::create(b, at.loc(), vector, at.buffer(store.buffer), ValueRange{to});
}

void TransposeEmitter::emitStaged(PointEvaluator &at, Value begin, Value end) {
  int64_t squares = sizeU >= 2 * lanes ? 2 : 1, step = squares * lanes;
  Scratch scratch(shell);
  SmallVector<Value> tiles; // [u][v]
  for (const Access *access : transposed)
    tiles.push_back(scratch.take(access->elementType, tile * pitch));
  scratchBytes = scratch.bytes();
  if (sizeV % lanes)
    begin = atMost(at, begin, sizeV - lanes);
  scf::ForOp tileLoop = openLoop(at, at.constant(0), at.constant(sizeU), tile);
  at.enterLoop(tileLoop);
  Value first = tileLoop.getInductionVar(), last = at.addConstant(first, tile);
  if (sizeU % step)
    first = atMost(at, first, sizeU - step);
  if (sizeU % tile)
    last = atMost(at, last, sizeU);
  auto place = [&](PointEvaluator &point, Value uAt, Value vAt) {
    OpBuilder b = point.builder();
    Value row = arith::SubIOp::create(b, point.loc(), uAt, first), column = arith::SubIOp::create(b, point.loc(), vAt, begin);
    return point.add(point.mulConstant(row, pitch), column);
  };

  scf::ForOp vLoop = openLoop(at, begin, end, lanes);
  at.enterLoop(vLoop);
  Value v0 = vLoop.getInductionVar();
  if (sizeV % lanes)
    v0 = atMost(at, v0, sizeV - lanes);
  scf::ForOp uLoop = openLoop(at, first, last, step);
  at.enterLoop(uLoop);
  Value u0 = uLoop.getInductionVar();
  if (sizeU % step)
    u0 = atMost(at, u0, sizeU - step);
  if (isStreamed)
    for (const Access *access : transposed)
      for (int64_t column = 0; column < lanes; ++column) {
        PointEvaluator point = at;
        point.enter(at.block());
        point.bindIndex(v, point.addConstant(v0, column));
        point.bindIndex(u, point.addConstant(u0, tile));
        OpBuilder b = point.builder();
        memref::PrefetchOp::create(b, point.loc(), point.buffer(access->buffer), ValueRange{point.address(*access)}, /*isWrite=*/false,
                                   /*localityHint=*/3, /*isDataCache=*/true);
      }
  for (int64_t square = 0; square < squares; ++square) {
    Value from = at.addConstant(u0, square * lanes);
    Squares read = readSquares(at, from, v0, {});
    for (auto [vectors, memref] : llvm::zip(read, tiles)) {
      Value to = place(at, from, v0);
      for (auto [row, vector] : llvm::enumerate(vectors)) {
        Value where = at.addConstant(to, row * pitch);
        OpBuilder b = at.builder();
        Value bytes = vector;
        if (getElementTypeOrSelf(bytes.getType()).isInteger(1))
          bytes = arith::ExtUIOp::create(b, at.loc(), at.vectorOf(b.getI8Type()), bytes);
        vector::StoreOp::create(b, at.loc(), bytes, memref, ValueRange{where});
      }
    }
  }
  at.leave();
  at.leave();

  scf::ForOp rowLoop = openLoop(at, first, last, 1);
  at.enterLoop(rowLoop);
  at.bindIndex(u, rowLoop.getInductionVar());
  int64_t beside = sizeV % (2 * lanes) == 0 ? 2 : 1;
  scf::ForOp pieceLoop = openLoop(at, begin, end, beside * lanes);
  at.enterLoop(pieceLoop);
  for (int64_t next = 0; next < beside; ++next) {
    PointEvaluator point = at;
    point.enter(at.block());
    Value along = point.addConstant(pieceLoop.getInductionVar(), next * lanes);
    if (sizeV % lanes)
      along = atMost(point, along, sizeV - lanes);
    point.bindIndex(v, along);
    point.setLanes(v);
    Value from = place(point, rowLoop.getInductionVar(), along);
    SmallVector<Value> vectors;
    for (auto [access, memref] : llvm::zip(transposed, tiles)) {
      OpBuilder b = point.builder();
      Type stored = cast<MemRefType>(memref.getType()).getElementType();
      Value vector = vector::LoadOp::create(b, point.loc(), point.vectorOf(stored), memref, ValueRange{from});
      if (access->elementType.isInteger(1))
        vector = arith::CmpIOp::create(b, point.loc(), arith::CmpIPredicate::ne, vector,
                                       point.number(cast<TypedAttr>(b.getZeroAttr(point.vectorOf(stored)))));
      vectors.push_back(vector);
    }
    writeRow(point, vectors);
  }
}

bool TransposeEmitter::emit() {
  shell = createShell(kernel, model);
  PointEvaluator at(model, target, shell, lanes);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  Value iteration = loop.getInductionVar(), piece = at.constant(0);
  if (blocks > 1) {
    Value divisor = at.constant(blocks);
    OpBuilder b = at.builder();
    piece = arith::RemUIOp::create(b, at.loc(), iteration, divisor);
    iteration = arith::DivUIOp::create(b, at.loc(), iteration, divisor);
  }
  bindLinear(at, iteration, outer);
  Value begin = at.mulConstant(piece, block), end = at.addConstant(begin, block);
  int64_t size = isJoined ? sizeU : sizeV;
  if (size % block)
    end = atMost(at, end, size);
  if (isJoined)
    emitJoined(at, begin, end);
  else if (isStaged)
    emitStaged(at, begin, end);
  else
    emitDirect(at, begin, end);
  if (isStreamed) {
    // Streaming stores are not ordered with the stores that tell other threads of their completion.
    OpBuilder b(loop);
    b.setInsertionPointAfter(loop);
    LLVM::FenceOp::create(b, at.loc(), LLVM::AtomicOrdering::seq_cst, StringRef());
  }
  return !at.broken();
}

FailureOr<EmittedKernel> TransposeEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "movement", why);
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "movement", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = blocks;
  out->scratchBytesPerTask = scratchBytes;
  for (int atom : outer)
    out->rangeEnd *= model.atomSizes[atom];
  out->rows = rowRange(model, outer, out->rangeEnd);
  double operations = model.totalOperations() / lanes;
  out->nanosPerIteration =
      std::max(model.totalBytes() / target.movedBytesPerNanosecond, operations / (1.5 * target.gigahertz)) / double(out->rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitDataMovement(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = modelFor(fn, "movement");
  if (failed(model))
    return failure();
  return TransposeEmitter(fn, *model, target).run();
}

} // namespace millrace::lowering
