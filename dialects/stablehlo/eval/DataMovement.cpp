// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovement.cpp - Constants, iota, and data movement ---------------===//
// Result shapes are computed from the operands' run-time shapes, so that dynamic dimensions need no special code.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

Tensor broadcastInDim(const Tensor &operand, ArrayRef<int64_t> dimensions, RankedTensorType type) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Shape strides = stridesOf(operand.getShape()), perDim(type.getRank(), 0);
  for (auto [i, d] : llvm::enumerate(dimensions))
    if (operand.dim(i) != 1) perDim[d] = strides[i];
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d) from += index[d] * perDim[d];
    std::memcpy(out + linear * width, operand.at(from), width);
  });
  return result;
}

Tensor sliceOf(const Tensor &operand, ArrayRef<int64_t> start, ArrayRef<int64_t> strides,
                               RankedTensorType type) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Shape operandStrides = stridesOf(operand.getShape());
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d) from += (start[d] + index[d] * strides[d]) * operandStrides[d];
    std::memcpy(out + linear * width, operand.at(from), width);
  });
  return result;
}

llvm::Expected<Tensor> padOf(const Call &call, const Tensor &operand, const Tensor &value,
                                             ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                                             ArrayRef<int64_t> interior) {
  Shape shape;
  size_t rank = operand.rank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return call.error("expects one padding per dimension");
  for (size_t d = 0; d < rank; ++d) {
    constexpr int64_t limit = int64_t(1) << 40;
    if (interior[d] < 0 || interior[d] > limit || std::abs(low[d]) > limit || std::abs(high[d]) > limit)
      return call.error("padding is out of range");
    int64_t size = low[d] + high[d] + operand.dim(d);
    if (operand.dim(d) > 1) size += (operand.dim(d) - 1) * interior[d];
    if (size < 0) return call.error("padding results in a negative size of dimension " + llvm::Twine(d));
    shape.push_back(size);
  }
  if (llvm::Error error = checkSize(call, shape, operand.getElementType())) return error;
  Tensor result = broadcastScalar(value, shape);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Shape strides = stridesOf(shape);
  forEachIndex(operand.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    int64_t to = 0;
    for (size_t d = 0; d < rank; ++d) {
      int64_t position = low[d] + index[d] * (interior[d] + 1);
      if (position < 0 || position >= shape[d]) return;
      to += position * strides[d];
    }
    std::memcpy(out + to * width, operand.at(linear), width);
  });
  return result;
}

Tensor iotaOf(RankedTensorType type, int64_t dimension) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Kind kind = result.kind();
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    int64_t value = index[dimension];
    char *p = out + linear * width;
    if (isInteger(kind)) storeInt(kind, p, value);
    else if (isFloat(kind)) storeLongFloat(kind, p, value);
    else storeComplex(kind, p, Complex(static_cast<double>(value), 0));
  });
  return result;
}

Tensor transposeOf(const Tensor &operand, ArrayRef<int64_t> permutation) {
  Shape shape, strides = stridesOf(operand.getShape()), perDim;
  for (int64_t d : permutation) {
    shape.push_back(operand.dim(d));
    perDim.push_back(strides[d]);
  }
  Tensor result(RankedTensorType::get(shape, operand.getElementType()));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t linear) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d) from += index[d] * perDim[d];
    std::memcpy(out + linear * width, operand.at(from), width);
  });
  return result;
}

Tensor concatenateOf(ArrayRef<const Tensor *> inputs, int64_t dimension, RankedTensorType type) {
  Tensor result(type);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Shape strides = stridesOf(type.getShape());
  int64_t offset = 0;
  for (const Tensor *input : inputs) {
    forEachIndex(input->getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
      int64_t to = offset * strides[dimension];
      for (size_t d = 0; d < index.size(); ++d) to += index[d] * strides[d];
      std::memcpy(out + to * width, input->at(linear), width);
    });
    offset += input->dim(dimension);
  }
  return result;
}

static int64_t intAttr(Call &call, StringRef name) { return call.op->getAttrOfType<IntegerAttr>(name).getInt(); }

static llvm::Error evalConstant(Call &call) {
  llvm::Expected<Tensor> value = call.interpreter.constant(call.op, call.op->getAttrOfType<ElementsAttr>("value"),
                                                           cast<RankedTensorType>(call.op->getResult(0).getType()));
  if (!value) return value.takeError();
  call.push(*value);
  return llvm::Error::success();
}

static llvm::Error evalIota(Call &call) {
  auto declared = cast<RankedTensorType>(call.op->getResult(0).getType());
  if (!declared.hasStaticShape()) return call.error("expects a static result shape");
  call.push(iotaOf(call.typeWith(declared.getShape()), intAttr(call, "iota_dimension")));
  return llvm::Error::success();
}

static llvm::Error evalBroadcast(Call &call) {
  const Tensor &x = call.in(0);
  Shape shape = intsOf(call.op, "broadcast_sizes"), dimensions;
  for (int64_t d = 0; d < x.rank(); ++d) dimensions.push_back(static_cast<int64_t>(shape.size()) + d);
  shape.append(x.getShape().begin(), x.getShape().end());
  if (llvm::Error error = checkSize(call, shape, x.getElementType())) return error;
  call.push(broadcastInDim(x, dimensions, call.typeWith(shape)));
  return llvm::Error::success();
}

static llvm::Error evalBroadcastInDim(Call &call) {
  const Tensor &x = call.in(0);
  auto declared = cast<RankedTensorType>(call.op->getResult(0).getType());
  Shape shape(declared.getShape()), dimensions = intsOf(call.op, "broadcast_dimensions");
  if (static_cast<int64_t>(dimensions.size()) != x.rank()) return call.error("expects one dimension per operand dimension");
  for (auto [i, d] : llvm::enumerate(dimensions)) {
    if (d < 0 || d >= static_cast<int64_t>(shape.size())) return call.error("broadcast dimension is out of range");
    // A bounded dynamic result dimension has the operand's run-time size.
    if (ShapedType::isDynamic(shape[d])) shape[d] = x.dim(i);
    if (x.dim(i) != 1 && x.dim(i) != shape[d])
      return call.error("cannot broadcast size " + llvm::Twine(x.dim(i)) + " to " + llvm::Twine(shape[d]));
  }
  if (llvm::is_contained(shape, ShapedType::kDynamic)) return call.error("expects a result shape known at run time");
  call.push(broadcastInDim(x, dimensions, call.typeWith(shape)));
  return llvm::Error::success();
}

static llvm::Error evalReshape(Call &call) {
  const Tensor &x = call.in(0);
  auto declared = cast<RankedTensorType>(call.op->getResult(0).getType());
  Shape shape(declared.getShape());
  // One unknown size follows from the others (bounded dynamic types).
  int64_t known = 1, unknown = 0;
  for (int64_t size : shape) ShapedType::isDynamic(size) ? ++unknown : known *= size;
  if (unknown == 1 && known > 0 && x.size() % known == 0)
    for (int64_t &size : shape) size = ShapedType::isDynamic(size) ? x.size() / known : size;
  else if (unknown) return call.error("expects a result shape known at run time");
  if (numElements(shape) != x.size())
    return call.error("expects " + llvm::Twine(x.size()) + " elements in the result, but got " + llvm::Twine(numElements(shape)));
  call.push(x.withType(call.typeWith(shape)));
  return llvm::Error::success();
}

static llvm::Error evalTranspose(Call &call) {
  Tensor result = transposeOf(call.in(0), intsOf(call.op, "permutation"));
  call.push(result.withType(call.typeWith(result.getShape())));
  return llvm::Error::success();
}

static llvm::Error evalSlice(Call &call) {
  const Tensor &x = call.in(0);
  Shape start = intsOf(call.op, "start_indices"), limit = intsOf(call.op, "limit_indices"),
        strides = intsOf(call.op, "strides"), shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (start[d] < 0 || limit[d] < start[d] || limit[d] > x.dim(d) || strides[d] < 1)
      return call.error("slice is out of bounds in dimension " + llvm::Twine(d));
    shape.push_back((limit[d] - start[d] + strides[d] - 1) / strides[d]);
  }
  call.push(sliceOf(x, start, strides, call.typeWith(shape)));
  return llvm::Error::success();
}

static llvm::Error evalPad(Call &call) {
  llvm::Expected<Tensor> result =
      padOf(call, call.in(0), call.in(1), intsOf(call.op, "edge_padding_low"), intsOf(call.op, "edge_padding_high"),
            intsOf(call.op, "interior_padding"));
  if (!result) return result.takeError();
  call.push(result->withType(call.typeWith(result->getShape())));
  return llvm::Error::success();
}

static llvm::Error evalConcatenate(Call &call) {
  int64_t dimension = intAttr(call, "dimension");
  Shape shape(call.in(0).getShape());
  SmallVector<const Tensor *> inputs;
  int64_t total = 0;
  for (unsigned i = 0; i < call.numInputs(); ++i) {
    const Tensor &input = call.in(i);
    for (int64_t d = 0; d < input.rank(); ++d)
      if (d != dimension && input.dim(d) != shape[d]) return call.error("expects inputs of equal size outside of the concatenated dimension");
    inputs.push_back(&input);
    total += input.dim(dimension);
  }
  shape[dimension] = total;
  call.push(concatenateOf(inputs, dimension, call.typeWith(shape)));
  return llvm::Error::success();
}

static llvm::Error evalReverse(Call &call) {
  const Tensor &x = call.in(0);
  Shape start(x.rank(), 0), strides(x.rank(), 1);
  for (int64_t d : intsOf(call.op, "dimensions")) {
    start[d] = x.dim(d) - 1;
    strides[d] = -1;
  }
  call.push(sliceOf(x, start, strides, call.typeWith(x.getShape())));
  return llvm::Error::success();
}

void addDataMovement(Dispatch &dispatch) {
  dispatch.add("stablehlo.constant", evalConstant);
  dispatch.add("stablehlo.iota", evalIota, Quantization::Expressed);
  dispatch.add("stablehlo.broadcast", evalBroadcast);
  dispatch.add("stablehlo.broadcast_in_dim", evalBroadcastInDim);
  dispatch.add("stablehlo.reshape", evalReshape);
  dispatch.add("stablehlo.transpose", evalTranspose);
  dispatch.add("stablehlo.slice", evalSlice);
  dispatch.add("stablehlo.pad", evalPad);
  dispatch.add("stablehlo.concatenate", evalConcatenate);
  dispatch.add("stablehlo.reverse", evalReverse);
}

} // namespace millrace::eval
