// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowReduce.cpp - Pooling with windows along the last dimension ----===//
// Input:   a kernel noted as reduce_window (lowering/linalg/WindowReduce.h): images with their columns last.
// Output:  an iteration is one row of the result, or a piece of a long one. It first combines whole rows of the argument, those that
//          the windows of the other dimensions hold, into a row of scratch with borders around it; then neighbours in that row.
//          A window of h x w elements so costs h + w steps instead of h * w, all of them on contiguous vectors.
// Sums are added in that order: first along the leading dimensions of a window, then along the last.
// Leaves alone windows along other dimensions only (their row kernels are contiguous anyway), those that hold the whole row, and sums
// of f64 over several dimensions: who asks for that many digits gets them as the specification's order of a window gives them.
//===----------------------------------------------------------------------===//
#include "lowering/linalg/WindowReduce.h"
#include "lowering/cpu/emitters/VectorStride.h"
#include "lowering/cpu/emitters/WindowEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Longer rows are computed in pieces: they stay in the level 1 cache, and several threads have work.
constexpr int64_t kLongRow = 4096;
/// Vectors in flight.
constexpr int64_t kStrip = 4;
/// Wider windows are a loop instead of as many written-out steps.
constexpr int64_t kMostSteps = 16;

class WindowReduceEmitter : WindowEmitter {
public:
  WindowReduceEmitter(func::FuncOp kernel, const WindowReduce &what, const KernelTarget &target) : WindowEmitter(kernel, target), what(what) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void emit();
  void combineRows(OpBuilder &b, Value rowBase, Value begin, Value end, Value origin);
  void combineNeighbours(OpBuilder &b, Value to, Value count);
  /// Vectors of the argument at `column`, `count` of them, combined over the windows of the leading dimensions.
  SmallVector<Value> column(OpBuilder &b, Value from, int64_t count, Value mask);
  Value window(OpBuilder &b, Value at);
  Value combine(OpBuilder &b, Value x, Value y) { return combineElements(b, loc, what, x, y); }
  Value widened(OpBuilder &b, Value stored);
  Value narrowed(OpBuilder &b, Value computed);

  Value splat(VectorType type) {
    OpBuilder b(kernel.getContext());
    b.setInsertionPointToStart(&shell.getBody().front());
    Value &made = splats[type];
    if (made)
      return made;
    Value stored = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(storedType), ArrayRef<Attribute>{what.init}));
    return made = type == storedType ? stored : widened(b, stored);
  }
  Value atLeast(OpBuilder &b, Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
  Value atMost(OpBuilder &b, Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value maskOf(OpBuilder &b, Value count) {
    return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), ValueRange{count});
  }
  /// [begin, end) in steps of `step` as far as whole steps go; the place where they end.
  template <typename Body> Value whole(OpBuilder &b, Value begin, Value end, int64_t step, Body body) {
    Value last = sub(b, end, constant(step - 1));
    auto loop = scf::ForOp::create(b, loc, begin, last, constant(step), ValueRange{begin});
    OpBuilder inner(loop.getBody(), loop.getBody()->end());
    body(inner, loop.getInductionVar());
    scf::YieldOp::create(inner, loc, ValueRange{add(inner, loop.getInductionVar(), constant(step))});
    return loop.getResult(0);
  }

  const WindowReduce &what;
  ArrayRef<int64_t> shape, resultShape;
  SmallVector<int64_t> inStrides;
  int64_t last = 0;
  Type element, computed;
  VectorType storedType, vectorType;
  int64_t piece = 0, pieces = 1, segment = 0, front = 0;
  Value row; ///< in scratch
  DenseMap<Type, Value> splats;
  struct Leading {
    int64_t dim;
    Value start, from, to; ///< index of the window's first element; the part of the window that exists
  };
  SmallVector<Leading> leading; ///< dimensions with a window, in the current row
};

LogicalResult WindowReduceEmitter::match() {
  auto type = cast<RankedTensorType>(kernel.getArgument(0).getType());
  auto result = cast<RankedTensorType>(kernel.getResultTypes()[0]);
  shape = type.getShape();
  resultShape = result.getShape();
  element = type.getElementType();
  last = type.getRank() - 1;
  if (last < 0 || type.getNumElements() == 0 || result.getNumElements() == 0) {
    why = "no elements";
    return failure();
  }
  if (what.isSpread()) {
    why = "elements of the argument lie apart";
    return failure();
  }
  if (what.window[last] == 1 && what.strides[last] == 1 && what.low[last] == 0 && shape[last] == resultShape[last]) {
    why = "no window along the last dimension";
    return failure();
  }
  if (resultShape[last] == 1) {
    why = "the window holds the whole row";
    return failure();
  }
  if (element.isF64() && what.kind == WindowReduce::Sum &&
      llvm::any_of(ArrayRef(what.window).drop_back(), [](int64_t size) { return size != 1; })) {
    why = "sums of f64 in another order";
    return failure();
  }
  computed = element.isF16() || element.isBF16() ? Float32Type::get(kernel.getContext()) : element;
  lanes = target.vectorBits / computed.getIntOrFloatBitWidth();
  storedType = VectorType::get({lanes}, element);
  vectorType = VectorType::get({lanes}, computed);
  inStrides.assign(last + 1, 1);
  for (int64_t dim = last - 1; dim >= 0; --dim)
    inStrides[dim] = inStrides[dim + 1] * shape[dim + 1];
  int64_t stride = what.strides[last], count = resultShape[last];
  piece = shape[last] <= kLongRow && count <= kLongRow
              ? count
              : std::min<int64_t>(count, llvm::alignTo(std::max<int64_t>(kLongRow / 2 / stride, 8 * lanes), lanes));
  pieces = llvm::divideCeil(count, piece);
  segment = (piece - 1) * stride + (what.window[last] - 1) * what.dilation[last] + 1;
  // A row in one piece lies in scratch from its first element on, even where windows begin later.
  front = std::max<int64_t>(what.low[last], 0);
  if (pieces == 1)
    segment = std::max(segment + front - what.low[last], shape[last] + front);
  return success();
}

Value WindowReduceEmitter::widened(OpBuilder &b, Value stored) {
  return element == computed ? stored : arith::ExtFOp::create(b, loc, vectorType, stored).getResult();
}
Value WindowReduceEmitter::narrowed(OpBuilder &b, Value value) {
  return element == computed ? value : arith::TruncFOp::create(b, loc, storedType, value).getResult();
}

SmallVector<Value> WindowReduceEmitter::column(OpBuilder &b, Value from, int64_t count, Value mask) {
  SmallVector<Value> sums(count, splat(vectorType));
  std::function<SmallVector<Value>(OpBuilder &, unsigned, Value, ValueRange)> nest = [&](OpBuilder &at, unsigned depth, Value address,
                                                                                       ValueRange before) -> SmallVector<Value> {
    SmallVector<Value> next(before);
    if (depth == leading.size()) {
      for (int64_t v = 0; v < count; ++v) {
        Value place = v ? add(at, address, constant(v * lanes)) : address, memory = shell.getArgument(0), loaded;
        if (mask)
          loaded = vector::MaskedLoadOp::create(at, loc, storedType, memory, ValueRange{place}, mask, splat(storedType));
        else
          loaded = vector::LoadOp::create(at, loc, storedType, memory, ValueRange{place});
        next[v] = combine(at, next[v], widened(at, loaded));
      }
      return next;
    }
    const Leading &along = leading[depth];
    auto loop = scf::ForOp::create(at, loc, along.from, along.to, constant(1), before);
    OpBuilder inner(loop.getBody(), loop.getBody()->end());
    Value index = add(inner, along.start, times(inner, loop.getInductionVar(), what.dilation[along.dim]));
    Value place = add(inner, address, times(inner, index, inStrides[along.dim]));
    scf::YieldOp::create(inner, loc, nest(inner, depth + 1, place, loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  };
  return nest(b, 0, from, sums);
}

/// Elements [begin, end) of a row, from `origin` on in scratch.
void WindowReduceEmitter::combineRows(OpBuilder &b, Value rowBase, Value begin, Value end, Value origin) {
  auto strip = [&](OpBuilder &at, Value first, int64_t count, Value mask) {
    SmallVector<Value> values = column(at, add(at, rowBase, first), count, mask);
    for (auto [v, value] : llvm::enumerate(values)) {
      Value to = add(at, sub(at, first, origin), constant(v * lanes));
      vector::StoreOp::create(at, loc, value, row, ValueRange{to});
    }
  };
  Value at = whole(b, begin, end, kStrip * lanes, [&](OpBuilder &in, Value first) { strip(in, first, kStrip, {}); });
  at = whole(b, at, end, lanes, [&](OpBuilder &in, Value first) { strip(in, first, 1, {}); });
  Value left = sub(b, end, at);
  Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, constant(0));
  OpBuilder inside = scf::IfOp::create(b, loc, isAny, /*withElseRegion=*/false).getThenBodyBuilder();
  strip(inside, at, 1, maskOf(inside, left));
}

/// The vector of windows whose first elements stand at `at`, at + stride, ... in scratch.
Value WindowReduceEmitter::window(OpBuilder &b, Value at) {
  int64_t size = what.window[last], dilation = what.dilation[last], stride = what.strides[last];
  auto neighbour = [&](OpBuilder &in, Value place) { return loadStrided(in, loc, vectorType, row, place, stride, Beyond::Exists); };
  Value result = neighbour(b, at);
  if (size <= kMostSteps) {
    for (int64_t i = 1; i < size; ++i)
      result = combine(b, result, neighbour(b, add(b, at, constant(i * dilation))));
    return result;
  }
  auto loop = scf::ForOp::create(b, loc, constant(1), constant(size), constant(1), ValueRange{result});
  OpBuilder inner(loop.getBody(), loop.getBody()->end());
  Value place = add(inner, at, times(inner, loop.getInductionVar(), dilation));
  scf::YieldOp::create(inner, loc, combine(inner, loop.getRegionIterArgs()[0], neighbour(inner, place)));
  return loop.getResult(0);
}

/// `count` elements of the result, the first at `to`.
void WindowReduceEmitter::combineNeighbours(OpBuilder &b, Value to, Value count) {
  Value memory = shell.getArgument(1);
  auto store = [&](OpBuilder &in, Value first) {
    Value value = window(in, add(in, times(in, first, what.strides[last]), constant(pieces == 1 ? front - what.low[last] : 0)));
    return std::make_pair(narrowed(in, value), add(in, to, first));
  };
  auto plain = [&](OpBuilder &in, Value first) {
    auto [value, at] = store(in, first);
    vector::StoreOp::create(in, loc, value, memory, ValueRange{at});
  };
  Value at = whole(b, constant(0), count, 2 * lanes, [&](OpBuilder &in, Value first) {
    plain(in, first);
    plain(in, add(in, first, constant(lanes)));
  });
  at = whole(b, at, count, lanes, plain);
  Value left = sub(b, count, at);
  Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, constant(0));
  OpBuilder inside = scf::IfOp::create(b, loc, isAny, /*withElseRegion=*/false).getThenBodyBuilder();
  if (pieces == 1 && piece >= lanes) {
    // The last whole vector of the row, part of it once more.
    plain(inside, constant(piece - lanes));
    return;
  }
  auto [value, place] = store(inside, at);
  vector::MaskedStoreOp::create(inside, loc, memory, ValueRange{place}, maskOf(inside, left), value);
}

void WindowReduceEmitter::emit() {
  KernelModel model; // the buffers only
  for (ArrayRef<int64_t> sizes : {shape, resultShape}) {
    model.bufferElements.push_back(llvm::product_of(sizes));
    model.bufferTypes.push_back(element);
  }
  shell = createShell(kernel, model);
  int64_t stride = what.strides[last];
  // What is read past the end: whole vectors of windows, and what a vector of the argument leaves behind its last element.
  int64_t reach = llvm::alignTo(piece, lanes) * stride + (what.window[last] - 1) * what.dilation[last] + stride * lanes;
  int64_t elements = llvm::alignTo(std::max(segment, reach + front) + 2 * lanes, lanes);
  Scratch scratch(shell);
  row = scratch.take(computed, elements);
  scratchBytes = scratch.bytes();

  OpBuilder b(shell.getBody().front().getTerminator());
  auto clear = [&](OpBuilder &at) {
    whole(at, constant(0), constant(elements), lanes,
          [&](OpBuilder &in, Value first) { vector::StoreOp::create(in, loc, splat(vectorType), row, ValueRange{first}); });
  };
  if (pieces == 1)
    clear(b);
  auto rows = scf::ForOp::create(b, loc, rangeBegin(shell), rangeEndArg(shell), constant(1));
  b.setInsertionPoint(rows.getBody()->getTerminator());
  Value to = times(b, rows.getInductionVar(), resultShape[last]), rest = rows.getInductionVar(), part = constant(0);
  if (pieces > 1) {
    part = arith::RemUIOp::create(b, loc, rest, constant(pieces));
    rest = arith::DivUIOp::create(b, loc, rest, constant(pieces));
    to = add(b, times(b, rest, resultShape[last]), times(b, part, piece));
    clear(b);
  }
  Value rowBase = constant(0);
  for (int64_t dim = last - 1; dim >= 0; --dim) {
    Value index = rest;
    if (dim > 0) {
      index = arith::RemUIOp::create(b, loc, rest, constant(resultShape[dim]));
      rest = arith::DivUIOp::create(b, loc, rest, constant(resultShape[dim]));
    }
    int64_t size = what.window[dim], dilation = what.dilation[dim], low = what.low[dim];
    Value start = sub(b, times(b, index, what.strides[dim]), constant(low));
    int64_t end = (resultShape[dim] - 1) * what.strides[dim] - low + (size - 1) * dilation + 1;
    if (size == 1 && low <= 0 && end <= shape[dim]) {
      rowBase = add(b, rowBase, times(b, start, inStrides[dim]));
      continue;
    }
    Leading along{dim, start, constant(0), constant(size)};
    auto roundedUp = [&](Value distance) {
      return dilation == 1 ? distance
                           : arith::DivSIOp::create(b, loc, add(b, distance, constant(dilation - 1)), constant(dilation)).getResult();
    };
    if (low > 0)
      along.from = roundedUp(atLeast(b, sub(b, constant(0), start), constant(0)));
    if (end > shape[dim])
      along.to = atMost(b, roundedUp(atLeast(b, sub(b, constant(shape[dim]), start), constant(0))), constant(size));
    leading.push_back(along);
  }
  if (pieces == 1) {
    combineRows(b, rowBase, constant(0), constant(shape[last]), constant(-front));
    combineNeighbours(b, to, constant(piece));
    return;
  }
  Value origin = sub(b, times(b, part, piece * stride), constant(what.low[last]));
  Value begin = atLeast(b, origin, constant(0)), end = atMost(b, add(b, origin, constant(segment)), constant(shape[last]));
  combineRows(b, rowBase, begin, end, origin);
  combineNeighbours(b, to, atMost(b, sub(b, constant(resultShape[last]), times(b, part, piece)), constant(piece)));
}

FailureOr<EmittedKernel> WindowReduceEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "window reduce", why);
  emit();
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "window_reduce";
  out.rangeEnd = pieces;
  out.scratchBytesPerTask = scratchBytes;
  double rows = 1;
  for (int64_t dim = 0; dim < last; ++dim) {
    out.rangeEnd *= resultShape[dim];
    rows *= what.window[dim];
  }
  double steps = rows * segment + double(what.window[last]) * what.strides[last] * piece;
  out.nanosPerIteration = (20 + steps * 4 / lanes) / target.gigahertz;
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitWindowReduce(func::FuncOp fn, const KernelTarget &target) {
  std::optional<WindowReduce> what = windowReduceOf(fn);
  if (!what)
    return failure();
  return WindowReduceEmitter(fn, *what, target).run();
}

} // namespace millrace::lowering
