// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Window.cpp - reduce_window, select_and_scatter ---------------------===//
// As the specification says, padding and the holes of base dilation take part in a window reduction with the initial value; select_and_scatter
// ignores them.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

/// Returns the number of windows in one dimension of `size` elements with the padding.
static int64_t numWindows(int64_t size, int64_t window, int64_t stride) { return size <= 0 || window > size ? 0 : (size - window) / stride + 1; }

static llvm::Error evalReduceWindow(Call &call) {
  unsigned count = call.numInputs() / 2;
  const Tensor &first = call.in(0);
  size_t rank = first.rank();
  Shape ones(rank, 1), window = intsOf(call.op, "window_dimensions", ones), strides = intsOf(call.op, "window_strides", ones),
        baseDilations = intsOf(call.op, "base_dilations", ones), windowDilations = intsOf(call.op, "window_dilations", ones);
  SmallVector<std::pair<int64_t, int64_t>> padding = pairsOf(call.op, "padding", rank);
  if (window.size() != rank || strides.size() != rank || padding.size() != rank) return call.error("expects one window size per dimension");

  Shape shape, padded;
  for (size_t d = 0; d < rank; ++d) {
    if (strides[d] < 1 || baseDilations[d] < 1 || windowDilations[d] < 1 || window[d] < 1) return call.error("expects positive window parameters");
    int64_t size = (first.dim(d) == 0 ? 0 : (first.dim(d) - 1) * baseDilations[d] + 1) + padding[d].first + padding[d].second;
    int64_t dilatedWindow = (window[d] - 1) * windowDilations[d] + 1;
    padded.push_back(size);
    shape.push_back(numWindows(size, dilatedWindow, strides[d]));
  }
  Body body(call, call.op->getRegion(0));
  SmallVector<RankedTensorType> scalars;
  SmallVector<Tensor> inputs, initial, outputs;
  for (unsigned i = 0; i < count; ++i) {
    if (call.in(i).getShape() != first.getShape()) return call.error("expects inputs of one shape");
    if (llvm::Error error = checkSize(call, shape, call.resultElementType(i))) return error;
    RankedTensorType scalar = RankedTensorType::get({}, call.resultElementType(i));
    scalars.push_back(scalar);
    inputs.push_back(convertTo(call.in(i), RankedTensorType::get(first.getShape(), scalar.getElementType())));
    initial.push_back(convertTo(call.in(count + i), scalar));
    outputs.push_back(Tensor(call.typeWith(shape, i)));
  }
  Shape inputStrides = stridesOf(first.getShape());
  Kind kind = outputs[0].kind();
  Operation *simple = count == 1 ? body.singleBinaryOp() : nullptr;
  IntBinary ofInt = simple && isInteger(kind) ? intBinaryOf(simple) : nullptr;
  FloatBinary ofFloat = simple && isFloat(kind) ? floatBinaryOf(simple) : nullptr;
  Ints intLanes = ofInt ? inputs[0].ints() : Ints();
  Floats floatLanes = ofFloat ? inputs[0].floats() : Floats();
  int64_t windowCount = numElements(window);
  llvm::Error failure = llvm::Error::success();
  SmallVector<Value, 4> accumulators, arguments, results;
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t linear) {
    if (failure) return;
    int64_t intSum = ofInt ? initial[0].getInt(0) : 0;
    double floatSum = ofFloat ? initial[0].getFloat(0) : 0;
    accumulators.clear();
    for (unsigned i = 0; i < count; ++i) accumulators.push_back(initial[i]);
    Shape at(rank, 0);
    for (int64_t n = 0; n < windowCount; ++n, nextIndex(at, window)) {
      int64_t from = 0;
      bool real = true;
      for (size_t d = 0; d < rank; ++d) {
        int64_t position = index[d] * strides[d] + at[d] * windowDilations[d] - padding[d].first;
        if (position < 0 || position % baseDilations[d] || position / baseDilations[d] >= first.dim(d)) {
          real = false;
          break;
        }
        from += position / baseDilations[d] * inputStrides[d];
      }
      if (ofInt) {
        intSum = wrapInt(kind, ofInt(kind, intSum, real ? intLanes[from] : initial[0].getInt(0)));
        continue;
      }
      if (ofFloat) {
        floatSum = roundFloat(kind, ofFloat(floatSum, real ? floatLanes[from] : initial[0].getFloat(0)));
        continue;
      }
      arguments.assign(accumulators.begin(), accumulators.end());
      for (unsigned i = 0; i < count; ++i) arguments.push_back(real ? inputs[i].element(from, scalars[i]) : initial[i]);
      if (llvm::Error error = body(arguments, results)) {
        llvm::consumeError(std::move(failure));
        failure = std::move(error);
        return;
      }
      accumulators.assign(results.begin(), results.end());
    }
    for (unsigned i = 0; i < count; ++i) {
      unsigned width = outputs[i].elementBytes();
      char *out = outputs[i].mutableData() + linear * width;
      if (ofInt) storeInt(kind, out, intSum);
      else if (ofFloat) storeFloat(kind, out, floatSum);
      else std::memcpy(out, accumulators[i].tensor().data(), width);
    }
  });
  if (failure) return failure;
  for (Tensor &output : outputs) call.push(std::move(output));
  return llvm::Error::success();
}

static llvm::Error evalSelectAndScatter(Call &call) {
  const Tensor &operand = call.in(0), &source = call.in(1), &initial = call.in(2);
  size_t rank = operand.rank();
  Shape ones(rank, 1), window = intsOf(call.op, "window_dimensions", ones), strides = intsOf(call.op, "window_strides", ones);
  SmallVector<std::pair<int64_t, int64_t>> padding = pairsOf(call.op, "padding", rank);
  if (window.size() != rank || strides.size() != rank || padding.size() != rank) return call.error("expects one window size per dimension");
  Shape windows;
  for (size_t d = 0; d < rank; ++d) {
    if (strides[d] < 1 || window[d] < 1) return call.error("expects positive window parameters");
    windows.push_back(numWindows(operand.dim(d) + padding[d].first + padding[d].second, window[d], strides[d]));
  }
  if (source.getShape() != llvm::ArrayRef(windows))
    return call.error("expects a source of type " + toString(source.getType().clone(windows)) + ", one element for each window, but got " + toString(source.getType()));
  RankedTensorType operandScalar = RankedTensorType::get({}, operand.getElementType());
  RankedTensorType resultScalar = RankedTensorType::get({}, call.resultElementType());
  Tensor result = broadcastScalar(convertTo(initial, resultScalar), operand.getShape());
  Body select(call, call.op->getRegion(0)), scatter(call, call.op->getRegion(1));
  Shape operandStrides = stridesOf(operand.getShape());
  unsigned width = result.elementBytes();
  int64_t windowCount = numElements(window);
  llvm::Error failure = llvm::Error::success();
  SmallVector<Value, 4> results;
  auto run = [&](Body &body, Value a, Value b) {
    Value arguments[] = {std::move(a), std::move(b)};
    if (llvm::Error error = body(arguments, results)) {
      llvm::consumeError(std::move(failure));
      failure = std::move(error);
      return false;
    }
    return true;
  };
  forEachIndex(source.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    if (failure) return;
    int64_t selected = -1;
    Shape at(rank, 0);
    for (int64_t n = 0; n < windowCount; ++n, nextIndex(at, window)) {
      int64_t from = 0;
      bool real = true;
      for (size_t d = 0; d < rank && real; ++d) {
        int64_t position = index[d] * strides[d] + at[d] - padding[d].first;
        real = position >= 0 && position < operand.dim(d);
        from += position * operandStrides[d];
      }
      if (!real) continue;
      if (selected < 0) {
        selected = from;
        continue;
      }
      if (!run(select, operand.element(selected, operandScalar), operand.element(from, operandScalar))) return;
      if (!results[0].tensor().getInt(0)) selected = from;
    }
    if (selected < 0) return;
    Tensor update = convertTo(source.element(linear, RankedTensorType::get({}, source.getElementType())), resultScalar);
    if (!run(scatter, result.element(selected, resultScalar), update)) return;
    std::memcpy(result.mutableData() + selected * width, results[0].tensor().data(), width);
  });
  if (failure) return failure;
  call.push(result.withType(call.typeWith(result.getShape())));
  return llvm::Error::success();
}

void addWindow(Dispatch &dispatch) {
  dispatch.add("stablehlo.reduce_window", evalReduceWindow);
  dispatch.add("stablehlo.select_and_scatter", evalSelectAndScatter);
}

} // namespace millrace::eval
