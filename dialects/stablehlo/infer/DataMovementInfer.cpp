// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementInfer.cpp - Result types of data movement ops ----------===//
#include "dialects/stablehlo/DataMovementOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace millrace::stablehlo {

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                           DictionaryAttr attributes, OpaqueProperties properties,
                                           RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  ConstantOpAdaptor adaptor(operands, attributes, properties, regions);
  inferredReturnTypes.push_back(adaptor.getValue().getType());
  return success();
}

/// The elements of a quantized constant have the storage type.
static Type storageTensorType(Type type) {
  auto shaped = cast<ShapedType>(type);
  if (auto quantized = dyn_cast<quant::QuantizedType>(shaped.getElementType()))
    return shaped.clone(quantized.getStorageType());
  return type;
}

bool ConstantOp::isCompatibleReturnTypes(TypeRange l, TypeRange r) {
  if (l.size() != r.size() || l.size() != 1)
    return false;
  auto a = dyn_cast<ShapedType>(l.front()), b = dyn_cast<ShapedType>(r.front());
  return a && b && a.getShape() == b.getShape() && storageTensorType(a) == storageTensorType(b);
}

void ConstantOp::build(OpBuilder &, OperationState &state, Attribute value) {
  ShapedType type;
  if (auto elements = dyn_cast<ElementsAttr>(value)) {
    type = elements.getShapedType();
  } else {
    auto typed = cast<TypedAttr>(value);
    type = RankedTensorType::get({}, typed.getType());
    value = DenseElementsAttr::get(type, value);
  }
  state.getOrAddProperties<Properties>().value = cast<ElementsAttr>(value);
  state.types.push_back(type);
}


//===-- Inference ---------------------------------------------------------===//

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange, SmallVectorImpl<Type> &inferredReturnTypes) {
  inferredReturnTypes.push_back(operands.front().getType());
  return success();
}

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties,
                                            RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  BroadcastOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  // (C1)
  for (int64_t size : adaptor.getBroadcastSizes())
    if (size < 0)
      return emitOptionalError(location, "Broadcast with negative dimension size ", size);
  SmallVector<int64_t> shape(adaptor.getBroadcastSizes());
  llvm::append_range(shape, operand.getShape());
  inferredReturnTypes.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return success();
}

/// Returns a quantized element type with a changed axis.
static Type withQuantizedAxis(Type elementType, llvm::function_ref<int64_t(int64_t)> newAxis) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType);
  if (!perAxis)
    return elementType;
  return quant::UniformQuantizedPerAxisType::get(
      perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(), perAxis.getScales(),
      perAxis.getZeroPoints(), newAxis(perAxis.getQuantizedDimension()), perAxis.getStorageTypeMin(),
      perAxis.getStorageTypeMax());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            ValueRange operands, DictionaryAttr attributes,
                                            OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &inferredReturnTypes) {
  TransposeOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  int64_t rank = operand.getRank();
  if (static_cast<int64_t>(permutation.size()) != rank)
    return emitOptionalError(location, "TransposeOp operand rank ", rank, " does not match permutation size ",
                             permutation.size());
  // (C2)
  auto range = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (!std::is_permutation(range.begin(), range.end(), permutation.begin()))
    return emitOptionalError(location, "attribute permutation must be a permutation of [", ArrayRef<int64_t>(range),
                             "] but got ", permutation);
  // (C3)
  ArrayRef<int64_t> bounds = encodingToBounds(operand.getEncoding());
  SmallVector<int64_t> shape, resultBounds;
  for (int64_t dim : permutation) {
    shape.push_back(operand.getDimSize(dim));
    if (!bounds.empty())
      resultBounds.push_back(bounds[dim]);
  }
  // (C4)
  Type elementType = withQuantizedAxis(operand.getElementType(), [&](int64_t axis) {
    return std::distance(permutation.begin(), llvm::find(permutation, axis));
  });
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, elementType, boundsToEncoding(context, operand.getEncoding(), resultBounds)));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                        DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &inferredReturnTypes) {
  SliceOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> starts = adaptor.getStartIndices(), limits = adaptor.getLimitIndices(),
                    strides = adaptor.getStrides();
  int64_t rank = operand.getRank();
  // (C2)
  if (static_cast<int64_t>(starts.size()) != rank)
    return emitOptionalError(location, "the number of elements in start_indices (", starts.size(),
                             ") does not match the rank of the operand (", rank, ")");
  if (limits.size() != starts.size() || strides.size() != starts.size())
    return emitOptionalError(location, "expected start_indices, limit_indices and strides of one size, but got ",
                             starts.size(), ", ", limits.size(), " and ", strides.size());
  ArrayRef<int64_t> bounds = encodingToBounds(operand.getEncoding());
  SmallVector<int64_t> shape, resultBounds(bounds.size(), ShapedType::kDynamic);
  for (int64_t i = 0; i < rank; ++i) {
    // (C3)
    if (starts[i] < 0)
      return emitOptionalError(location, "negative start index ", starts[i], " in dimension ", i);
    bool isStatic = !operand.isDynamicDim(i);
    int64_t largest = isStatic ? operand.getDimSize(i) : bounds.empty() ? ShapedType::kDynamic : bounds[i];
    if (isStaticDimSize(largest) && limits[i] > largest)
      return emitOptionalError(location, "limit index ", limits[i], " is larger than dimension ",
                               isStatic ? "size " : "bound ", largest, " in dimension ", i);
    if (starts[i] > limits[i])
      return emitOptionalError(location, "start index ", starts[i], " is larger than limit index ", limits[i],
                               " in dimension ", i);
    // (C4)
    if (strides[i] <= 0)
      return emitOptionalError(location, "stride must be positive but got ", strides[i], " in dimension ", i);
    // (C5)
    shape.push_back(llvm::divideCeil(limits[i] - starts[i], strides[i]));
  }
  inferredReturnTypes.push_back(RankedTensorType::get(
      shape, operand.getElementType(), boundsToEncoding(context, operand.getEncoding(), resultBounds)));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                      DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &inferredReturnTypes) {
  PadOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto padding = cast<RankedTensorType>(adaptor.getPaddingValue().getType());
  if (padding.getRank() != 0)
    return emitOptionalError(location, "padding value type should be a rank-0 tensor, is rank ", padding.getRank());
  int64_t rank = operand.getRank();
  // (C2)
  auto verifyLength = [&](ArrayRef<int64_t> list, StringRef name) -> LogicalResult {
    if (static_cast<int64_t>(list.size()) == rank)
      return success();
    return emitOptionalError(location, name, " length (", list.size(), ") must match operand rank (", rank, ")");
  };
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow(), high = adaptor.getEdgePaddingHigh(),
                    interior = adaptor.getInteriorPadding();
  if (failed(verifyLength(low, "edge_padding_low")) || failed(verifyLength(high, "edge_padding_high")) ||
      failed(verifyLength(interior, "interior_padding")))
    return failure();
  ArrayRef<int64_t> bounds = encodingToBounds(operand.getEncoding());
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic), resultBounds(bounds.size(), ShapedType::kDynamic);
  for (int64_t i = 0; i < rank; ++i) {
    // (C3)
    if (interior[i] < 0)
      return emitOptionalError(location, "Interior padding cannot be negative: ", interior[i]);
    bool isStatic = !operand.isDynamicDim(i);
    int64_t size = isStatic ? operand.getDimSize(i) : bounds.empty() ? ShapedType::kDynamic : bounds[i];
    if (isDynamicDimSize(size))
      continue;
    // (C4)
    int64_t padded = size + low[i] + high[i] + std::max<int64_t>(size - 1, 0) * interior[i];
    if (padded < 0)
      return emitOptionalError(location, "Padding result in negative ", isStatic ? "size" : "bound",
                               " for dimension ", i);
    (isStatic ? shape : resultBounds)[i] = padded;
  }
  inferredReturnTypes.push_back(RankedTensorType::get(
      shape, operand.getElementType(), boundsToEncoding(context, operand.getEncoding(), resultBounds)));
  return success();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                              ValueRange operands, DictionaryAttr attributes,
                                              OpaqueProperties properties, RegionRange regions,
                                              SmallVectorImpl<Type> &inferredReturnTypes) {
  ConcatenateOpAdaptor adaptor(operands, attributes, properties, regions);
  // (C3)
  if (operands.empty())
    return emitOptionalError(location, "expects at least one operand");
  int64_t dimension = adaptor.getDimension();
  auto first = cast<RankedTensorType>(operands.front().getType());
  int64_t rank = first.getRank();
  // (C4)
  if (dimension < 0)
    return emitOptionalError(location, "dimension ", dimension, " is negative");
  if (rank == 0)
    return emitOptionalError(location, "rank-0 values cannot be concatenated");
  if (dimension >= rank)
    return emitOptionalError(location, "dimension ", dimension, " is out-of-bounds for input rank ", rank);
  // (C2)
  for (auto [index, type] : llvm::enumerate(operands.getTypes())) {
    auto other = cast<RankedTensorType>(type);
    if (other.getRank() != rank)
      return emitOptionalError(location, "operands (0) and (", index, ") do not match rank");
    for (int64_t d = 0; d < rank; ++d)
      if (d != dimension && !first.isDynamicDim(d) && !other.isDynamicDim(d) &&
          first.getDimSize(d) != other.getDimSize(d))
        return emitOptionalError(location, "shapes of operand (0) and (", index, ") are not compatible at non-concat index ",
                                 d, ": (", first.getShape(), ") != (", other.getShape(), ")");
  }
  // (C6)
  SmallVector<DimAndBound> dims(rank);
  dims[dimension].size = 0;
  bool anyBounds = false;
  for (Type type : operands.getTypes()) {
    auto ranked = cast<RankedTensorType>(type);
    ArrayRef<int64_t> bounds = encodingToBounds(ranked.getEncoding());
    anyBounds |= !bounds.empty();
    for (int64_t d = 0; d < rank; ++d) {
      DimAndBound other{ranked.getDimSize(d), bounds.empty() ? ShapedType::kDynamic : bounds[d]};
      if (d == dimension) {
        dims[d] = inferConcatenatedDimAndBound(dims[d], other);
        continue;
      }
      auto merged = inferMostSpecificDimAndBound(location, d, dims[d], other);
      if (failed(merged))
        return failure();
      dims[d] = *merged;
    }
  }
  SmallVector<int64_t> shape, bounds;
  for (DimAndBound dim : dims) {
    shape.push_back(dim.size);
    if (anyBounds)
      bounds.push_back(dim.bound);
  }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, first.getElementType(), boundsToEncoding(context, first.getEncoding(), bounds)));
  return success();
}

//===-- Shapes as values --------------------------------------------------===//

/// Returns the sizes of `value`, static ones as constants.
static SmallVector<Value> dimValues(OpBuilder &builder, Location loc, Value value) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (type.isDynamicDim(d))
      sizes.push_back(tensor::DimOp::create(builder, loc, value, d));
    else
      sizes.push_back(arith::ConstantIndexOp::create(builder, loc, type.getDimSize(d)));
  }
  return sizes;
}

static Value shapeTensor(OpBuilder &builder, Location loc, ArrayRef<Value> sizes) {
  return tensor::FromElementsOp::create(
      builder, loc, RankedTensorType::get({static_cast<int64_t>(sizes.size())}, builder.getIndexType()), sizes);
}

LogicalResult BroadcastOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                 SmallVectorImpl<Value> &reifiedReturnShapes) {
  SmallVector<Value> sizes;
  for (int64_t size : getBroadcastSizes())
    sizes.push_back(arith::ConstantIndexOp::create(builder, getLoc(), size));
  llvm::append_range(sizes, dimValues(builder, getLoc(), operands.front()));
  reifiedReturnShapes.push_back(shapeTensor(builder, getLoc(), sizes));
  return success();
}

LogicalResult TransposeOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                 SmallVectorImpl<Value> &reifiedReturnShapes) {
  SmallVector<Value> operandSizes = dimValues(builder, getLoc(), operands.front()), sizes;
  for (int64_t dim : getPermutation())
    sizes.push_back(operandSizes[dim]);
  reifiedReturnShapes.push_back(shapeTensor(builder, getLoc(), sizes));
  return success();
}

LogicalResult PadOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                           SmallVectorImpl<Value> &reifiedReturnShapes) {
  Location loc = getLoc();
  SmallVector<Value> sizes = dimValues(builder, loc, operands.front());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1), zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (auto [d, size] : llvm::enumerate(sizes)) {
    Value edges =
        arith::ConstantIndexOp::create(builder, loc, getEdgePaddingLow()[d] + getEdgePaddingHigh()[d]);
    Value padded = arith::AddIOp::create(builder, loc, size, edges);
    if (int64_t interior = getInteriorPadding()[d]) {
      Value gaps = arith::MaxSIOp::create(builder, loc, arith::SubIOp::create(builder, loc, size, one), zero);
      Value factor = arith::ConstantIndexOp::create(builder, loc, interior);
      padded = arith::AddIOp::create(builder, loc, padded, arith::MulIOp::create(builder, loc, gaps, factor));
    }
    size = padded;
  }
  reifiedReturnShapes.push_back(shapeTensor(builder, loc, sizes));
  return success();
}

LogicalResult ConcatenateOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                   SmallVectorImpl<Value> &reifiedReturnShapes) {
  SmallVector<Value> sizes = dimValues(builder, getLoc(), operands.front());
  for (Value operand : operands.drop_front())
    sizes[getDimension()] = arith::AddIOp::create(builder, getLoc(), sizes[getDimension()],
                                                  dimValues(builder, getLoc(), operand)[getDimension()]);
  reifiedReturnShapes.push_back(shapeTensor(builder, getLoc(), sizes));
  return success();
}

//===-- Speculation -------------------------------------------------------===//

Speculation::Speculatability TransposeOp::getSpeculatability() {
  return speculation::speculatableIf(speculation::staticResultDimsAreStaticIn(
      getOperand().getType(), getType(), [&](int64_t dim) { return std::optional<int64_t>(getPermutation()[dim]); }));
}

// The sizes of other dimensions have to agree between inputs, so that they must be static; the size along `dimension` must be static only if the
// result's is.
Speculation::Speculatability ConcatenateOp::getSpeculatability() {
  int64_t dimension = getDimension();
  bool sumIsStated = !cast<ShapedType>(getType()).isDynamicDim(dimension);
  return speculation::speculatableIf(llvm::all_of(getInputs().getTypes(), [&](Type type) {
    auto shaped = cast<ShapedType>(type);
    for (int64_t dim = 0, e = shaped.getRank(); dim != e; ++dim)
      if (shaped.isDynamicDim(dim) && (dim != dimension || sumIsStated))
        return false;
    return true;
  }));
}

} // namespace millrace::stablehlo
