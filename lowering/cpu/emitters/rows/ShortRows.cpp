// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShortRows.cpp - Emit short rows with one row per lane --------------===//
// Input:   softmax(x: 100000x4): max over the row, exp(x - max), sum, division.
// Output:  an iteration computes as many rows as there are lanes: shuffles turn their elements into one vector per column, in scratch, from where the
//          sweeps of column mode read them; results are shuffled back. Nothing is combined across lanes, and no lane is idle.
// Leaves alone rows longer than three quarters of a vector, elements below 32 bits, reads at computed indices and out of bounds.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/RowEmitter.h"
#include "lowering/cpu/emitters/rows/VectorStride.h"
#include "lowering/cpu/emitters/rows/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns the shuffles that interleave n vectors: n for each factor of two, n - 1 per vector for an odd rest.
int64_t interleavingShuffles(int64_t n) {
  if (n == 1)
    return 0;
  return n % 2 ? n * (n - 1) : n + 2 * interleavingShuffles(n / 2);
}

int64_t transposingShuffles(int64_t lanes) { return lanes * int64_t(llvm::Log2_64(lanes)); }

} // namespace

/// Returns the index whose elements are the lanes, if `element` is the one along the rows; -1 if there is none.
int RowEmitter::rowsAsLanes(AtomSet parallel, AtomSet reduced) const {
  AtomSet inner = model.allAtoms & ~parallel;
  if (inner != reduced || llvm::popcount(inner) != 1 || model.hasComputedReads() ||
      !llvm::all_of(model.nodes, [&](const Node &node) { return !node.reduction || node.reduced() == inner; }))
    return -1;
  int element = members(inner).front();
  if (4 * model.atomSizes[element] > 3 * plan_.width) // with a vector per row, few lanes are idle and no shuffles are needed
    return -1;
  int best = -1;
  for (int atom : members(parallel)) {
    if (model.atomSizes[atom] < 2 * plan_.width)
      continue;
    bool isPossible = true;
    model.forEachAccess([&](const Access &access, bool isStore) {
      int64_t step = access.address.coefficient(atom), along = access.address.coefficient(element);
      bool isRow = along == 1 && step > 1 && storageType(access.elementType).getIntOrFloatBitWidth() >= 32;
      bool isSame = !isStore && step == 0;
      isPossible &= access.guards.empty() && (isRow || isSame || step == 1);
    });
    if (isPossible && (best < 0 || model.atomSizes[atom] > model.atomSizes[best]))
      best = atom;
  }
  return best;
}

/// Calls `body` for every element of `count` rows, one at a time, with its place in the buffer and in the tile; rows beyond `rows` repeat the last
/// one.
void RowEmitter::eachElement(const PointEvaluator &at, const Access &access, const ScratchRow &tile, int64_t count, int64_t rows,
                             llvm::function_ref<void(OpBuilder &, Value, Value, Value)> body) {
  PointEvaluator point = at;
  scf::ForOp over = openLoop(point, point.constant(0), point.constant(count), 1);
  point.enterLoop(over);
  Value row = over.getInductionVar(), first = point.index(plan_.lane);
  if (count > rows) {
    OpBuilder b = point.builder();
    row = arith::MinUIOp::create(b, at.loc(), row, point.constant(rows - 1));
  }
  point.bindIndex(plan_.lane, point.add(first, row));
  scf::ForOp along = openLoop(point, point.constant(0), point.constant(model.atomSizes[plan_.element]), 1);
  point.enterLoop(along);
  point.bindIndex(plan_.element, along.getInductionVar());
  Value where = point.address(access), place = point.add(point.linear(tile.address), over.getInductionVar());
  OpBuilder b = point.builder();
  body(b, point.buffer(access.buffer), where, place);
  point.leave();
  point.leave();
}

/// Loads the elements of all rows in the lanes of `at`, of every operand that is read by rows, one vector per column.
void RowEmitter::readShortRows(const PointEvaluator &at, int64_t lanes) {
  int64_t size = model.atomSizes[plan_.element];
  auto pointAt = [&](int64_t row, int64_t place) {
    PointEvaluator point = at;
    point.enter(at.block());
    if (row)
      point.bindIndex(plan_.lane, point.addConstant(point.index(plan_.lane), row));
    point.bindIndex(plan_.element, point.constant(place));
    return point;
  };
  shortReads.clear();
  model.forEachAccess([&](const Access &access, bool isStore) {
    int64_t step = access.address.coefficient(plan_.lane);
    if (isStore || access.address.coefficient(plan_.element) != 1 || step <= 1)
      return;
    auto same = llvm::find_if(shortReads, [&](auto &known) {
      return known.first->buffer == access.buffer && known.first->address.offset == access.address.offset && known.first->address.terms == access.address.terms;
    });
    if (same != shortReads.end()) {
      ScratchRow tile = same->second;
      shortReads.push_back({&access, tile});
      return;
    }
    ScratchRow tile = shortTile(access);
    shortReads.push_back({&access, tile});
    if (lanes < plan_.width) { // Lanes beyond the last row repeat it, so that no lane divides by garbage.
      eachElement(at, access, tile, plan_.width, lanes, [&](OpBuilder &b, Value buffer, Value where, Value place) {
        memref::StoreOp::create(b, at.loc(), memref::LoadOp::create(b, at.loc(), buffer, where), tile.memref, place);
      });
      return;
    }
    SmallVector<Value> vectors;
    if (hasShuffles(at.vectorOf(storageType(access.elementType)), step)) {
      for (int64_t place = 0; place < size; ++place)
        vectors.push_back(pointAt(0, place).load(access));
    } else {
      for (int64_t row = 0; row < plan_.width; ++row) {
        PointEvaluator point = pointAt(row, 0);
        point.setLanes(plan_.element, maskOf(point, size), size < plan_.width ? point.constant(size) : Value());
        vectors.push_back(point.load(access));
      }
      OpBuilder b = at.builder();
      transposeInRegisters(b, at.loc(), vectors);
    }
    for (int64_t place = 0; place < size; ++place)
      pointAt(0, place).storeScratch(tile, vectors[place]);
  });
}

/// Returns the scratch where the elements of some rows are stored by columns, one vector of rows each.
ScratchRow RowEmitter::shortTile(const Access &access) {
  Value &memory = shortTiles[&access];
  if (!memory)
    memory = scratch->take(storageType(access.elementType), plan_.width * model.atomSizes[plan_.element]);
  ScratchRow tile;
  tile.memref = memory;
  tile.address.add(plan_.element, plan_.width);
  tile.alongLanes = true;
  return tile;
}

/// Returns true if the result consists of rows.
bool RowEmitter::isShortRow(const Output &output) const {
  return plan_.element >= 0 && output.store.address.coefficient(plan_.element) == 1 && output.store.address.coefficient(plan_.lane) > 1;
}

void RowEmitter::writeShortRows(const PointEvaluator &at, int64_t lanes) {
  int64_t size = model.atomSizes[plan_.element];
  for (const Output &output : model.outputs) {
    if (!isShortRow(output))
      continue;
    const Access &access = output.store;
    ScratchRow tile = shortTile(access);
    if (lanes < plan_.width) {
      eachElement(at, access, tile, lanes, lanes, [&](OpBuilder &b, Value buffer, Value where, Value place) {
        memref::StoreOp::create(b, at.loc(), memref::LoadOp::create(b, at.loc(), tile.memref, place), buffer, where);
      });
      continue;
    }
    SmallVector<Value> vectors;
    for (int64_t place = 0; place < size; ++place) {
      PointEvaluator point = at;
      point.enter(at.block());
      point.bindIndex(plan_.element, point.constant(place));
      vectors.push_back(point.loadScratch(tile, access.elementType));
    }
    PointEvaluator first = at;
    first.enter(at.block());
    first.bindIndex(plan_.element, first.constant(0));
    if (access.address.coefficient(plan_.lane) == size && interleavingShuffles(size) <= transposingShuffles(plan_.width)) {
      Value to = first.address(access);
      OpBuilder b = first.builder();
      storeInterleaved(b, at.loc(), vectors, at.buffer(access.buffer), to);
      continue;
    }
    vectors.resize(plan_.width, vectors.front());
    OpBuilder b = at.builder();
    transposeInRegisters(b, at.loc(), vectors);
    for (int64_t row = 0; row < plan_.width; ++row) {
      PointEvaluator point = first;
      point.enter(at.block());
      point.bindIndex(plan_.lane, point.addConstant(point.index(plan_.lane), row));
      point.setLanes(plan_.element, maskOf(point, size), size < plan_.width ? point.constant(size) : Value());
      point.store(access, vectors[row]);
    }
  }
}

} // namespace millrace::lowering
