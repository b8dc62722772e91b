// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduction.cpp - reduce, map, sort ----------------------------------===//
// Reductions run in index order, from the initial value, rounding after each step as the body does.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

/// Evaluates a variadic reduction over N tensors; the accumulators have the element types of the body's arguments.
static llvm::Error evalReduce(Call &call) {
  unsigned count = call.numInputs() / 2;
  Shape dimensions = intsOf(call.op, "dimensions"), shape, kept;
  const Tensor &first = call.in(0);
  for (int64_t d = 0; d < first.rank(); ++d)
    if (!llvm::is_contained(dimensions, d)) {
      kept.push_back(d);
      shape.push_back(first.dim(d));
    }
  Body body(call, call.op->getRegion(0));
  SmallVector<RankedTensorType> scalars;
  SmallVector<Tensor> inputs, accumulators;
  for (unsigned i = 0; i < count; ++i) {
    if (call.in(i).getShape() != first.getShape()) return call.error("expects inputs of one shape");
    RankedTensorType scalar = RankedTensorType::get({}, call.resultElementType(i));
    scalars.push_back(scalar);
    inputs.push_back(convertTo(call.in(i), RankedTensorType::get(first.getShape(), scalar.getElementType())));
    accumulators.push_back(broadcastScalar(convertTo(call.in(count + i), scalar), shape));
  }

  // The strides by which each input element finds its accumulator.
  Shape outStrides = stridesOf(shape), perDim(first.rank(), 0);
  for (auto [k, d] : llvm::enumerate(kept)) perDim[d] = outStrides[k];
  auto target = [&](ArrayRef<int64_t> index) {
    int64_t to = 0;
    for (size_t d = 0; d < index.size(); ++d) to += index[d] * perDim[d];
    return to;
  };

  Operation *simple = count == 1 ? body.singleBinaryOp() : nullptr;
  Kind kind = accumulators[0].kind();
  IntBinary ofInt = simple && isInteger(kind) ? intBinaryOf(simple) : nullptr;
  FloatBinary ofFloat = simple && isFloat(kind) ? floatBinaryOf(simple) : nullptr;
  llvm::Error failure = llvm::Error::success();
  if (ofInt) {
    Ints lanes = accumulators[0].ints(), values = inputs[0].ints();
    forEachIndex(first.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
      int64_t &lane = lanes[target(index)];
      lane = wrapInt(kind, ofInt(kind, lane, values[linear]));
    });
    call.push(Tensor::ofInts(call.typeWith(shape), lanes));
    return llvm::Error::success();
  }
  if (ofFloat) {
    Floats lanes = accumulators[0].floats(), values = inputs[0].floats();
    forEachIndex(first.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
      double &lane = lanes[target(index)];
      lane = roundFloat(kind, ofFloat(lane, values[linear]));
    });
    call.push(Tensor::ofFloats(call.typeWith(shape), lanes));
    return llvm::Error::success();
  }
  SmallVector<Value, 4> arguments, results;
  forEachIndex(first.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    if (failure) return;
    int64_t to = target(index);
    arguments.clear();
    for (unsigned i = 0; i < count; ++i) arguments.push_back(accumulators[i].element(to, scalars[i]));
    for (unsigned i = 0; i < count; ++i) arguments.push_back(inputs[i].element(linear, scalars[i]));
    if (llvm::Error error = body(arguments, results)) {
      llvm::consumeError(std::move(failure));
      failure = std::move(error);
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      unsigned width = accumulators[i].elementBytes();
      std::memcpy(accumulators[i].mutableData() + to * width, results[i].tensor().data(), width);
    }
  });
  if (failure) return failure;
  for (unsigned i = 0; i < count; ++i) call.push(accumulators[i].withType(call.typeWith(shape, i)));
  return llvm::Error::success();
}

static llvm::Error evalMap(Call &call) {
  const Tensor &first = call.in(0);
  for (unsigned i = 1; i < call.numInputs(); ++i)
    if (call.in(i).getShape() != first.getShape()) return call.error("expects inputs of one shape");
  Body body(call, call.op->getRegion(0));
  Tensor result(call.typeWith(first.getShape()));
  unsigned width = result.elementBytes();
  SmallVector<RankedTensorType> scalars;
  for (unsigned i = 0; i < call.numInputs(); ++i) scalars.push_back(RankedTensorType::get({}, call.in(i).getElementType()));
  SmallVector<Value, 4> arguments, results;
  for (int64_t linear = 0; linear < result.size(); ++linear) {
    arguments.clear();
    for (unsigned i = 0; i < call.numInputs(); ++i) arguments.push_back(call.in(i).element(linear, scalars[i]));
    if (llvm::Error error = body(arguments, results)) return error;
    if (results[0].tensor().kind() != result.kind()) return call.error("body gives another element type");
    std::memcpy(result.mutableData() + linear * width, results[0].tensor().data(), width);
  }
  call.push(std::move(result));
  return llvm::Error::success();
}

/// A stable merge sort. `before` is the program's comparator and may be no order, so that no algorithm of std may be used.
static void mergeSort(MutableArrayRef<int64_t> order, llvm::function_ref<bool(int64_t, int64_t)> before) {
  if (order.size() < 2) return;
  size_t half = order.size() / 2;
  mergeSort(order.take_front(half), before);
  mergeSort(order.drop_front(half), before);
  SmallVector<int64_t> merged;
  merged.reserve(order.size());
  size_t i = 0, j = half;
  while (i < half && j < order.size()) merged.push_back(before(order[j], order[i]) ? order[j++] : order[i++]);
  while (i < half) merged.push_back(order[i++]);
  while (j < order.size()) merged.push_back(order[j++]);
  llvm::copy(merged, order.begin());
}

static llvm::Error evalSort(Call &call) {
  unsigned count = call.numInputs();
  const Tensor &first = call.in(0);
  auto dimensionAttr = call.op->getAttrOfType<IntegerAttr>("dimension");
  int64_t dimension = dimensionAttr ? dimensionAttr.getInt() : -1, rank = first.rank();
  if (dimension < 0) dimension += rank;
  SmallVector<Tensor> outputs;
  SmallVector<RankedTensorType> scalars;
  for (unsigned i = 0; i < count; ++i) {
    if (call.in(i).getShape() != first.getShape()) return call.error("expects inputs of one shape");
    outputs.push_back(call.in(i).withType(call.typeWith(first.getShape(), i)));
    scalars.push_back(RankedTensorType::get({}, call.in(i).getElementType()));
  }
  if (rank == 0) {
    for (Tensor &output : outputs) call.push(std::move(output));
    return llvm::Error::success();
  }
  if (dimension < 0 || dimension >= rank) return call.error("dimension is out of range");
  Body body(call, call.op->getRegion(0));
  int64_t length = first.dim(dimension), stride = stridesOf(first.getShape())[dimension];
  Shape outer(first.getShape());
  outer[dimension] = length ? 1 : 0;
  Shape strides = stridesOf(first.getShape());
  llvm::Error failure = llvm::Error::success();
  SmallVector<Value, 4> arguments, results;
  forEachIndex(outer, [&](ArrayRef<int64_t> index, int64_t) {
    if (failure) return;
    int64_t base = 0;
    for (int64_t d = 0; d < rank; ++d) base += index[d] * strides[d];
    // The scalars of this row are made once, instead of per comparison.
    SmallVector<SmallVector<Value>> elements(count);
    for (unsigned i = 0; i < count; ++i)
      for (int64_t k = 0; k < length; ++k) elements[i].push_back(call.in(i).element(base + k * stride, scalars[i]));
    SmallVector<int64_t> order;
    for (int64_t k = 0; k < length; ++k) order.push_back(k);
    mergeSort(order, [&](int64_t a, int64_t b) {
      if (failure) return false;
      arguments.clear();
      for (unsigned i = 0; i < count; ++i) {
        arguments.push_back(elements[i][a]);
        arguments.push_back(elements[i][b]);
      }
      if (llvm::Error error = body(arguments, results)) {
        llvm::consumeError(std::move(failure));
        failure = std::move(error);
        return false;
      }
      return results[0].tensor().getInt(0) != 0;
    });
    for (unsigned i = 0; i < count; ++i) {
      unsigned width = outputs[i].elementBytes();
      char *out = outputs[i].mutableData();
      for (int64_t k = 0; k < length; ++k)
        std::memcpy(out + (base + k * stride) * width, elements[i][order[k]].tensor().data(), width);
    }
  });
  if (failure) return failure;
  for (Tensor &output : outputs) call.push(std::move(output));
  return llvm::Error::success();
}

void addReduction(Dispatch &dispatch) {
  dispatch.add("stablehlo.reduce", evalReduce);
  dispatch.add("stablehlo.map", evalMap);
  dispatch.add("stablehlo.sort", evalSort);
}

} // namespace millrace::eval
