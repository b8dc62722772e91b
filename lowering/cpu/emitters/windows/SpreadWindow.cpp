// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SpreadWindow.cpp - Emit windows with base dilation ------------------===//
// Input:   a kernel that is one reduce_window (WindowKernel.h) with a base dilation: the gradient of mean pooling.
// Output:  an iteration is one row of the result: for each of its positions, the elements in the window, whole vectors of channels, are combined in
//          the window's order. The holes of the dilation are neither stored nor read.
// Leaves alone windows along the last dimension, window dilation together with base dilation, and few channels.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/windows/WindowEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Vectors that are computed at a time. Unit: vectors. Source: judgement, not measured alone; commit 0238cc9 has the figures of the whole change.
constexpr int64_t kVectorsInFlight = 4;

class SpreadWindowEmitter : WindowEmitter {
public:
  SpreadWindowEmitter(func::FuncOp kernel, const WindowReduce &what, const KernelTarget &target) : WindowEmitter(kernel, target), what(what) {}
  FailureOr<EmittedKernel> run();

private:
  /// The elements that a window covers along one dimension: origin + k * step, k in [from, to).
  struct Range {
    int64_t dim;
    Value origin, from, to;
    int64_t step;
  };

  LogicalResult match();
  void emit();
  Range range(OpBuilder &b, int64_t dim, Value index);
  void place(OpBuilder &b, ArrayRef<Range> ranges, Value to);
  void strip(OpBuilder &b, ArrayRef<Range> ranges, Value channel, Value to, int64_t count, Value mask);
  Value combine(OpBuilder &b, Value x, Value y) { return what.combine(b, loc, x, y); }

  Value splat(VectorType type) {
    OpBuilder b(shell.getContext());
    b.setInsertionPointToStart(&shell.getBody().front());
    Value &made = splats[type];
    if (made)
      return made;
    Value stored = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(storedType), ArrayRef<Attribute>{what.init}));
    return made = type == storedType ? stored : arith::ExtFOp::create(b, loc, vectorType, stored).getResult();
  }
  Value atLeast(OpBuilder &b, Value x, int64_t y) { return arith::MaxSIOp::create(b, loc, x, constant(y)); }
  Value atMost(OpBuilder &b, Value x, int64_t y) { return arith::MinSIOp::create(b, loc, x, constant(y)); }
  /// Returns the quotient x / by, rounded down, for x >= least.
  Value quotient(OpBuilder &b, Value x, int64_t by, int64_t least) {
    if (by == 1)
      return x;
    int64_t whole = least < 0 ? llvm::divideCeil(-least, by) : 0;
    Value positive = whole ? add(b, x, constant(whole * by)) : x;
    Value result = arith::DivUIOp::create(b, loc, positive, constant(by));
    return whole ? add(b, result, constant(-whole)) : result;
  }

  const WindowReduce &what;
  ArrayRef<int64_t> shape, resultShape;
  SmallVector<int64_t> inStrides;
  int64_t columns = 0;  ///< the last dimension with windows
  int64_t channels = 1; ///< elements of the dimensions after it
  Type element, computed;
  VectorType storedType, vectorType;
  DenseMap<Type, Value> splats;
};

LogicalResult SpreadWindowEmitter::match() {
  auto type = cast<RankedTensorType>(kernel.getArgument(0).getType());
  shape = type.getShape();
  resultShape = cast<RankedTensorType>(kernel.getResultTypes()[0]).getShape();
  element = what.element;
  if (!what.isSpread()) {
    why = "elements of the argument lie side by side";
    return failure();
  }
  if (type.getNumElements() == 0 || llvm::product_of(resultShape) == 0) {
    why = "no elements";
    return failure();
  }
  for (auto [spread, dilation] : llvm::zip_equal(what.spread, what.dilation))
    if (spread != 1 && dilation != 1) {
      why = "elements of the window lie apart, too";
      return failure();
    }
  computed = element.isF16() || element.isBF16() ? Float32Type::get(kernel.getContext()) : element;
  lanes = target.vectorBits / computed.getIntOrFloatBitWidth();
  columns = type.getRank() - 1;
  auto isWhole = [&](int64_t dim) {
    return what.window[dim] == 1 && what.strides[dim] == 1 && what.low[dim] == 0 && what.spread[dim] == 1 && shape[dim] == resultShape[dim];
  };
  for (; isWhole(columns); --columns)
    channels *= shape[columns];
  if (channels < lanes) {
    why = "few channels";
    return failure();
  }
  storedType = VectorType::get({lanes}, element);
  vectorType = VectorType::get({lanes}, computed);
  inStrides.assign(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
    inStrides[dim] = inStrides[dim + 1] * shape[dim + 1];
  return success();
}

SpreadWindowEmitter::Range SpreadWindowEmitter::range(OpBuilder &b, int64_t dim, Value index) {
  int64_t size = what.window[dim], low = what.low[dim], spread = what.spread[dim], dilation = what.dilation[dim];
  Value start = add(b, times(b, index, what.strides[dim]), constant(-low));
  if (spread == 1) {
    // The range consists of the window's steps that are at 0 or later, and before the end.
    Value from = quotient(b, add(b, atLeast(b, sub(b, constant(0), start), 0), constant(dilation - 1)), dilation, 0);
    Value left = atLeast(b, sub(b, constant(shape[dim] + dilation - 1), start), 0);
    return {dim, start, from, atMost(b, quotient(b, left, dilation, 0), size), dilation};
  }
  // Element k is at k * spread.
  Value from = atLeast(b, quotient(b, add(b, start, constant(spread - 1)), spread, spread - 1 - low), 0);
  Value behind = quotient(b, add(b, start, constant(size - 1 + spread)), spread, size - 1 + spread - low);
  return {dim, constant(0), from, atMost(b, behind, shape[dim]), 1};
}

/// Emits `count` vectors of the result from `channel` on; the first channel of the position is at `to`.
void SpreadWindowEmitter::strip(OpBuilder &b, ArrayRef<Range> ranges, Value channel, Value to, int64_t count, Value mask) {
  SmallVector<Value> none(count, splat(vectorType));
  std::function<SmallVector<Value>(OpBuilder &, size_t, Value, ValueRange)> nest = [&](OpBuilder &at, size_t depth, Value address,
                                                                                     ValueRange before) -> SmallVector<Value> {
    SmallVector<Value> next(before);
    if (depth == ranges.size()) {
      for (int64_t v = 0; v < count; ++v) {
        Value from = v ? add(at, address, constant(v * lanes)) : address, memory = shell.getArgument(0);
        Value loaded = mask ? vector::MaskedLoadOp::create(at, loc, storedType, memory, ValueRange{from}, mask, splat(storedType)).getResult()
                            : vector::LoadOp::create(at, loc, storedType, memory, ValueRange{from}).getResult();
        next[v] = combine(at, next[v], element == computed ? loaded : arith::ExtFOp::create(at, loc, vectorType, loaded).getResult());
      }
      return next;
    }
    const Range &along = ranges[depth];
    auto loop = scf::ForOp::create(at, loc, along.from, along.to, constant(1), before);
    OpBuilder inner(loop.getBody(), loop.getBody()->end());
    Value index = add(inner, along.origin, times(inner, loop.getInductionVar(), along.step));
    Value place = add(inner, address, times(inner, index, inStrides[along.dim]));
    scf::YieldOp::create(inner, loc, nest(inner, depth + 1, place, loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  };
  Value memory = shell.getArgument(1), first = add(b, to, channel);
  for (auto [v, value] : llvm::enumerate(nest(b, 0, channel, none))) {
    Value stored = element == computed ? value : arith::TruncFOp::create(b, loc, storedType, value).getResult();
    Value at = add(b, first, constant(int64_t(v) * lanes));
    if (mask)
      vector::MaskedStoreOp::create(b, loc, memory, ValueRange{at}, mask, stored);
    else
      vector::StoreOp::create(b, loc, stored, memory, ValueRange{at});
  }
}

/// Emits all channels of one position of the result.
void SpreadWindowEmitter::place(OpBuilder &b, ArrayRef<Range> ranges, Value to) {
  int64_t done = 0;
  for (int64_t vectors : {kVectorsInFlight, int64_t(1)}) {
    int64_t step = vectors * lanes, end = done + (channels - done) / step * step;
    if (end - done == step) {
      strip(b, ranges, constant(done), to, vectors, {});
    } else if (end > done) {
      auto loop = scf::ForOp::create(b, loc, constant(done), constant(end), constant(step));
      OpBuilder inner(loop.getBody()->getTerminator());
      strip(inner, ranges, loop.getInductionVar(), to, vectors, {});
    }
    done = end;
  }
  if (done == channels)
    return;
  Value mask = vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), ValueRange{constant(channels - done)});
  strip(b, ranges, constant(done), to, 1, mask);
}

void SpreadWindowEmitter::emit() {
  KernelModel model; // only the buffers are set
  for (ArrayRef<int64_t> sizes : {shape, resultShape}) {
    model.bufferElements.push_back(llvm::product_of(sizes));
    model.bufferTypes.push_back(element);
  }
  shell = createShell(kernel, model);
  OpBuilder b(shell.getBody().front().getTerminator());
  auto rows = scf::ForOp::create(b, loc, rangeBegin(shell), rangeEndArg(shell), constant(1));
  b.setInsertionPoint(rows.getBody()->getTerminator());
  Value rest = rows.getInductionVar(), to = times(b, rest, resultShape[columns] * channels);
  SmallVector<Range> ranges;
  for (int64_t dim = columns - 1; dim >= 0; --dim) {
    Value index = rest;
    if (dim > 0) {
      index = arith::RemUIOp::create(b, loc, rest, constant(resultShape[dim]));
      rest = arith::DivUIOp::create(b, loc, rest, constant(resultShape[dim]));
    }
    ranges.insert(ranges.begin(), range(b, dim, index));
  }
  auto places = scf::ForOp::create(b, loc, constant(0), constant(resultShape[columns]), constant(1));
  OpBuilder inner(places.getBody()->getTerminator());
  ranges.push_back(range(inner, columns, places.getInductionVar()));
  place(inner, ranges, add(inner, to, times(inner, places.getInductionVar(), channels)));
}

FailureOr<EmittedKernel> SpreadWindowEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "spread window", why);
  emit();
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "window_reduce";
  double elements = 1;
  for (int64_t dim = 0; dim <= columns; ++dim) {
    elements *= double(what.window[dim]) / what.spread[dim];
    if (dim < columns)
      out.rangeEnd *= resultShape[dim];
  }
  out.nanosPerIteration = (10 + double(resultShape[columns]) * (15 + elements * channels / lanes)) / target.gigahertz;
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitSpreadWindow(func::FuncOp fn, const WindowReduce &what, const KernelTarget &target) { return SpreadWindowEmitter(fn, what, target).run(); }

} // namespace millrace::lowering
