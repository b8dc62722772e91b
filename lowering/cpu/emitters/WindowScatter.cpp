// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowScatter.cpp - Gradients of max pooling ------------------------===//
// Input:   a kernel noted as select_and_scatter (lowering/linalg/WindowScatter.h) whose last dimension has no window: channels.
// Output:  an iteration is a few vectors of channels at one place of the other dimensions without a window. It fills its part of
//          the result; then for each source element in row-major order it finds, per lane, which element of the window is selected,
//          and adds the source to that one. Elements outside of the operand are passed over by branches.
// Leaves alone windows along the last dimension, windows of many elements, unknown sizes.
//===----------------------------------------------------------------------===//
#include "lowering/linalg/WindowScatter.h"
#include "lowering/cpu/emitters/EmitterShell.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Code for each of them is written out.
constexpr int64_t kMostElements = 32;

class WindowScatterEmitter {
public:
  WindowScatterEmitter(func::FuncOp kernel, const WindowScatter &what, const KernelTarget &target)
      : kernel(kernel), what(what), target(target), loc(kernel.getLoc()) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void emit();
  void emitSource(OpBuilder &b, ArrayRef<Value> at);
  scf::ForOp loop(OpBuilder &b, int64_t size) {
    return scf::ForOp::create(b, loc, constant(0), constant(size), constant(1));
  }
  Value constant(int64_t value) {
    OpBuilder b(kernel.getContext());
    b.setInsertionPointToStart(&shell.getBody().front());
    Value &made = constants[value];
    return made ? made : made = arith::ConstantIndexOp::create(b, loc, value);
  }
  Value number(OpBuilder &b, TypedAttr attr) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(vectorType), ArrayRef<Attribute>{attr}));
  }
  Value add(OpBuilder &b, Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value times(OpBuilder &b, Value x, int64_t y) { return y == 1 ? x : arith::MulIOp::create(b, loc, x, constant(y)).getResult(); }
  Value load(OpBuilder &b, unsigned buffer, Value at);
  void store(OpBuilder &b, Value value, Value at);
  bool reachesOut(int64_t dim) const {
    return what.low[dim] > 0 || (sourceShape[dim] - 1) * what.strides[dim] + what.window[dim] - what.low[dim] > shape[dim];
  }

  func::FuncOp kernel;
  const WindowScatter &what;
  const KernelTarget &target;
  Location loc;
  std::string why;
  ArrayRef<int64_t> shape, sourceShape;
  SmallVector<int64_t> strides, sourceStrides, windowed, plain;
  Type element;
  VectorType vectorType, indexType;
  int64_t lanes = 1, perIteration = 1, blocks = 1;
  func::FuncOp shell;
  DenseMap<int64_t, Value> constants;
  Value base, sourceBase; ///< addresses of the iteration's channels
  Value mask;
};

LogicalResult WindowScatterEmitter::match() {
  auto type = cast<RankedTensorType>(kernel.getArgument(0).getType());
  auto source = cast<RankedTensorType>(kernel.getArgument(1).getType());
  shape = type.getShape();
  sourceShape = source.getShape();
  element = type.getElementType();
  if (type.getRank() < 2 || type.getNumElements() == 0 || source.getNumElements() == 0) {
    why = "no elements or no channels";
    return failure();
  }
  int64_t count = 1, rank = type.getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isPlain = what.window[dim] == 1 && what.strides[dim] == 1 && what.low[dim] == 0 && shape[dim] == sourceShape[dim];
    (isPlain ? plain : windowed).push_back(dim);
    count *= what.window[dim];
  }
  if (plain.empty() || plain.back() != rank - 1) {
    why = "a window along the last dimension";
    return failure();
  }
  if (count > kMostElements) {
    why = "a large window";
    return failure();
  }
  lanes = target.vectorBits / element.getIntOrFloatBitWidth();
  int64_t channels = shape.back();
  if (channels * 4 < lanes) {
    why = "fewer channels than a quarter of a vector";
    return failure();
  }
  perIteration = channels % (2 * lanes) == 0 ? 2 : 1;
  blocks = llvm::divideCeil(channels, lanes * perIteration);
  vectorType = VectorType::get({lanes}, element);
  indexType = VectorType::get({lanes}, IntegerType::get(kernel.getContext(), element.getIntOrFloatBitWidth()));
  auto rowMajor = [](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> result(sizes.size(), 1);
    for (int64_t dim = int64_t(sizes.size()) - 2; dim >= 0; --dim)
      result[dim] = result[dim + 1] * sizes[dim + 1];
    return result;
  };
  strides = rowMajor(shape);
  sourceStrides = rowMajor(sourceShape);
  return success();
}

Value WindowScatterEmitter::load(OpBuilder &b, unsigned buffer, Value at) {
  Value memory = shell.getArgument(buffer);
  if (!mask)
    return vector::LoadOp::create(b, loc, vectorType, memory, ValueRange{at});
  Value zero = number(b, cast<TypedAttr>(b.getZeroAttr(element)));
  return vector::MaskedLoadOp::create(b, loc, vectorType, memory, ValueRange{at}, mask, zero);
}

void WindowScatterEmitter::store(OpBuilder &b, Value value, Value at) {
  Value memory = shell.getArgument(2);
  if (mask)
    vector::MaskedStoreOp::create(b, loc, memory, ValueRange{at}, mask, value);
  else
    vector::StoreOp::create(b, loc, value, memory, ValueRange{at});
}

/// One source element, at `at` along the dimensions with a window.
void WindowScatterEmitter::emitSource(OpBuilder &b, ArrayRef<Value> at) {
  // Along each dimension: the part of the address, and whether the element exists (null: always).
  SmallVector<SmallVector<std::pair<Value, Value>>> places;
  Value from = sourceBase;
  for (auto [index, dim] : llvm::zip(at, windowed)) {
    from = add(b, from, times(b, index, sourceStrides[dim]));
    Value start = arith::SubIOp::create(b, loc, times(b, index, what.strides[dim]), constant(what.low[dim]));
    places.emplace_back();
    for (int64_t offset = 0; offset < what.window[dim]; ++offset) {
      Value place = add(b, start, constant(offset)), exists;
      if (reachesOut(dim)) // Unsigned: places before the first are large.
        exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, constant(shape[dim]));
      places.back().push_back({times(b, place, strides[dim]), exists});
    }
  }
  struct Element {
    Value address, exists;
  };
  SmallVector<Element> elements{{base, {}}};
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

  auto position = [&](OpBuilder &at, int64_t value) {
    auto type = cast<IntegerType>(indexType.getElementType());
    return arith::ConstantOp::create(at, loc, DenseElementsAttr::get(cast<ShapedType>(indexType),
                                                                     APInt(type.getWidth(), value, /*isSigned=*/true)))
        .getResult();
  };
  for (int64_t v = 0; v < perIteration; ++v) {
    Value best = number(b, cast<TypedAttr>(b.getZeroAttr(element))), chosen = position(b, -1);
    bool isFirst = true; // Nothing can be selected yet.
    for (auto [index, candidate] : llvm::enumerate(elements)) {
      int64_t number = index;
      Value address = candidate.address;
      auto step = [&](OpBuilder &in) -> SmallVector<Value> {
        Value x = load(in, 0, add(in, address, constant(v * lanes)));
        if (isFirst)
          return {x, position(in, number)};
        Value keep;
        if (isa<FloatType>(element)) {
          keep = arith::CmpFOp::create(in, loc, arith::CmpFPredicate::OGE, best, x);
          if (what.keepsNan)
            keep = arith::OrIOp::create(in, loc, keep, arith::CmpFOp::create(in, loc, arith::CmpFPredicate::UNO, best, best));
        } else {
          keep = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::sge, best, x);
        }
        Value found = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::sge, chosen, position(in, 0));
        keep = arith::AndIOp::create(in, loc, keep, found);
        return {arith::SelectOp::create(in, loc, keep, best, x), arith::SelectOp::create(in, loc, keep, chosen, position(in, number))};
      };
      if (!candidate.exists) {
        SmallVector<Value> next = step(b);
        best = next[0];
        chosen = next[1];
        isFirst = false;
        continue;
      }
      auto branch = scf::IfOp::create(b, loc, TypeRange{vectorType, indexType}, candidate.exists, /*withElseRegion=*/true);
      OpBuilder inside = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
      scf::YieldOp::create(inside, loc, step(inside));
      scf::YieldOp::create(otherwise, loc, ValueRange{best, chosen});
      best = branch.getResult(0);
      chosen = branch.getResult(1);
      isFirst = false;
    }
    Value source = load(b, 1, add(b, from, constant(v * lanes)));
    for (auto [index, candidate] : llvm::enumerate(elements)) {
      int64_t number = index;
      Value address = candidate.address;
      auto step = [&](OpBuilder &in) {
        Value to = add(in, address, constant(v * lanes));
        Value old = load(in, 2, to);
        Value sum = isa<FloatType>(element) ? arith::AddFOp::create(in, loc, old, source).getResult()
                                            : arith::AddIOp::create(in, loc, old, source).getResult();
        Value here = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::eq, chosen, position(in, number));
        store(in, arith::SelectOp::create(in, loc, here, sum, old), to);
      };
      if (!candidate.exists) {
        step(b);
        continue;
      }
      OpBuilder inside = scf::IfOp::create(b, loc, candidate.exists, /*withElseRegion=*/false).getThenBodyBuilder();
      step(inside);
    }
  }
}

void WindowScatterEmitter::emit() {
  KernelModel model; // the buffers only
  for (int64_t elements : {cast<ShapedType>(kernel.getArgument(0).getType()).getNumElements(),
                           cast<ShapedType>(kernel.getArgument(1).getType()).getNumElements(),
                           cast<ShapedType>(kernel.getArgument(0).getType()).getNumElements()}) {
    model.bufferElements.push_back(elements);
    model.bufferTypes.push_back(element);
  }
  shell = createShell(kernel, model);
  OpBuilder b(shell.getBody().front().getTerminator());
  auto units = scf::ForOp::create(b, loc, rangeBegin(shell), rangeEndArg(shell), constant(1));
  b.setInsertionPoint(units.getBody()->getTerminator());
  Value rest = units.getInductionVar();
  Value block = arith::RemUIOp::create(b, loc, rest, constant(blocks));
  rest = arith::DivUIOp::create(b, loc, rest, constant(blocks));
  Value channel = times(b, block, lanes * perIteration);
  base = sourceBase = channel;
  for (int64_t dim : llvm::reverse(ArrayRef(plain).drop_back())) {
    Value index = arith::RemUIOp::create(b, loc, rest, constant(shape[dim]));
    rest = arith::DivUIOp::create(b, loc, rest, constant(shape[dim]));
    base = add(b, base, times(b, index, strides[dim]));
    sourceBase = add(b, sourceBase, times(b, index, sourceStrides[dim]));
  }
  if (shape.back() % lanes) {
    Value left = arith::SubIOp::create(b, loc, constant(shape.back()), channel);
    mask = vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), ValueRange{left});
  }
  auto nest = [&](ArrayRef<int64_t> sizes, auto body) {
    OpBuilder inner = b;
    SmallVector<Value> at;
    for (int64_t dim : windowed) {
      scf::ForOp along = loop(inner, sizes[dim]);
      at.push_back(along.getInductionVar());
      inner.setInsertionPoint(along.getBody()->getTerminator());
    }
    body(inner, at);
  };
  nest(shape, [&](OpBuilder &in, ArrayRef<Value> at) {
    Value to = base;
    for (auto [index, dim] : llvm::zip(at, windowed))
      to = add(in, to, times(in, index, strides[dim]));
    for (int64_t v = 0; v < perIteration; ++v)
      store(in, number(in, what.init), add(in, to, constant(v * lanes)));
  });
  nest(sourceShape, [&](OpBuilder &in, ArrayRef<Value> at) { emitSource(in, at); });
}

FailureOr<EmittedKernel> WindowScatterEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "window scatter", why);
  emit();
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "window_scatter";
  out.rangeEnd = blocks;
  for (int64_t dim : ArrayRef(plain).drop_back())
    out.rangeEnd *= shape[dim];
  double sources = perIteration, window = 1;
  for (int64_t dim : windowed) {
    sources *= sourceShape[dim];
    window *= what.window[dim];
  }
  out.nanosPerIteration = sources * window * 8 / (1.5 * target.gigahertz);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitWindowScatter(func::FuncOp fn, const KernelTarget &target) {
  std::optional<WindowScatter> what = windowScatterOf(fn);
  if (!what)
    return failure();
  return WindowScatterEmitter(fn, *what, target).run();
}

} // namespace millrace::lowering
