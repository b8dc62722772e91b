// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowReduce.cpp - Emit pooling along the last dimension ------------===//
// Input:   a kernel that is one reduce_window (WindowKernel.h): images with their columns last.
// Output:  an iteration is one row of the result, or a piece of a long one. It first combines whole rows of the argument, those that the windows of
//          the other dimensions cover, into a padded row in scratch; then neighbours in that row. A window of h x w elements so costs h + w steps
//          instead of h * w, all of them on contiguous vectors.
//          Sums of f32 and f64 are added in the specification's order of a window instead, row by row: where large values cancel, another order gives
//          other digits. The rows that a window covers then are copied to scratch with their padding, or are read in place if no window reaches out
//          of them.
// Sums of narrower floats (in f32) are added first along the leading dimensions of a window, then along the last.
// Leaves alone windows along other dimensions only (their row kernels are contiguous anyway) and those that cover the whole row.
//===----------------------------------------------------------------------===//

#include "dialects/millrace/Attributes.h"
#include "lowering/cpu/emitters/rows/VectorStride.h"
#include "lowering/cpu/emitters/windows/WindowEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Vectors that are computed at a time. Unit: vectors. Source: judgement, not measured alone; commit e3a723d has the figures of the whole change.
constexpr int64_t kVectorsInFlight = 4;
/// Wider windows are a loop instead of unrolled steps. Unit: elements of a window along a row. Source: judgement, not measured alone; commit e3a723d
/// has the figures of the whole change.
constexpr int64_t kMaxWrittenSteps = 16;

class WindowReduceEmitter : WindowEmitter {
public:
  WindowReduceEmitter(func::FuncOp kernel, const WindowReduce &what, const KernelTarget &target) : WindowEmitter(kernel, target), what(what) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void emit();
  void combineRows(OpBuilder &b, Value rowBase, Value begin, Value end, Value origin);
  void keepRows(OpBuilder &b, Value rowBase, Value begin, Value end, Value origin);
  void forRows(OpBuilder &b, Value rowBase, MutableArrayRef<Value> carried,
                   llvm::function_ref<SmallVector<Value>(OpBuilder &, Value address, Value number, ValueRange)> body);
  SmallVector<Value> sumsInOrder(OpBuilder &b, Value at, int64_t count);
  void combineNeighbours(OpBuilder &b, Value to, Value count);
  /// Returns `count` vectors of the argument from `from` on, combined over the windows of the leading dimensions.
  SmallVector<Value> column(OpBuilder &b, Value from, int64_t count, Value mask);
  Value window(OpBuilder &b, Value at);
  Value combine(OpBuilder &b, Value x, Value y) { return what.combine(b, loc, x, y); }
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
  /// Emits [begin, end) in whole steps of `step`; returns where they end.
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
  bool inOrder = false;     ///< sums are added in the specification's order
  bool inPlace = false;     ///< and the argument is read in place
  int64_t keptRows = 1;     ///< rows in scratch: those that a window covers
  int64_t rowElements = 0;  ///< of each in scratch
  Value row; ///< the (first) one in scratch
  Value place; ///< in the argument: the row of the first window's elements
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
  element = what.element;
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
  computed = element.isF16() || element.isBF16() ? Float32Type::get(kernel.getContext()) : element;
  lanes = target.vectorBits / computed.getIntOrFloatBitWidth();
  storedType = VectorType::get({lanes}, element);
  vectorType = VectorType::get({lanes}, computed);
  inStrides.assign(last + 1, 1);
  for (int64_t dim = last - 1; dim >= 0; --dim)
    inStrides[dim] = inStrides[dim + 1] * shape[dim + 1];
  int64_t stride = what.strides[last], count = resultShape[last];
  int64_t rowsOfWindow = llvm::product_of(ArrayRef(what.window).drop_back()), reach = (what.window[last] - 1) * what.dilation[last] + 1;
  inOrder = what.kind == WindowReduce::Sum && (element.isF32() || element.isF64()) && rowsOfWindow > 1 && what.window[last] > 1;
  // Longer rows are computed in pieces: a piece stays in the level 1 cache, and several threads have work.
  const int64_t maxRowElements = target.residentBytes() / int64_t(sizeof(float));
  inPlace = inOrder && what.low[last] <= 0 && (count - 1) * stride - what.low[last] + reach <= shape[last] && count >= lanes &&
            shape[last] <= maxRowElements;
  if (inOrder && !inPlace)
    keptRows = rowsOfWindow;
  const int64_t longRow = std::max<int64_t>(maxRowElements / keptRows, 1);
  piece = shape[last] <= longRow && count <= longRow
              ? count
              : std::min<int64_t>(count, llvm::alignTo(std::max<int64_t>(longRow / 2 / stride, 8 * lanes), lanes));
  pieces = llvm::divideCeil(count, piece);
  segment = (piece - 1) * stride + reach;
  // A row in one piece is stored in scratch from its first element on, even where windows start later.
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

/// Loops over the rows of the argument that the windows of a row of the result cover, in the specification's order: their addresses from `rowBase`
/// on, and their indices among all possible rows.
void WindowReduceEmitter::forRows(OpBuilder &b, Value rowBase, MutableArrayRef<Value> carried,
                                  llvm::function_ref<SmallVector<Value>(OpBuilder &, Value, Value, ValueRange)> body) {
  std::function<SmallVector<Value>(OpBuilder &, size_t, Value, Value, ValueRange)> nest =
      [&](OpBuilder &at, size_t left, Value address, Value number, ValueRange before) -> SmallVector<Value> {
    if (left == 0)
      return body(at, address, number, before);
    const Leading &along = leading[left - 1]; // the first dimension is the last one there
    auto loop = scf::ForOp::create(at, loc, along.from, along.to, constant(1), before);
    OpBuilder inner(loop.getBody(), before.empty() ? std::prev(loop.getBody()->end()) : loop.getBody()->end()); // has a terminator if nothing is carried
    Value step = loop.getInductionVar();
    Value index = add(inner, along.start, times(inner, step, what.dilation[along.dim]));
    SmallVector<Value> next = nest(inner, left - 1, add(inner, address, times(inner, index, inStrides[along.dim])),
                                   add(inner, times(inner, number, what.window[along.dim]), step), loop.getRegionIterArgs());
    if (!before.empty())
      scf::YieldOp::create(inner, loc, next);
    return SmallVector<Value>(loop.getResults());
  };
  llvm::copy(nest(b, leading.size(), rowBase, constant(0), ArrayRef<Value>(carried)), carried.begin());
}

SmallVector<Value> WindowReduceEmitter::column(OpBuilder &b, Value from, int64_t count, Value mask) {
  SmallVector<Value> sums(count, splat(vectorType));
  forRows(b, from, sums, [&](OpBuilder &at, Value address, Value, ValueRange before) {
    SmallVector<Value> next(before);
    for (int64_t v = 0; v < count; ++v) {
      Value place = v ? add(at, address, constant(v * lanes)) : address, memory = shell.getArgument(0), loaded;
      if (mask)
        loaded = vector::MaskedLoadOp::create(at, loc, storedType, memory, ValueRange{place}, mask, splat(storedType));
      else
        loaded = vector::LoadOp::create(at, loc, storedType, memory, ValueRange{place});
      next[v] = combine(at, next[v], widened(at, loaded));
    }
    return next;
  });
  return sums;
}

/// Combines the elements [begin, end) of rows into scratch, from `origin` on.
void WindowReduceEmitter::combineRows(OpBuilder &b, Value rowBase, Value begin, Value end, Value origin) {
  auto strip = [&](OpBuilder &at, Value first, int64_t count, Value mask) {
    SmallVector<Value> values = column(at, add(at, rowBase, first), count, mask);
    for (auto [v, value] : llvm::enumerate(values)) {
      Value to = add(at, sub(at, first, origin), constant(v * lanes));
      vector::StoreOp::create(at, loc, value, row, ValueRange{to});
    }
  };
  Value at = whole(b, begin, end, kVectorsInFlight * lanes, [&](OpBuilder &in, Value first) { strip(in, first, kVectorsInFlight, {}); });
  at = whole(b, at, end, lanes, [&](OpBuilder &in, Value first) { strip(in, first, 1, {}); });
  Value left = sub(b, end, at);
  Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, constant(0));
  OpBuilder inside = scf::IfOp::create(b, loc, isAny, /*withElseRegion=*/false).getThenBodyBuilder();
  strip(inside, at, 1, maskOf(inside, left));
}

/// Copies the elements [begin, end) of each row of the windows to its row of scratch, from `origin` on.
void WindowReduceEmitter::keepRows(OpBuilder &b, Value rowBase, Value begin, Value end, Value origin) {
  forRows(b, rowBase, {}, [&](OpBuilder &in, Value address, Value number, ValueRange) {
    Value target = sub(in, times(in, number, rowElements), origin);
    auto copy = [&](OpBuilder &at, Value first, Value mask) {
      Value memory = shell.getArgument(0), from = add(at, address, first), loaded;
      if (mask)
        loaded = vector::MaskedLoadOp::create(at, loc, storedType, memory, ValueRange{from}, mask, splat(storedType));
      else
        loaded = vector::LoadOp::create(at, loc, storedType, memory, ValueRange{from});
      vector::StoreOp::create(at, loc, loaded, row, ValueRange{add(at, target, first)});
    };
    Value at = whole(in, begin, end, lanes, [&](OpBuilder &inner, Value first) { copy(inner, first, {}); });
    Value left = sub(in, end, at);
    Value isAny = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::sgt, left, constant(0));
    OpBuilder inside = scf::IfOp::create(in, loc, isAny, /*withElseRegion=*/false).getThenBodyBuilder();
    copy(inside, at, maskOf(inside, left));
    return SmallVector<Value>();
  });
}

/// Returns `count` vectors of sums whose first elements are at `at`, at + stride, ... in the first row.
SmallVector<Value> WindowReduceEmitter::sumsInOrder(OpBuilder &b, Value at, int64_t count) {
  int64_t size = what.window[last], dilation = what.dilation[last], stride = what.strides[last];
  SmallVector<Value> sums(count, splat(vectorType));
  auto addElement = [&](OpBuilder &in, Value element, MutableArrayRef<Value> to) {
    for (int64_t v = 0; v < count; ++v)
      to[v] = combine(in, to[v],
                      loadStrided(in, loc, vectorType, inPlace ? shell.getArgument(0) : row,
                                  add(in, element, constant(v * lanes * stride)), stride, inPlace ? Beyond::Unknown : Beyond::Exists));
  };
  forRows(b, inPlace ? place : constant(0), sums, [&](OpBuilder &in, Value address, Value number, ValueRange before) {
    SmallVector<Value> next(before);
    Value first = add(in, at, inPlace ? address : times(in, number, rowElements));
    if (size <= kMaxWrittenSteps) {
      for (int64_t i = 0; i < size; ++i)
        addElement(in, add(in, first, constant(i * dilation)), next);
      return next;
    }
    auto loop = scf::ForOp::create(in, loc, constant(0), constant(size), constant(1), next);
    OpBuilder inner(loop.getBody(), loop.getBody()->end());
    SmallVector<Value> made(loop.getRegionIterArgs());
    addElement(inner, add(inner, first, times(inner, loop.getInductionVar(), dilation)), made);
    scf::YieldOp::create(inner, loc, made);
    return SmallVector<Value>(loop.getResults());
  });
  return sums;
}

/// Returns the vector of windows whose first elements are at `at`, at + stride, ... in scratch.
Value WindowReduceEmitter::window(OpBuilder &b, Value at) {
  int64_t size = what.window[last], dilation = what.dilation[last], stride = what.strides[last];
  auto neighbour = [&](OpBuilder &in, Value place) { return loadStrided(in, loc, vectorType, row, place, stride, Beyond::Exists); };
  Value result = neighbour(b, at);
  if (size <= kMaxWrittenSteps) {
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

/// Emits `count` elements of the result, the first at `to`.
void WindowReduceEmitter::combineNeighbours(OpBuilder &b, Value to, Value count) {
  Value memory = shell.getArgument(1);
  auto values = [&](OpBuilder &in, Value first, int64_t vectors) {
    Value at = add(in, times(in, first, what.strides[last]), constant(pieces == 1 ? front - what.low[last] : 0));
    if (inOrder)
      return sumsInOrder(in, at, vectors);
    SmallVector<Value> made;
    for (int64_t v = 0; v < vectors; ++v)
      made.push_back(narrowed(in, window(in, add(in, at, constant(v * lanes * what.strides[last])))));
    return made;
  };
  auto store = [&](OpBuilder &in, Value first, int64_t vectors) {
    for (auto [v, value] : llvm::enumerate(values(in, first, vectors)))
      vector::StoreOp::create(in, loc, value, memory, ValueRange{add(in, add(in, to, first), constant(int64_t(v) * lanes))});
  };
  auto plain = [&](OpBuilder &in, Value first) { store(in, first, 1); };
  const int64_t together = inOrder ? kVectorsInFlight : 2;
  Value at = whole(b, constant(0), count, together * lanes, [&](OpBuilder &in, Value first) { store(in, first, together); });
  at = whole(b, at, count, lanes, plain);
  Value left = sub(b, count, at);
  Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, constant(0));
  OpBuilder inside = scf::IfOp::create(b, loc, isAny, /*withElseRegion=*/false).getThenBodyBuilder();
  if (pieces == 1 && piece >= lanes) {
    // The last whole vector of the row overlaps the one before.
    plain(inside, constant(piece - lanes));
    return;
  }
  Value value = values(inside, at, 1)[0];
  vector::MaskedStoreOp::create(inside, loc, memory, ValueRange{add(inside, to, at)}, maskOf(inside, left), value);
}

void WindowReduceEmitter::emit() {
  KernelModel model; // only the buffers are set
  for (ArrayRef<int64_t> sizes : {shape, resultShape}) {
    model.bufferElements.push_back(llvm::product_of(sizes));
    model.bufferTypes.push_back(element);
  }
  shell = createShell(kernel, model);
  int64_t stride = what.strides[last];
  // Reads reach past the end by whole vectors of windows, and stores by the rest of a vector after the argument's last element.
  int64_t reach = llvm::alignTo(piece, lanes) * stride + (what.window[last] - 1) * what.dilation[last] + stride * lanes;
  rowElements = llvm::alignTo(std::max(segment, reach + front) + 2 * lanes, lanes);
  int64_t elements = inPlace ? 0 : rowElements * keptRows;
  Scratch scratch(shell);
  if (elements)
    row = scratch.take(computed, elements);
  scratchBytes = scratch.bytes();

  OpBuilder b(shell.getBody().front().getTerminator());
  auto clear = [&](OpBuilder &at) {
    whole(at, constant(0), constant(elements), lanes,
          [&](OpBuilder &in, Value first) { vector::StoreOp::create(in, loc, splat(vectorType), row, ValueRange{first}); });
  };
  if (pieces == 1 && elements)
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
  auto prepareRows = [&](Value begin, Value end, Value origin) {
    if (inPlace)
      place = rowBase;
    else if (inOrder)
      keepRows(b, rowBase, begin, end, origin);
    else
      combineRows(b, rowBase, begin, end, origin);
  };
  if (pieces == 1) {
    prepareRows( constant(0), constant(shape[last]), constant(-front));
    combineNeighbours(b, to, constant(piece));
    return;
  }
  Value origin = sub(b, times(b, part, piece * stride), constant(what.low[last]));
  Value begin = atLeast(b, origin, constant(0)), end = atMost(b, add(b, origin, constant(segment)), constant(shape[last]));
  prepareRows(begin, end, origin);
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
  double neighbours = double(what.window[last]) * what.strides[last] * piece;
  // Each image by itself, in the order of the range.
  auto open = kernel->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
  int64_t images = resultShape[0], elements = 1;
  for (int64_t dim = 1; dim <= last; ++dim)
    elements *= resultShape[dim];
  if (open && open.size() == 2 && last > 0 && images % open[0] == 0 && open[1] == images / open[0] * elements)
    out.rows = {images / open[0], 1, out.rangeEnd / images};
  double steps = inOrder ? rows * ((inPlace ? 0 : segment) + neighbours) : rows * segment + neighbours;
  out.nanosPerIteration = (20 + steps * 4 / lanes) / target.gigahertz;
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitWindowReduce(func::FuncOp fn, const WindowReduce &what, const KernelTarget &target) { return WindowReduceEmitter(fn, what, target).run(); }

} // namespace millrace::lowering
