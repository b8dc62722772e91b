// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowScatterRows.cpp - Emit gradients of max pooling, columns last ===//
// Input:   a kernel that is one select_and_scatter (WindowKernel.h) with a window along the last dimension.
// Output:  an iteration is one image: the dimensions with a window at one position of the others. It fills its part of the result; then for each row
//          of the source it copies the rows of the operand that the windows cover to scratch, finds, with neighbouring windows in the lanes, which
//          element of each window is selected, and adds the sources to those one by one.
//          Rows out of bounds are skipped (or replaced, if there is a padding value) by branches, columns out of bounds by masks, in the vectors at
//          both ends only.
// Leaves alone windows of many elements, large strides, dynamic sizes, images that are not contiguous.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/VectorStride.h"
#include "lowering/cpu/emitters/windows/WindowEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

class WindowScatterRowsEmitter : WindowScatterBase {
public:
  using WindowScatterBase::WindowScatterBase;
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void emit();
  void fill(OpBuilder &b);
  void emitRow(OpBuilder &b, ArrayRef<Value> at);
  void choose(OpBuilder &b, Value first, std::optional<int64_t> known);
  void scatter(OpBuilder &b, Value to, Value from);

  /// One row of the window.
  struct Row {
    int64_t offset = 0;  ///< from the window's first row, in elements of the operand
    Value address;       ///< in the operand
    Value exists;        ///< null: always
    Value memory;        ///< the copy in scratch
  };
  struct Choice {
    Value best, chosen;
    bool isFound = false; ///< an element is selected in every lane
  };
  Choice candidate(OpBuilder &b, Choice before, const Row &row, int64_t column, Value first, std::optional<int64_t> known);
  Choice better(OpBuilder &b, Choice before, Value x, Value number, Value mask);
  Choice betterBeyond(OpBuilder &b, Choice before) { return better(b, before, splat(b, what.beyond), position(b, -1), {}); }

  SmallVector<int64_t> windowed; ///< leading dimensions from the first one with a window on
  int64_t last = 0, first = 0, images = 1, imageSize = 1, sourceSize = 1;
  SmallVector<Value> copies; ///< rows of the operand
  Value places;              ///< offset of the selected element from each window's first one; -1: none
  SmallVector<Row> rows;
  Value base, sourceBase;
};

LogicalResult WindowScatterRowsEmitter::match() {
  if (!describe())
    return failure();
  last = int64_t(shape.size()) - 1;
  while (first <= last && isPlain(first))
    images *= shape[first++];
  if (first > last || isPlain(last)) {
    why = "no window along the last dimension";
    return failure();
  }
  if (what.strides[last] > 4) {
    why = "wide steps";
    return failure();
  }
  // Longer rows do not stay in the level 1 cache.
  const int64_t maxRowElements = target.residentBytes() / int64_t(sizeof(float));
  if (shape[last] > maxRowElements || sourceShape[last] > maxRowElements) {
    why = "long rows";
    return failure();
  }
  for (int64_t dim = first; dim <= last; ++dim) {
    imageSize *= shape[dim];
    sourceSize *= sourceShape[dim];
    if (dim < last)
      windowed.push_back(dim);
  }
  if (imageSize > (int64_t(1) << 30)) {
    why = "images of more elements than positions have numbers";
    return failure();
  }
  return success();
}

void WindowScatterRowsEmitter::fill(OpBuilder &b) {
  Value memory = shell.getArgument(2);
  int64_t whole = imageSize / lanes * lanes;
  if (whole) {
    auto steps = loop(b, constant(0), whole, lanes);
    OpBuilder in(steps.getBody()->getTerminator());
    Value at = steps.getInductionVar();
    vector::StoreOp::create(in, loc, splat(in, what.init), memory, ValueRange{add(in, base, at)});
  }
  if (whole < imageSize) {
    auto steps = loop(b, constant(whole), imageSize, 1);
    OpBuilder in(steps.getBody()->getTerminator());
    Value at = steps.getInductionVar();
    Value number = arith::ConstantOp::create(in, loc, what.init);
    memref::StoreOp::create(in, loc, number, memory, ValueRange{add(in, base, at)});
  }
}

/// Returns the selection after one more element of the window. `first` is the first lane's window; `known` its index if that decides which lanes'
/// elements exist.
WindowScatterRowsEmitter::Choice WindowScatterRowsEmitter::candidate(OpBuilder &b, Choice before, const Row &row, int64_t column, Value first,
                                                                     std::optional<int64_t> known) {
  int64_t stride = what.strides[last], low = what.low[last];
  Value mask;
  if (known) {
    SmallVector<bool> exists;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      // Windows past the last one are never read.
      int64_t window = std::min(*known + lane, sourceShape[last] - 1), at = window * stride + column - low;
      exists.push_back(at >= 0 && at < shape[last]);
    }
    if (!llvm::is_contained(exists, true))
      return what.beyond ? betterBeyond(b, before) : before;
    if (llvm::is_contained(exists, false))
      mask = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), exists));
  }
  Value at = add(b, times(b, first, stride), constant(column + std::max<int64_t>(low, 0) - low));
  Value x = loadStrided(b, loc, vectorType, row.memory, at, stride, Beyond::Exists);
  Value number = position(b, row.offset + column);
  if (!mask || !what.beyond)
    return better(b, before, x, number, mask);
  x = arith::SelectOp::create(b, loc, mask, x, splat(b, what.beyond));
  return better(b, before, x, arith::SelectOp::create(b, loc, mask, number, position(b, -1)), {});
}

/// Returns the choice between the selected and one more element, in the lanes of `mask` only. The index of an element out of bounds is -1.
WindowScatterRowsEmitter::Choice WindowScatterRowsEmitter::better(OpBuilder &b, Choice before, Value x, Value number, Value mask) {
  if (!before.chosen && !mask)
    return {x, number, true};
  if (!before.chosen)
    return {x, arith::SelectOp::create(b, loc, mask, number, position(b, -1)), false};
  Value take = isBetter(b, before.best, before.chosen, before.isFound, x);
  if (mask)
    take = arith::AndIOp::create(b, loc, take, mask);
  return {arith::SelectOp::create(b, loc, take, x, before.best), arith::SelectOp::create(b, loc, take, number, before.chosen),
          before.isFound || !mask};
}

/// Returns the elements that the windows [first, first + lanes) select.
void WindowScatterRowsEmitter::choose(OpBuilder &b, Value first, std::optional<int64_t> known) {
  Choice now;
  for (const Row &row : rows) {
    auto along = [&](OpBuilder &in, Choice choice) {
      for (int64_t column = 0; column < what.window[last]; ++column)
        choice = candidate(in, choice, row, column, first, known);
      return choice;
    };
    if (!row.exists) {
      now = along(b, now);
      continue;
    }
    Choice before = now;
    if (!before.chosen && !what.beyond)
      before = {zeros(b), position(b, -1), false};
    auto branch = scf::IfOp::create(b, loc, TypeRange{vectorType, indexType}, row.exists, /*withElseRegion=*/true);
    OpBuilder inside = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    // Where no element was selected before, the first element of this row is, whatever its value.
    Choice after = along(inside, now);
    if (!after.chosen)
      after = before;
    if (what.beyond) {
      for (int64_t column = 0; column < what.window[last]; ++column)
        before = betterBeyond(otherwise, before);
    }
    scf::YieldOp::create(inside, loc, ValueRange{after.best, after.chosen});
    scf::YieldOp::create(otherwise, loc, ValueRange{before.best, before.chosen});
    now = {branch.getResult(0), branch.getResult(1), before.isFound};
  }
  if (now.chosen)
    vector::StoreOp::create(b, loc, now.chosen, places, ValueRange{first});
  else
    vector::StoreOp::create(b, loc, position(b, -1), places, ValueRange{first});
}

/// Adds the sources of a row, from `from` on, to the selected elements; the first window starts at `to`.
void WindowScatterRowsEmitter::scatter(OpBuilder &b, Value to, Value from) {
  bool isAlwaysAny = !reachesOut(last) && llvm::none_of(windowed, [&](int64_t dim) { return reachesOut(dim); });
  auto one = [&](OpBuilder &at, Value window) {
    Value place = memref::LoadOp::create(at, loc, places, ValueRange{window});
    OpBuilder in = at;
    if (!isAlwaysAny) {
      Value zero = arith::ConstantOp::create(at, loc, at.getIntegerAttr(indexType.getElementType(), 0));
      Value isAny = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::sge, place, zero);
      in = scf::IfOp::create(at, loc, isAny, /*withElseRegion=*/false).getThenBodyBuilder();
    }
    Value offset = arith::IndexCastOp::create(in, loc, in.getIndexType(), place);
    Value address = add(in, add(in, to, times(in, window, what.strides[last])), offset);
    Value source = memref::LoadOp::create(in, loc, shell.getArgument(1), ValueRange{add(in, from, window)});
    Value old = memref::LoadOp::create(in, loc, shell.getArgument(2), ValueRange{address});
    memref::StoreOp::create(in, loc, sum(in, old, source), shell.getArgument(2), ValueRange{address});
  };
  constexpr int64_t unroll = 4;
  int64_t size = sourceShape[last], whole = size / unroll * unroll;
  if (whole) {
    auto steps = loop(b, constant(0), whole, unroll);
    OpBuilder in(steps.getBody()->getTerminator());
    for (int64_t i = 0; i < unroll; ++i)
      one(in, add(in, steps.getInductionVar(), constant(i)));
  }
  for (int64_t i = whole; i < size; ++i)
    one(b, constant(i));
}

/// Emits one row of the source, at `at` along the other dimensions of an image.
void WindowScatterRowsEmitter::emitRow(OpBuilder &b, ArrayRef<Value> at) {
  Value to = base, from = sourceBase;
  rows.assign(1, Row());
  for (auto [index, dim] : llvm::zip(at, windowed)) {
    from = add(b, from, times(b, index, sourceStrides[dim]));
    Value start = sub(b, times(b, index, what.strides[dim]), constant(what.low[dim]));
    to = add(b, to, times(b, start, strides[dim]));
    SmallVector<Row> next;
    for (const Row &outer : rows)
      for (int64_t offset = 0; offset < what.window[dim]; ++offset) {
        Row row = outer;
        row.offset += offset * strides[dim];
        if (reachesOut(dim)) { // Unsigned: positions before the first are large.
          Value place = add(b, start, constant(offset));
          Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, constant(shape[dim]));
          row.exists = row.exists ? arith::AndIOp::create(b, loc, row.exists, exists).getResult() : exists;
        }
        next.push_back(row);
      }
    rows = next;
  }
  int64_t front = std::max<int64_t>(what.low[last], 0);
  for (auto [row, memory] : llvm::zip(rows, copies)) {
    row.memory = memory;
    OpBuilder in = row.exists ? scf::IfOp::create(b, loc, row.exists, /*withElseRegion=*/false).getThenBodyBuilder() : b;
    Value address = add(in, to, constant(row.offset));
    int64_t whole = shape[last] / lanes * lanes;
    auto copy = [&](OpBuilder &here, Value column) {
      Value x = vector::LoadOp::create(here, loc, vectorType, shell.getArgument(0), ValueRange{add(here, address, column)});
      vector::StoreOp::create(here, loc, x, row.memory, ValueRange{add(here, column, constant(front))});
    };
    if (whole) {
      auto steps = loop(in, constant(0), whole, lanes);
      OpBuilder inner(steps.getBody()->getTerminator());
      copy(inner, steps.getInductionVar());
    }
    if (whole && whole < shape[last])
      copy(in, constant(shape[last] - lanes));
    for (int64_t column = whole; !whole && column < shape[last]; ++column) {
      Value x = memref::LoadOp::create(in, loc, shell.getArgument(0), ValueRange{add(in, address, constant(column))});
      memref::StoreOp::create(in, loc, x, row.memory, ValueRange{constant(column + front)});
    }
  }
  // Vectors [inner, outer) need no masks.
  int64_t stride = what.strides[last], low = what.low[last], vectors = llvm::divideCeil(sourceShape[last], lanes);
  int64_t inner = std::min<int64_t>(vectors, llvm::divideCeil(std::max<int64_t>(low, 0), stride * lanes)), outer = vectors;
  while (outer > inner &&
         (std::min(outer * lanes, sourceShape[last]) - 1) * stride + what.window[last] - 1 - low >= shape[last])
    --outer;
  for (int64_t vector = 0; vector < inner; ++vector)
    choose(b, constant(vector * lanes), vector * lanes);
  if (inner < outer) {
    auto steps = loop(b, constant(inner * lanes), outer * lanes, lanes);
    OpBuilder in(steps.getBody()->getTerminator());
    choose(in, steps.getInductionVar(), std::nullopt);
  }
  for (int64_t vector = outer; vector < vectors; ++vector)
    choose(b, constant(vector * lanes), vector * lanes);
  scatter(b, add(b, to, constant(-low)), from);
}

void WindowScatterRowsEmitter::emit() {
  makeShell();
  Scratch scratch(shell);
  int64_t rowCount = 1, padded = llvm::alignTo(sourceShape[last], lanes), front = std::max<int64_t>(what.low[last], 0);
  for (int64_t dim : windowed)
    rowCount *= what.window[dim];
  int64_t rowElements = std::max(front + shape[last], (padded + lanes) * what.strides[last] + what.window[last]) + lanes;
  for (int64_t i = 0; i < rowCount; ++i)
    copies.push_back(scratch.take(element, rowElements));
  places = scratch.take(indexType.getElementType(), padded);
  scratchBytes = scratch.bytes();

  OpBuilder b(shell.getBody().front().getTerminator());
  auto each = loop(b, rangeBegin(shell), 0, 1);
  each.setUpperBound(rangeEndArg(shell));
  b.setInsertionPoint(each.getBody()->getTerminator());
  base = times(b, each.getInductionVar(), imageSize);
  sourceBase = times(b, each.getInductionVar(), sourceSize);
  fill(b);
  SmallVector<Value> at;
  for (int64_t dim : windowed) {
    auto along = loop(b, constant(0), sourceShape[dim], 1);
    at.push_back(along.getInductionVar());
    b.setInsertionPoint(along.getBody()->getTerminator());
  }
  emitRow(b, at);
}

FailureOr<EmittedKernel> WindowScatterRowsEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "window scatter rows", why);
  emit();
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "window_scatter";
  out.rangeEnd = images;
  out.scratchBytesPerTask = scratchBytes;
  double window = 1;
  for (int64_t dim = first; dim <= last; ++dim)
    window *= what.window[dim];
  out.nanosPerIteration = (sourceSize * (window * 8 / lanes + 4) + imageSize / 4.0) / target.gigahertz;
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitWindowScatterRows(func::FuncOp fn, const WindowScatter &what, const KernelTarget &target) { return WindowScatterRowsEmitter(fn, what, target).run(); }

} // namespace millrace::lowering
