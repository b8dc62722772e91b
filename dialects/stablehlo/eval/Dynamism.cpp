// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dynamism.cpp - Operations whose shapes are operands ----------------===//
#include "dialects/stablehlo/eval/Interpreter.h"

using namespace mlir;

namespace millrace::eval {

namespace {

llvm::Error evalDynamicBroadcastInDim(Call &call) {
  const Tensor &x = call.in(0);
  Shape shape = toShape(call.in(1)), dimensions = intsOf(call.op, "broadcast_dimensions");
  if (llvm::Error error = checkSize(call, shape, x.getElementType())) return error;
  if (static_cast<int64_t>(dimensions.size()) != x.rank()) return call.error("expects one dimension per operand dimension");
  for (auto [i, d] : llvm::enumerate(dimensions))
    if (d < 0 || d >= static_cast<int64_t>(shape.size()) || (x.dim(i) != 1 && x.dim(i) != shape[d]))
      return call.error("cannot broadcast dimension " + llvm::Twine(i));
  call.push(broadcastInDim(x, dimensions, call.typeWith(shape)));
  return llvm::Error::success();
}

llvm::Error evalDynamicIota(Call &call) {
  Shape shape = toShape(call.in(0));
  if (llvm::Error error = checkSize(call, shape, call.resultElementType())) return error;
  int64_t dimension = call.op->getAttrOfType<IntegerAttr>("iota_dimension").getInt();
  if (dimension >= static_cast<int64_t>(shape.size())) return call.error("iota_dimension is out of range");
  call.push(iotaOf(call.typeWith(shape), dimension));
  return llvm::Error::success();
}

llvm::Error evalDynamicPad(Call &call) {
  llvm::Expected<Tensor> result =
      padOf(call, call.in(0), call.in(1), toShape(call.in(2)), toShape(call.in(3)), toShape(call.in(4)));
  if (!result) return result.takeError();
  call.push(result->withType(call.typeWith(result->getShape())));
  return llvm::Error::success();
}

llvm::Error evalDynamicReshape(Call &call) {
  const Tensor &x = call.in(0);
  Shape shape = toShape(call.in(1));
  if (llvm::Error error = checkSize(call, shape, x.getElementType())) return error;
  if (numElements(shape) != x.size())
    return call.error("expects " + llvm::Twine(x.size()) + " elements in the result, but got " + llvm::Twine(numElements(shape)));
  call.push(x.withType(call.typeWith(shape)));
  return llvm::Error::success();
}

llvm::Error evalGetDimensionSize(Call &call) {
  int64_t dimension = call.op->getAttrOfType<IntegerAttr>("dimension").getInt();
  if (dimension >= call.in(0).rank()) return call.error("dimension is out of range");
  call.push(Tensor::ofInts(call.typeWith({}), {call.in(0).dim(dimension)}));
  return llvm::Error::success();
}

/// Evaluates set_dimension_size: the result is a prefix of the operand with the new size along `dimension`.
llvm::Error evalSetDimensionSize(Call &call) {
  const Tensor &x = call.in(0);
  int64_t dimension = call.op->getAttrOfType<IntegerAttr>("dimension").getInt(), size = call.in(1).getInt(0);
  if (dimension >= x.rank()) return call.error("dimension is out of range");
  if (size < 0 || size > x.dim(dimension))
    return call.error("expects a size in [0, " + llvm::Twine(x.dim(dimension)) + "], but got " + llvm::Twine(size));
  Shape shape(x.getShape()), start(x.rank(), 0), ones(x.rank(), 1);
  shape[dimension] = size;
  call.push(sliceOf(x, start, ones, call.typeWith(shape)));
  return llvm::Error::success();
}

llvm::Error evalRealDynamicSlice(Call &call) {
  const Tensor &x = call.in(0);
  Shape start = toShape(call.in(1)), limit = toShape(call.in(2)), strides = toShape(call.in(3)), shape;
  if (static_cast<int64_t>(start.size()) != x.rank() || limit.size() != start.size() || strides.size() != start.size())
    return call.error("expects one index per dimension");
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (start[d] < 0 || limit[d] < start[d] || limit[d] > x.dim(d) || strides[d] < 1)
      return call.error("slice is out of bounds in dimension " + llvm::Twine(d));
    shape.push_back(limit[d] == start[d] ? 0 : (limit[d] - start[d] - 1) / strides[d] + 1);
  }
  call.push(sliceOf(x, start, strides, call.typeWith(shape)));
  return llvm::Error::success();
}

} // namespace

void addDynamism(Dispatch &dispatch) {
  dispatch.add("stablehlo.dynamic_broadcast_in_dim", evalDynamicBroadcastInDim);
  dispatch.add("stablehlo.dynamic_iota", evalDynamicIota, Quantization::Expressed);
  dispatch.add("stablehlo.dynamic_pad", evalDynamicPad);
  dispatch.add("stablehlo.dynamic_reshape", evalDynamicReshape);
  dispatch.add("stablehlo.get_dimension_size", evalGetDimensionSize);
  dispatch.add("stablehlo.set_dimension_size", evalSetDimensionSize);
  dispatch.add("stablehlo.real_dynamic_slice", evalRealDynamicSlice);
}

} // namespace millrace::eval
