// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowBlocks.cpp - Emit sums of products that share an operand ---------===//
// Input:   depthwise convolution of x: 8x18x18x480 by w: 5x5x480, lanes along the channels.
// Output:  an iteration computes several neighbours along a row of the image, for which each vector of w is loaded once, and each element of the row,
//          too: x[q + r] is loaded once for all neighbours q and up to seven elements r of the window's last dimension. Iterations that read the same
//          rows are consecutive, so that a few channels of these rows stay in the cache; other channels come later.
//          Each sum still adds its products in the order of the window.
// Leaves alone: kernels with several reductions, reductions other than sums of products, products both operands of which change along every index but
//          the lanes, or without elements that several sums read.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/RowEmitter.h"
#include "passes/layout/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {

/// Returns the kernel's only reduction, a sum of products, if no other operation reads its elements.
const Node *RowEmitter::onlyReduction() const {
  const Node *found = nullptr;
  for (const RowGroup &group : plan_.groups) {
    if (group.inner && (group.reductions.size() != 1 || !group.outputs.empty()))
      return nullptr;
    for (const Node *node : group.reductions) {
      if (found)
        return nullptr;
      found = node;
    }
  }
  return found;
}

/// Chooses the innermost atom, preferably one with many indices, along which one operand is invariant.
bool RowEmitter::chooseBlock(AtomSet reduced) {
  // Atoms with at least so many indices are equally good to block along. Unit: indices of an atom. Source: judgement, not measured alone; commit
  // 58a7193 has the figures of the whole change.
  constexpr int64_t kMaxComparedIndices = 4;
  const Node *node = onlyReduction();
  SumOfProducts products;
  std::string why;
  if (!node || !target.fma || failed(matchSumOfProducts(*node, products, why)))
    return false;
  Type type = products.combine->getResult(0).getType();
  if (type != products.accType || !(type.isF32() || type.isF64()))
    return false;
  AtomSet a = model.depends(*products.a.operand), b = model.depends(*products.b.operand), only = (a ^ b) & plan_.parallel;
  for (int atom : outermostFirst(model, only))
    if (int64_t size = std::min(model.atomSizes[atom], kMaxComparedIndices);
        size > 1 && (plan_.block < 0 || size >= std::min(model.atomSizes[plan_.block], kMaxComparedIndices)))
      plan_.block = atom;
  if (plan_.block < 0)
    return false;
  // Elements that are read several times for the indices of an atom should still be in the cache. Contractions that read elements once, except for
  // the shared operand, wait for memory, which is fastest for one row after the other.
  model.forEachAccess([&](const Access &access, bool isStore) {
    for (int outer : members(access.address.atoms() & plan_.parallel))
      for (int inner : members(access.address.atoms() & reduced))
        if (std::abs(access.address.coefficient(inner)) * model.atomSizes[inner] >= 2 * std::abs(access.address.coefficient(outer)))
          plan_.behindChunks |= atomBit(outer);
  });
  if (!plan_.behindChunks) {
    plan_.block = -1;
    return false;
  }
  plan_.behindChunks |= atomBit(plan_.block);
  chooseWindow(a & atomBit(plan_.block) ? products.a : products.b, reduced);
  chooseBlockSizes();
  return true;
}

/// Chooses a reduced atom along which `moving` reads the elements of a later index of the block.
void RowEmitter::chooseWindow(const Factor &moving, AtomSet reduced) {
  if (moving.operand->kind != Operand::Buffer)
    return;
  const Access &access = moving.operand->access;
  int64_t along = access.address.coefficient(plan_.block);
  for (int atom : outermostFirst(model, reduced & access.address.atoms())) {
    int64_t step = along / access.address.coefficient(atom), size = model.atomSizes[atom];
    auto isSame = [&](const LinearExpr &index) { return index.coefficient(plan_.block) == step * index.coefficient(atom); };
    if (step > 0 && step < size && isSame(access.address) &&
        llvm::all_of(access.guards, [&](const Guard &guard) { return isSame(guard.index); })) {
      plan_.window = atom;
      plan_.windowStep = step;
    }
  }
}

/// Returns the number of window elements whose weights are kept in registers together: all, or equal pieces that fit.
int64_t RowEmitter::windowPiece() const {
  int64_t size = model.atomSizes[plan_.window];
  return llvm::divideCeil(size, llvm::divideCeil(size, layout::kMaxWindowInRegisters));
}

/// Chooses the vectors of the lane atom and the indices of the block: as many sums as fill the multipliers and leave registers for the window. An
/// incomplete block is computed one index at a time.
void RowEmitter::chooseBlockSizes() {
  int64_t vectors = llvm::divideCeil(model.atomSizes[plan_.lane], plan_.width), size = model.atomSizes[plan_.block];
  // More sums of windows than hide the latency of a multiply-add are only more code to compile.
  int64_t window = plan_.window < 0 ? 1 : windowPiece(), most = plan_.window < 0 ? target.vectorRegisters / 2 : target.sumsInFlight();
  // The cost of all vectors, in multiply-adds of one vector: loads of the other operand and of addresses, once for each block; cache lines of which
  // few neighbours are read.
  auto cost = [&](int64_t strips, int64_t rows) {
    double beside = 1.0 / double(strips), block = double(rows) * (1 + 0.5 * beside) + 1 + beside, alone = 2 + beside;
    return double(vectors) * (double(size / rows) * block + double(size % rows) * alone);
  };
  double best = 0;
  for (int64_t strips = 1; strips <= std::min<int64_t>(vectors, 4); ++strips)
    for (int64_t rows = 1; rows <= size && vectors % strips == 0; ++rows) {
      int64_t sums = strips * rows;
      if (rows > 1 && (sums > most || sums + strips * window + 2 > target.vectorRegisters))
        continue;
      double here = cost(strips, rows);
      if (best == 0 || here < best) {
        best = here;
        plan_.strips = strips;
        plan_.blockRows = rows;
      }
    }
  plan_.chunk = plan_.strips * plan_.width;
  plan_.chunks = llvm::divideCeil(model.atomSizes[plan_.lane], plan_.chunk);
}

/// Returns the range's atoms, outermost first; those that vary faster than the lane atom's pieces come after the others, the block last.
SmallVector<int> RowEmitter::rangeAtoms() const {
  SmallVector<int> atoms = outermostFirst(model, plan_.parallel & ~plan_.behindChunks);
  llvm::append_range(atoms, outermostFirst(model, plan_.behindChunks & ~atomBit(plan_.block)));
  llvm::erase_if(atoms, [&](int atom) { return llvm::is_contained(plan_.rows, atom); });
  if (plan_.block >= 0)
    atoms.push_back(plan_.block);
  return atoms;
}

/// Appends the vectors of a piece of the lane atom at each of `rows` indices of the block. The last piece's last lanes may not exist: all pieces use
/// the same code with a mask.
void RowEmitter::blockPoints(PointEvaluator &first, Value base, int64_t rows, Points &points) {
  int64_t rest = model.atomSizes[plan_.lane] % plan_.width;
  Value mask, count;
  if (rest) {
    OpBuilder b = first.builder();
    Value isLast = arith::CmpIOp::create(b, first.loc(), arith::CmpIPredicate::eq, base, first.constant(plan_.chunk * (plan_.chunks - 1)));
    VectorType flags = first.vectorOf(b.getI1Type());
    mask = arith::SelectOp::create(b, first.loc(), isLast, maskOf(first, rest), first.number(DenseElementsAttr::get(flags, true)));
    count = arith::SelectOp::create(b, first.loc(), isLast, first.constant(rest), first.constant(plan_.width));
  }
  for (int64_t row = 0; row < rows; ++row) {
    PointEvaluator at = first;
    at.enter(first.block());
    at.bindIndex(plan_.block, at.addConstant(first.index(plan_.block), row));
    columnPoints(at, base, plan_.chunk, points);
    if (rest)
      points.back().setLanes(plan_.lane, mask, count);
  }
}

/// Adds all products along the window, a piece of it at a time.
SmallVector<Value> RowEmitter::slideAll(Points &points, const Node &node, SmallVector<Value> carried) {
  int64_t size = model.atomSizes[plan_.window], piece = windowPiece(), full = size / piece * piece;
  PointEvaluator &first = points[0];
  if (full == piece) {
    carried = slide(points, node, first.constant(0), piece, carried);
  } else {
    scf::ForOp loop = openLoop(first, first.constant(0), first.constant(full), piece, carried);
    for (PointEvaluator &point : points)
      point.enterLoop(loop);
    SmallVector<Value> next = slide(points, node, loop.getInductionVar(), piece, SmallVector<Value>(loop.getRegionIterArgs()));
    yieldFrom(loop, next);
    for (PointEvaluator &point : points)
      point.leave();
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return full == size ? carried : slide(points, node, first.constant(full), size - full, carried);
}

/// Adds the products of `size` elements of the window from `begin` on; each element of the moving operand is loaded once.
SmallVector<Value> RowEmitter::slide(Points &points, const Node &node, Value begin, int64_t size, SmallVector<Value> carried) {
  SumOfProducts products;
  std::string unused;
  [[maybe_unused]] bool isSum = succeeded(matchSumOfProducts(node, products, unused));
  assert(isSum && "chosen by chooseBlock()");
  bool movesA = model.depends(*products.a.operand) & atomBit(plan_.block);
  const Factor &moving = movesA ? products.a : products.b, &shared = movesA ? products.b : products.a;
  int64_t strips = plan_.strips, rows = int64_t(points.size()) / strips;
  auto valueAt = [&](int64_t strip, const Factor &factor, int64_t index) {
    PointEvaluator at = points[strip];
    at.enter(at.block());
    at.bindIndex(plan_.window, matchPattern(begin, m_Zero()) ? at.constant(index) : at.addConstant(begin, index));
    return at.broadcastTo(factorAt(at, products, factor), carried[strip].getType());
  };
  SmallVector<Value> window(strips * size);
  for (int64_t element = 0; element < (rows - 1) * plan_.windowStep + size; ++element)
    for (int64_t strip = 0; strip < strips; ++strip) {
      Value moved;
      for (int64_t row = 0; row < rows; ++row) {
        int64_t index = element - row * plan_.windowStep;
        if (index < 0 || index >= size)
          continue;
        Value &other = window[strip * size + index];
        if (!other)
          other = valueAt(strip, shared, index);
        if (!moved)
          moved = valueAt(strip, moving, element);
        Value &sum = carried[row * strips + strip];
        sum = accumulateProduct(points[row * strips + strip], moved, other, sum, target.fma);
      }
    }
  return carried;
}

/// Emits a piece of the lane atom at the indices of one block, which has fewer indices at the end of the atom.
void RowEmitter::emitBlocks(PointEvaluator &at, Value begin) {
  int64_t size = model.atomSizes[plan_.block], rest = size % plan_.blockRows;
  Value first = at.index(plan_.block);
  auto rows = [&](int64_t count) {
    Points points;
    blockPoints(at, begin, count, points);
    emitGroups(points);
  };
  if (!rest)
    return rows(plan_.blockRows);
  auto isWhole = [&](arith::CmpIPredicate order) {
    OpBuilder b = at.builder();
    return arith::CmpIOp::create(b, at.loc(), order, first, at.constant(size - rest));
  };
  inBranch(at, isWhole(arith::CmpIPredicate::ult), [&] { rows(plan_.blockRows); });
  inBranch(at, isWhole(arith::CmpIPredicate::uge), [&] {
    scf::ForOp along = openLoop(at, at.constant(0), at.constant(rest), 1);
    at.enterLoop(along);
    at.bindIndex(plan_.block, at.add(first, along.getInductionVar()));
    rows(1);
    at.leave();
  });
}

} // namespace millrace::lowering
