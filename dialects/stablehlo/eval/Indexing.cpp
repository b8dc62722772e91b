// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Indexing.cpp - gather, scatter, dynamic slices ---------------------===//
// Start indices of slices and gathers are clamped so that the slice fits. Of a scatter update whose window does not fit, the elements out of bounds
// are skipped.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

/// Reads an index as int64_t; ui64 values beyond the range become the largest.
static int64_t readIndex(const Tensor &tensor, int64_t linear) {
  int64_t value = tensor.getInt(linear);
  return tensor.kind() == Kind::U64 && value < 0 ? std::numeric_limits<int64_t>::max() : value;
}

static int64_t clampIndex(int64_t value, int64_t limit) { return std::min(std::max<int64_t>(value, 0), limit); }

static llvm::Error evalDynamicSlice(Call &call) {
  const Tensor &x = call.in(0);
  Shape sizes = intsOf(call.op, "slice_sizes"), start, strides(x.rank(), 1);
  if (static_cast<int64_t>(sizes.size()) != x.rank() || call.numInputs() != sizes.size() + 1)
    return call.error("expects one start index and one size per dimension");
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (sizes[d] < 0 || sizes[d] > x.dim(d)) return call.error("slice size is larger than dimension " + llvm::Twine(d));
    start.push_back(clampIndex(readIndex(call.in(d + 1), 0), x.dim(d) - sizes[d]));
  }
  call.push(sliceOf(x, start, strides, call.typeWith(sizes)));
  return llvm::Error::success();
}

static llvm::Error evalDynamicUpdateSlice(Call &call) {
  const Tensor &x = call.in(0), &update = call.in(1);
  if (update.rank() != x.rank() || call.numInputs() != static_cast<unsigned>(x.rank()) + 2)
    return call.error("expects one start index per dimension");
  Shape start, strides = stridesOf(x.getShape());
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (update.dim(d) > x.dim(d)) return call.error("update is larger than dimension " + llvm::Twine(d));
    start.push_back(clampIndex(readIndex(call.in(d + 2), 0), x.dim(d) - update.dim(d)));
  }
  Tensor result = x.withType(call.typeWith(x.getShape()));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  forEachIndex(update.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    int64_t to = 0;
    for (size_t d = 0; d < index.size(); ++d) to += (start[d] + index[d]) * strides[d];
    std::memcpy(out + to * width, update.at(linear), width);
  });
  call.push(std::move(result));
  return llvm::Error::success();
}

/// Returns the index vector at batch position `batch` of `indices`: the elements along `indexVectorDim` there.
static Shape indexVector(const Tensor &indices, ArrayRef<int64_t> batch, int64_t indexVectorDim, size_t count) {
  Shape strides = stridesOf(indices.getShape()), vector;
  int64_t base = 0;
  for (int64_t d = 0, b = 0; d < indices.rank(); ++d)
    if (d != indexVectorDim) base += batch[b++] * strides[d];
  for (size_t k = 0; k < count; ++k)
    vector.push_back(readIndex(indices, base + (indexVectorDim < indices.rank() ? static_cast<int64_t>(k) * strides[indexVectorDim] : 0)));
  return vector;
}

/// Compares what the verifier cannot compare where types leave sizes open: the number of indices, and the sizes of batching dimensions.
llvm::Error checkIndices(Call &call, const Tensor &operand, const Tensor &indices, int64_t indexVectorDim, size_t count, ArrayRef<int64_t> batching,
                         ArrayRef<int64_t> indicesBatching) {
  if (indexVectorDim < indices.rank() && indices.dim(indexVectorDim) != static_cast<int64_t>(count))
    return call.error("expects " + llvm::Twine(count) + " indices in dimension " + llvm::Twine(indexVectorDim) + ", but got " +
                      llvm::Twine(indices.dim(indexVectorDim)));
  for (auto [mine, other] : llvm::zip_equal(batching, indicesBatching))
    if (operand.dim(mine) != indices.dim(other)) return call.error("expects batching dimensions of equal size");
  return llvm::Error::success();
}

llvm::Error evalGather(Call &call, ArrayRef<int64_t> sliceSizes) {
  const Tensor &operand = call.in(0), &indices = call.in(1);
  auto numbers = call.op->getAttrOfType<stablehlo::GatherDimensionNumbersAttr>("dimension_numbers");
  ArrayRef<int64_t> offsetDims = numbers.getOffsetDims(), collapsed = numbers.getCollapsedSliceDims(),
                    operandBatching = numbers.getOperandBatchingDims(),
                    indicesBatching = numbers.getStartIndicesBatchingDims(), startIndexMap = numbers.getStartIndexMap();
  int64_t indexVectorDim = numbers.getIndexVectorDim();
  if (static_cast<int64_t>(sliceSizes.size()) != operand.rank()) return call.error("expects one slice size per operand dimension");
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (sliceSizes[d] < 0 || sliceSizes[d] > operand.dim(d)) return call.error("slice size is out of range in dimension " + llvm::Twine(d));

  if (llvm::Error error = checkIndices(call, operand, indices, indexVectorDim, startIndexMap.size(), operandBatching, indicesBatching)) return error;

  Shape batchSizes, offsetSizes, shape;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != indexVectorDim) batchSizes.push_back(indices.dim(d));
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (!llvm::is_contained(collapsed, d) && !llvm::is_contained(operandBatching, d)) offsetSizes.push_back(sliceSizes[d]);
  if (offsetSizes.size() != offsetDims.size()) return call.error("expects one offset dimension per kept slice dimension");
  size_t nextBatch = 0, nextOffset = 0;
  for (size_t d = 0, e = batchSizes.size() + offsetSizes.size(); d < e; ++d)
    shape.push_back(llvm::is_contained(offsetDims, static_cast<int64_t>(d)) ? offsetSizes[nextOffset++] : batchSizes[nextBatch++]);
  if (llvm::Error error = checkSize(call, shape, operand.getElementType())) return error;
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (sliceSizes[d] != 1 && (llvm::is_contained(collapsed, d) || llvm::is_contained(operandBatching, d)) && !llvm::is_contained(shape, 0))
      return call.error("expects a slice of one element in collapsed or batching dimension " + llvm::Twine(d));

  Tensor result(call.typeWith(shape));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Shape strides = stridesOf(operand.getShape());
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t linear) {
    Shape batch, offset;
    for (size_t d = 0; d < index.size(); ++d)
      (llvm::is_contained(offsetDims, static_cast<int64_t>(d)) ? offset : batch).push_back(index[d]);
    Shape start = indexVector(indices, batch, indexVectorDim, startIndexMap.size());
    Shape position(operand.rank(), 0);
    for (auto [k, d] : llvm::enumerate(startIndexMap)) position[d] = clampIndex(start[k], operand.dim(d) - sliceSizes[d]);
    for (auto [k, d] : llvm::enumerate(operandBatching))
      position[d] = batch[indicesBatching[k] - (indicesBatching[k] < indexVectorDim ? 0 : 1)];
    size_t next = 0;
    int64_t from = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (!llvm::is_contained(collapsed, d) && !llvm::is_contained(operandBatching, d)) position[d] += offset[next++];
      from += position[d] * strides[d];
    }
    std::memcpy(out + linear * width, operand.at(from), width);
  });
  call.push(std::move(result));
  return llvm::Error::success();
}

static llvm::Error evalStaticGather(Call &call) { return evalGather(call, intsOf(call.op, "slice_sizes")); }

static llvm::Error evalDynamicGather(Call &call) { return evalGather(call, toShape(call.in(2))); }

static llvm::Error evalScatter(Call &call) {
  unsigned count = (call.numInputs() - 1) / 2;
  const Tensor &indices = call.in(count);
  auto numbers = call.op->getAttrOfType<stablehlo::ScatterDimensionNumbersAttr>("scatter_dimension_numbers");
  ArrayRef<int64_t> windowDims = numbers.getUpdateWindowDims(), inserted = numbers.getInsertedWindowDims(),
                    inputBatching = numbers.getInputBatchingDims(),
                    indicesBatching = numbers.getScatterIndicesBatchingDims(),
                    toOperand = numbers.getScatterDimsToOperandDims();
  int64_t indexVectorDim = numbers.getIndexVectorDim();
  if (llvm::Error error = checkIndices(call, call.in(0), indices, indexVectorDim, toOperand.size(), inputBatching, indicesBatching)) return error;
  Shape windowSizes, batchSizes; // the greatest of a window, and those of what is left
  for (int64_t d = 0; d < call.in(0).rank(); ++d)
    if (!llvm::is_contained(inserted, d) && !llvm::is_contained(inputBatching, d)) windowSizes.push_back(call.in(0).dim(d));
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != indexVectorDim) batchSizes.push_back(indices.dim(d));
  for (unsigned i = count + 1; i < call.numInputs(); ++i)
    for (int64_t d = 0, ofWindow = 0, ofBatch = 0; d < call.in(i).rank(); ++d) {
      bool isWindow = llvm::is_contained(windowDims, d);
      if (isWindow ? call.in(i).dim(d) > windowSizes[ofWindow++] : call.in(i).dim(d) != batchSizes[ofBatch++])
        return call.error("expects updates of the size of the indices and windows, but got " + llvm::Twine(call.in(i).dim(d)) + " in dimension " +
                          llvm::Twine(d));
    }

  SmallVector<Tensor> outputs;
  SmallVector<RankedTensorType> scalars;
  for (unsigned i = 0; i < count; ++i) {
    outputs.push_back(call.in(i));
    scalars.push_back(RankedTensorType::get({}, call.in(i).getElementType()));
  }
  Body body(call, call.op->getRegion(0));
  // The computation may use a wider type than the inputs; results then have that type.
  for (unsigned i = 0; i < count; ++i) {
    RankedTensorType type = body.argumentType(i);
    if (type && type.getElementType() != outputs[i].getElementType())
      outputs[i] = convertTo(outputs[i], RankedTensorType::get(outputs[i].getShape(), type.getElementType()));
    scalars[i] = RankedTensorType::get({}, outputs[i].getElementType());
  }
  const Tensor &firstUpdate = call.in(count + 1);
  Shape inputShape(call.in(0).getShape()), strides = stridesOf(inputShape);
  Operation *simple = count == 1 ? body.singleBinaryOp() : nullptr;
  IntBinary simpleInt = simple && isInteger(outputs[0].kind()) ? intBinaryOf(simple) : nullptr;
  FloatBinary simpleFloat = simple && isFloat(outputs[0].kind()) ? floatBinaryOf(simple) : nullptr;
  bool sameType = firstUpdate.kind() == outputs[0].kind();

  llvm::Error failure = llvm::Error::success();
  forEachIndex(firstUpdate.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    if (failure) return;
    Shape batch, window;
    for (size_t d = 0; d < index.size(); ++d)
      (llvm::is_contained(windowDims, static_cast<int64_t>(d)) ? window : batch).push_back(index[d]);
    Shape start = indexVector(indices, batch, indexVectorDim, toOperand.size());
    Shape position(inputShape.size(), 0);
    for (auto [k, d] : llvm::enumerate(toOperand)) position[d] = start[k];
    for (auto [k, d] : llvm::enumerate(inputBatching))
      position[d] = batch[indicesBatching[k] - (indicesBatching[k] < indexVectorDim ? 0 : 1)];
    size_t next = 0;
    int64_t to = 0;
    for (size_t d = 0; d < inputShape.size(); ++d) {
      int64_t offset = llvm::is_contained(inserted, static_cast<int64_t>(d)) || llvm::is_contained(inputBatching, static_cast<int64_t>(d)) ? 0 : window[next++];
      // Compared without an addition, because start indices may be close to the limits of int64_t.
      if (position[d] < -offset || position[d] >= inputShape[d] - offset) return;
      to += (position[d] + offset) * strides[d];
    }
    if (simpleInt && sameType) {
      Tensor &out = outputs[0];
      Kind kind = out.kind();
      storeInt(kind, out.mutableData() + to * out.elementBytes(), simpleInt(kind, out.getInt(to), firstUpdate.getInt(linear)));
      return;
    }
    if (simpleFloat && sameType) {
      Tensor &out = outputs[0];
      storeFloat(out.kind(), out.mutableData() + to * out.elementBytes(), simpleFloat(out.getFloat(to), firstUpdate.getFloat(linear)));
      return;
    }
    SmallVector<Value, 4> arguments, results;
    for (unsigned i = 0; i < count; ++i) arguments.push_back(outputs[i].element(to, scalars[i]));
    for (unsigned i = 0; i < count; ++i) {
      const Tensor &update = call.in(count + 1 + i);
      Tensor element = update.element(linear, RankedTensorType::get({}, update.getElementType()));
      arguments.push_back(convertTo(element, scalars[i]));
    }
    if (llvm::Error error = body(arguments, results)) {
      llvm::consumeError(std::move(failure));
      failure = std::move(error);
      return;
    }
    for (unsigned i = 0; i < count; ++i)
      std::memcpy(outputs[i].mutableData() + to * outputs[i].elementBytes(), results[i].tensor().data(), outputs[i].elementBytes());
  });
  if (failure) return failure;
  for (unsigned i = 0; i < count; ++i) call.push(outputs[i].withType(call.typeWith(outputs[i].getShape(), i)));
  return llvm::Error::success();
}

/// result = operand[..., index[...], ...]: batch dimensions, then the operand's, the index' and the operand's rest.
static llvm::Error evalTorchIndexSelect(Call &call) {
  const Tensor &operand = call.in(0), &index = call.in(1);
  int64_t dim = call.op->getAttrOfType<IntegerAttr>("dim").getInt();
  int64_t batchDims = call.op->getAttrOfType<IntegerAttr>("batch_dims").getInt();
  if (dim < 0) dim += operand.rank();
  if (batchDims < 0) batchDims += index.rank();
  if (dim < 0 || dim >= operand.rank() || batchDims < 0 || batchDims > dim || batchDims > index.rank())
    return call.error("dim or batch_dims is out of range");
  Shape shape;
  for (int64_t d = 0; d < dim; ++d) shape.push_back(operand.dim(d));
  for (int64_t d = batchDims; d < index.rank(); ++d) shape.push_back(index.dim(d));
  for (int64_t d = dim + 1; d < operand.rank(); ++d) shape.push_back(operand.dim(d));
  if (llvm::Error error = checkSize(call, shape, operand.getElementType())) return error;
  Tensor result(call.typeWith(shape));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Shape operandStrides = stridesOf(operand.getShape()), indexStrides = stridesOf(index.getShape());
  int64_t indexDims = index.rank() - batchDims;
  forEachIndex(shape, [&](ArrayRef<int64_t> at, int64_t linear) {
    int64_t select = 0, from = 0;
    for (int64_t d = 0; d < batchDims; ++d) select += at[d] * indexStrides[d];
    for (int64_t d = 0; d < indexDims; ++d) select += at[dim + d] * indexStrides[batchDims + d];
    for (int64_t d = 0; d < dim; ++d) from += at[d] * operandStrides[d];
    from += clampIndex(readIndex(index, select), operand.dim(dim) - 1) * operandStrides[dim];
    for (int64_t d = dim + 1; d < operand.rank(); ++d) from += at[d - 1 + indexDims] * operandStrides[d];
    std::memcpy(out + linear * width, operand.at(from), width);
  });
  call.push(std::move(result));
  return llvm::Error::success();
}

void addIndexing(Dispatch &dispatch) {
  dispatch.add("stablehlo.dynamic_slice", evalDynamicSlice);
  dispatch.add("stablehlo.dynamic_update_slice", evalDynamicUpdateSlice);
  dispatch.add("stablehlo.gather", evalStaticGather);
  dispatch.add("stablehlo.dynamic_gather", evalDynamicGather);
  dispatch.add("stablehlo.scatter", evalScatter);
  dispatch.add("stablehlo.torch_index_select", evalTorchIndexSelect);
}

} // namespace millrace::eval
