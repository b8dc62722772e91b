// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowScatter.cpp - Emit gradients of max pooling, channels last ----===//
// Input:   a kernel that is one select_and_scatter (WindowKernel.h) whose last dimension has no window: channels.
// Output:  an iteration is a few vectors of channels at one position of the other dimensions without a window. First it finds for each source
//          element, per lane, which element of its window is selected, and stores that element's index in scratch. Then for each element of the
//          result it adds, in the order of the sources, those of the surrounding windows that have selected it: every element of the result is
//          written once. Elements out of bounds are skipped, or replaced, by branches.
// Leaves alone windows along the last dimension, windows of many elements, dynamic sizes.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/windows/WindowEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

class WindowScatterEmitter : WindowScatterBase {
public:
  using WindowScatterBase::WindowScatterBase;
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void emit();
  void choose(OpBuilder &b, ArrayRef<Value> at);
  void gather(OpBuilder &b, ArrayRef<Value> at);
  /// Returns the address in scratch of the indices chosen by one vector of windows.
  Value chosenAt(OpBuilder &b, Value source, int64_t v) { return add(b, times(b, source, perUnit()), add(b, step, constant(v * lanes))); }
  int64_t perUnit() const { return lanes * unroll * steps; }
  Value load(OpBuilder &b, unsigned buffer, Value at);
  void store(OpBuilder &b, Value value, Value at);

  SmallVector<int64_t> windowed, plain;
  int64_t unroll = 1, steps = 1, blocks = 1; ///< a unit is `steps` times `unroll` vectors of channels
  int64_t windows = 1;  ///< per channel
  Value base, sourceBase; ///< addresses of the iteration's channels
  Value chosen;           ///< i8: the index of each window's selected element, windows before channels
  Value step;             ///< offset of the current vector of channels in the unit
  Value mask;
};

LogicalResult WindowScatterEmitter::match() {
  if (!describe())
    return failure();
  int64_t rank = int64_t(shape.size());
  for (int64_t dim = 0; dim < rank; ++dim)
    (isPlain(dim) ? plain : windowed).push_back(dim);
  if (plain.empty() || plain.back() != rank - 1) {
    why = "a window along the last dimension";
    return failure();
  }
  int64_t channels = shape.back();
  if (channels * 4 < lanes) {
    why = "fewer channels than a quarter of a vector";
    return failure();
  }
  for (int64_t dim : windowed)
    windows *= sourceShape[dim];
  // An iteration has whole rows of channels, if that leaves enough units for the threads, so that memory is read in order.
  int64_t others = 1;
  for (int64_t dim : ArrayRef(plain).drop_back())
    others *= shape[dim];
  int64_t vectors = llvm::divideCeil(channels, lanes);
  unroll = channels % (2 * lanes) == 0 ? 2 : 1;
  steps = channels % lanes ? 1 : vectors / unroll;
  while (steps > 1 && (others * (vectors / (steps * unroll)) < 4 * target.threads || windows * perUnit() > target.l2Bytes / 2)) {
    int64_t divisor = 2;
    while (steps % divisor)
      ++divisor;
    steps /= divisor;
  }
  blocks = llvm::divideCeil(vectors, steps * unroll);
  return success();
}

Value WindowScatterEmitter::load(OpBuilder &b, unsigned buffer, Value at) {
  Value memory = shell.getArgument(buffer);
  if (!mask)
    return vector::LoadOp::create(b, loc, vectorType, memory, ValueRange{at});
  return vector::MaskedLoadOp::create(b, loc, vectorType, memory, ValueRange{at}, mask, zeros(b));
}

void WindowScatterEmitter::store(OpBuilder &b, Value value, Value at) {
  Value memory = shell.getArgument(2);
  if (mask)
    vector::MaskedStoreOp::create(b, loc, memory, ValueRange{at}, mask, value);
  else
    vector::StoreOp::create(b, loc, value, memory, ValueRange{at});
}

/// Selects the elements of the windows of the sources at `at` (along the dimensions with a window).
void WindowScatterEmitter::choose(OpBuilder &b, ArrayRef<Value> at) {
  // `places` holds, along each dimension, the part of the address and whether the element exists (null: always).
  SmallVector<SmallVector<std::pair<Value, Value>>> places;
  Value number = constant(0), allExist;
  for (auto [index, dim] : llvm::zip(at, windowed)) {
    number = add(b, times(b, number, sourceShape[dim]), index);
    Value start = sub(b, times(b, index, what.strides[dim]), constant(what.low[dim]));
    places.emplace_back();
    for (int64_t offset = 0; offset < what.window[dim]; ++offset) {
      Value place = add(b, start, constant(offset)), exists;
      if (reachesOut(dim)) { // Unsigned: positions before the first are large.
        exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, constant(shape[dim]));
        allExist = allExist ? arith::AndIOp::create(b, loc, allExist, exists).getResult() : exists;
      }
      places.back().push_back({times(b, place, strides[dim]), exists});
    }
  }
  struct Element {
    Value address, exists;
  };
  SmallVector<Element> elements{{add(b, base, step), {}}};
  for (auto &along : places) {
    SmallVector<Element> next;
    for (const Element &outer : elements)
      for (auto [part, exists] : along) {
        Value both = !outer.exists ? exists
                     : !exists     ? outer.exists
                                   : arith::AndIOp::create(b, loc, outer.exists, exists).getResult();
        next.push_back({add(b, outer.address, part), both});
      }
    elements = next;
  }

  auto chooseAmong = [&](OpBuilder &b, bool isInside) {
    for (int64_t v = 0; v < unroll; ++v) {
      Value best, chosenNumber;
      bool isFound = false; // an element is selected in every lane
      for (auto [index, candidate] : llvm::enumerate(elements)) {
        int64_t number = index;
        Value address = candidate.address;
        auto element = [&](OpBuilder &in) { return load(in, 0, add(in, address, constant(v * lanes))); };
        auto select = [&](OpBuilder &in, Value x) -> SmallVector<Value> {
          if (!best)
            return {x, position(in, number)};
          Value take = isBetter(in, best, chosenNumber, isFound, x);
          return {arith::SelectOp::create(in, loc, take, x, best), arith::SelectOp::create(in, loc, take, position(in, number), chosenNumber)};
        };
        if (isInside || !candidate.exists || what.beyond) {
          Value x;
          if (isInside || !candidate.exists) {
            x = element(b);
          } else {
            auto either = scf::IfOp::create(b, loc, TypeRange{vectorType}, candidate.exists, /*withElseRegion=*/true);
            OpBuilder inside = either.getThenBodyBuilder(), otherwise = either.getElseBodyBuilder();
            scf::YieldOp::create(inside, loc, element(inside));
            scf::YieldOp::create(otherwise, loc, splat(otherwise, what.beyond));
            x = either.getResult(0);
          }
          SmallVector<Value> next = select(b, x);
          best = next[0];
          chosenNumber = next[1];
          isFound = true;
          continue;
        }
        if (!best) {
          best = zeros(b);
          chosenNumber = position(b, -1);
        }
        auto branch = scf::IfOp::create(b, loc, TypeRange{vectorType, indexType}, candidate.exists, /*withElseRegion=*/true);
        OpBuilder inside = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
        scf::YieldOp::create(inside, loc, select(inside, element(inside)));
        scf::YieldOp::create(otherwise, loc, ValueRange{best, chosenNumber});
        best = branch.getResult(0);
        chosenNumber = branch.getResult(1);
      }
      auto narrow = VectorType::get({lanes}, b.getI8Type());
      Value small = indexType == narrow ? chosenNumber : arith::TruncIOp::create(b, loc, narrow, chosenNumber).getResult();
      vector::StoreOp::create(b, loc, small, chosen, ValueRange{chosenAt(b, number, v)});
    }
  };
  if (!allExist)
    return chooseAmong(b, /*isInside=*/true);
  auto branch = scf::IfOp::create(b, loc, allExist, /*withElseRegion=*/true);
  OpBuilder inside = branch.getThenBodyBuilder(), border = branch.getElseBodyBuilder();
  chooseAmong(inside, /*isInside=*/true);
  chooseAmong(border, /*isInside=*/false);
}

/// Computes the elements of the result at `at` along the dimensions with a window.
void WindowScatterEmitter::gather(OpBuilder &b, ArrayRef<Value> at) {
  // A window that covers the element: its part of the source's address and index, the element's index in it, whether it exists.
  struct Window {
    Value source, index, number, exists;
  };
  SmallVector<Window> around{{add(b, sourceBase, step), constant(0), constant(0), {}}};
  Value to = add(b, base, step);
  for (auto [place, dim] : llvm::zip(at, windowed)) {
    int64_t stride = what.strides[dim], window = what.window[dim];
    to = add(b, to, times(b, place, strides[dim]));
    Value shifted = add(b, place, constant(what.low[dim]));
    // Unsigned: windows before the first have large indices.
    Value last = stride == 1 ? shifted : arith::DivUIOp::create(b, loc, shifted, constant(stride)).getResult();
    SmallVector<Window> next;
    SmallVector<std::tuple<Value, Value, Value>> along; // index, the element's position in the window, exists
    for (int64_t before = llvm::divideCeil(window, stride) - 1; before >= 0; --before) {
      Value index = sub(b, last, constant(before));
      Value offset = sub(b, shifted, times(b, index, stride));
      Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, constant(sourceShape[dim]));
      if ((before + 1) * stride > window)
        exists = arith::AndIOp::create(b, loc, exists, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, offset, constant(window)));
      along.push_back({index, offset, exists});
    }
    for (const Window &outer : around)
      for (auto [index, offset, exists] : along)
        next.push_back({add(b, outer.source, times(b, index, sourceStrides[dim])), add(b, times(b, outer.index, sourceShape[dim]), index),
                        add(b, times(b, outer.number, window), offset),
                        outer.exists ? arith::AndIOp::create(b, loc, outer.exists, exists).getResult() : exists});
    around = next;
  }
  SmallVector<Value> sums(unroll, splat(b, what.init));
  auto narrow = VectorType::get({lanes}, b.getI8Type());
  for (const Window &window : around) {
    // Where windows have one element in every dimension, one window covers each element.
    Value exists = window.exists ? window.exists : arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1).getResult();
    auto branch = scf::IfOp::create(b, loc, SmallVector<Type>(unroll, vectorType), exists, /*withElseRegion=*/true);
    OpBuilder in = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    Value small = arith::IndexCastOp::create(in, loc, in.getI8Type(), window.number);
    Value self = vector::BroadcastOp::create(in, loc, narrow, small);
    SmallVector<Value> next;
    for (int64_t v = 0; v < unroll; ++v) {
      Value selected = vector::LoadOp::create(in, loc, narrow, chosen, ValueRange{chosenAt(in, window.index, v)});
      Value here = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::eq, selected, self);
      Value source = load(in, 1, add(in, window.source, constant(v * lanes)));
      next.push_back(arith::SelectOp::create(in, loc, here, sum(in, sums[v], source), sums[v]));
    }
    scf::YieldOp::create(in, loc, next);
    scf::YieldOp::create(otherwise, loc, sums);
    sums.assign(branch.getResults().begin(), branch.getResults().end());
  }
  for (int64_t v = 0; v < unroll; ++v)
    store(b, sums[v], add(b, to, constant(v * lanes)));
}

void WindowScatterEmitter::emit() {
  makeShell();
  Scratch scratch(shell);
  chosen = scratch.take(IntegerType::get(kernel.getContext(), 8), windows * perUnit());
  scratchBytes = scratch.bytes();
  OpBuilder b(shell.getBody().front().getTerminator());
  auto units = scf::ForOp::create(b, loc, rangeBegin(shell), rangeEndArg(shell), constant(1));
  b.setInsertionPoint(units.getBody()->getTerminator());
  Value rest = units.getInductionVar();
  Value block = arith::RemUIOp::create(b, loc, rest, constant(blocks));
  rest = arith::DivUIOp::create(b, loc, rest, constant(blocks));
  Value channel = times(b, block, perUnit());
  base = sourceBase = channel;
  for (int64_t dim : llvm::reverse(ArrayRef(plain).drop_back())) {
    Value index = arith::RemUIOp::create(b, loc, rest, constant(shape[dim]));
    rest = arith::DivUIOp::create(b, loc, rest, constant(shape[dim]));
    base = add(b, base, times(b, index, strides[dim]));
    sourceBase = add(b, sourceBase, times(b, index, sourceStrides[dim]));
  }
  if (shape.back() % lanes) {
    Value left = sub(b, constant(shape.back()), channel);
    mask = vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), ValueRange{left});
  }
  auto nest = [&](ArrayRef<int64_t> sizes, auto body) {
    OpBuilder inner = b;
    SmallVector<Value> at;
    for (int64_t dim : windowed) {
      scf::ForOp along = loop(inner, constant(0), sizes[dim], 1);
      at.push_back(along.getInductionVar());
      inner.setInsertionPoint(along.getBody()->getTerminator());
    }
    step = constant(0);
    if (steps > 1) {
      scf::ForOp along = loop(inner, constant(0), perUnit(), unroll * lanes);
      step = along.getInductionVar();
      inner.setInsertionPoint(along.getBody()->getTerminator());
    }
    body(inner, at);
  };
  nest(sourceShape, [&](OpBuilder &in, ArrayRef<Value> at) { choose(in, at); });
  nest(shape, [&](OpBuilder &in, ArrayRef<Value> at) { gather(in, at); });
}

FailureOr<EmittedKernel> WindowScatterEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "window scatter", why);
  emit();
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "window_scatter";
  out.scratchBytesPerTask = scratchBytes;
  out.rangeEnd = blocks;
  for (int64_t dim : ArrayRef(plain).drop_back())
    out.rangeEnd *= shape[dim];
  double sources = unroll * steps, window = 1;
  for (int64_t dim : windowed) {
    sources *= sourceShape[dim];
    window *= what.window[dim];
  }
  out.nanosPerIteration = sources * window * 8 / (1.5 * target.gigahertz);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitWindowScatter(func::FuncOp fn, const WindowScatter &what, const KernelTarget &target) { return WindowScatterEmitter(fn, what, target).run(); }

} // namespace millrace::lowering
