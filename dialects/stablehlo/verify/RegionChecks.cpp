// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionChecks.cpp - Checks that several region, window and group operations share -===//
#include "dialects/stablehlo/verify/RegionChecks.h"

#include "llvm/ADT/SmallSet.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo::checks {

bool dimsAgree(int64_t a, int64_t b) { return isDynamicDimSize(a) || isDynamicDimSize(b) || a == b; }

bool isUnique(ArrayRef<int64_t> values) {
  llvm::SmallSet<int64_t, 8> seen; // any number is possible, and a dense set reserves some numbers
  return llvm::all_of(values, [&](int64_t value) { return seen.insert(value).second; });
}

bool sameShapeAndElementType(Type a, Type b, bool ignoreFpPrecision) {
  if (failed(verifyCompatibleShape(a, b)))
    return false;
  Type elementA = getElementTypeOrSelf(a), elementB = getElementTypeOrSelf(b);
  return elementA == elementB || (ignoreFpPrecision && isa<FloatType>(elementA) && isa<FloatType>(elementB));
}

unsigned elementBits(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBits(complex.getElementType());
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return elementBits(quantized.getStorageType());
  return type.getIntOrFloatBitWidth();
}

bool isPromotable(Type from, Type to, bool ignoreFpPrecision) {
  if (!isa<ShapedType>(from) || !isa<ShapedType>(to))
    return false;
  Type a = getElementTypeOrSelf(from), b = getElementTypeOrSelf(to);
  if (auto quantA = dyn_cast<quant::QuantizedType>(a)) {
    auto quantB = dyn_cast<quant::QuantizedType>(b);
    if (!quantB || quantA.getExpressedType() != quantB.getExpressedType())
      return false;
  } else if (!((isa<IntegerType>(a) && isa<IntegerType>(b)) || (isa<FloatType>(a) && isa<FloatType>(b)) ||
               (isa<ComplexType>(a) && isa<ComplexType>(b)))) {
    return false;
  }
  return (ignoreFpPrecision && isa<FloatType>(a)) || elementBits(a) <= elementBits(b);
}

FailureOr<SmallVector<std::pair<int64_t, int64_t>>> paddingPairs(std::optional<DenseIntElementsAttr> padding,
                                                                 std::optional<Location> loc) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  if (!padding)
    return pairs;
  ShapedType type = padding->getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return emitOptionalError(loc, "expects the shape of padding-attribute to be {N, 2}, but got {", type.getShape(),
                             "}.");
  auto values = padding->getValues<int64_t>();
  for (int64_t i = 0, e = type.getDimSize(0); i != e; ++i)
    pairs.push_back({values[2 * i], values[2 * i + 1]});
  return pairs;
}

FailureOr<SmallVector<WindowDim>> checkWindow(std::optional<Location> loc, ArrayRef<int64_t> size,
                                              ArrayRef<int64_t> strides, ArrayRef<std::pair<int64_t, int64_t>> padding,
                                              ArrayRef<int64_t> baseDilation, ArrayRef<int64_t> windowDilation) {
  auto checkSize = [&](size_t count, StringRef what) -> LogicalResult {
    if (count == 0 || count == size.size())
      return success();
    return emitOptionalError(loc, "expects ", what, " to have same dimension-size as size of window dimensions (",
                             size.size(), "), but got: ", count, ".");
  };
  if (failed(checkSize(strides.size(), "window-strides")) ||
      failed(checkSize(baseDilation.size(), "base-dilation factors")) ||
      failed(checkSize(windowDilation.size(), "window-dilation factors")) ||
      failed(checkSize(padding.size(), "padding-entries")))
    return failure();

  SmallVector<WindowDim> window(size.size());
  for (size_t i = 0; i != size.size(); ++i) {
    WindowDim &dim = window[i];
    auto positive = [&](int64_t value, StringRef what) -> LogicalResult {
      if (value > 0)
        return success();
      return emitOptionalError(loc, "expects window to have positive ", what, " for ", i,
                               "-th window dimension, but got ", value, ".");
    };
    dim.size = size[i];
    if (!strides.empty())
      dim.stride = strides[i];
    if (!baseDilation.empty())
      dim.baseDilation = baseDilation[i];
    if (!windowDilation.empty())
      dim.windowDilation = windowDilation[i];
    if (!padding.empty())
      std::tie(dim.padLow, dim.padHigh) = padding[i];
    if ((isStaticDimSize(dim.size) && failed(positive(dim.size, "value"))) || failed(positive(dim.stride, "stride")) ||
        failed(positive(dim.baseDilation, "base dilation factor")) ||
        failed(positive(dim.windowDilation, "window dilation factor")))
      return failure();
  }
  return window;
}

SmallVector<int64_t> windowPositions(ArrayRef<int64_t> base, ArrayRef<WindowDim> window) {
  auto dilated = [](int64_t size, int64_t factor) { return size == 0 ? 0 : (size - 1) * factor + 1; };
  SmallVector<int64_t> positions;
  for (auto [size, dim] : llvm::zip_equal(base, window)) {
    if (isDynamicDimSize(size) || isDynamicDimSize(dim.size)) {
      positions.push_back(ShapedType::kDynamic);
      continue;
    }
    int64_t room = dim.padLow + dilated(size, dim.baseDilation) + dim.padHigh;
    int64_t span = dilated(dim.size, dim.windowDilation);
    positions.push_back(room <= 0 || span > room ? 0 : (room - span) / dim.stride + 1);
  }
  return positions;
}

FailureOr<SmallVector<ShapedType>> accumulatorTypes(std::optional<Location> loc, Region &region) {
  if (region.empty() || region.front().empty())
    return emitOptionalError(loc, "Expects non-empty reduction block for type inference");
  SmallVector<ShapedType> types;
  for (Value value : region.front().getTerminator()->getOperands()) {
    auto type = dyn_cast<ShapedType>(value.getType());
    if (!type)
      return emitOptionalError(loc, "Reduction-region here must produce tensor-typed result(s), but produces ",
                               value.getType(), " instead");
    types.push_back(type);
  }
  return types;
}

LogicalResult checkReducer(std::optional<Location> loc, Block &body, ArrayRef<ShapedType> inputs,
                           ArrayRef<ShapedType> inits, ArrayRef<int64_t> allowedDims) {
  size_t count = inputs.size();
  if (body.getNumArguments() != count * 2)
    return emitOptionalError(loc, "Reduction-region must take ", count * 2, " parameters, but takes ",
                             body.getNumArguments(), " parameter(s)");
  OperandRange returned = body.getTerminator()->getOperands();
  if (returned.empty())
    return emitOptionalError(loc, "The reduction-region expected to return some value(s)");
  if (returned.size() != count)
    return emitOptionalError(loc, "Reduction-region here must produce ", count, " tensors, but produces ",
                             returned.size(), " instead");
  for (size_t i = 0; i != count; ++i) {
    auto accumulator = dyn_cast<ShapedType>(returned[i].getType());
    if (!accumulator)
      return emitOptionalError(loc, "Reduction-region here must produce tensor-typed result(s), but produces ",
                               returned[i].getType(), " instead");
    Type left = body.getArgument(i).getType(), right = body.getArgument(count + i).getType();
    if (!sameShapeAndElementType(accumulator, left))
      return emitOptionalError(loc, "The type of reduction-region's parameter at index ", i,
                               " is different than the corresponding result type: ", left, " vs ", accumulator);
    if (!sameShapeAndElementType(accumulator, right, /*ignoreFpPrecision=*/true))
      return emitOptionalError(loc, "The type of reduction-region's parameter at index ", count + i,
                               " is different than the corresponding result type: ", right, " vs ", accumulator);
    if (failed(verifyCompatibleShape(inits[i], accumulator)))
      return emitOptionalError(loc, "The shape of reduction-region's result type at index ", i,
                               " differs from the op's corresponding init-value type: ", accumulator, " vs ", inits[i]);
    if (!isPromotable(inits[i], accumulator, /*ignoreFpPrecision=*/true))
      return emitOptionalError(loc, "The element-type of reduction-region's result type at index ", i,
                               " is expected to be promotable from the op's corresponding init-value element-type: ",
                               accumulator, " vs ", inits[i]);
    if (!isPromotable(inputs[i], right, /*ignoreFpPrecision=*/true))
      return emitOptionalError(loc, "The element-type of reduction-region's argument at index ", count + i,
                               " is expected to be promotable from ", inputs[i].getElementType(), ", but got ",
                               getElementTypeOrSelf(right));
    auto ranked = dyn_cast<RankedTensorType>(right);
    if (!ranked)
      return emitOptionalError(loc, "The rank of reduction-region's argument at index ", count + i,
                               " is expected to be <= ", allowedDims.size(), ", got ", right);
    ArrayRef<int64_t> shape = ranked.getShape();
    if (shape.size() > allowedDims.size())
      return emitOptionalError(loc, "The rank of reduction-region's argument at index ", count + i,
                               " is expected to be <= ", allowedDims.size(), ", got ", shape.size());
    size_t matched = 0;
    for (int64_t dim : allowedDims)
      if (matched != shape.size() && dimsAgree(dim, shape[matched]))
        ++matched;
    if (matched != shape.size())
      return emitOptionalError(loc, "The shape of reduction-region's argument at index ", count + i,
                               " is not compatible with that of reduce-op's input-parameter at index ", i);
  }
  return success();
}

LogicalResult checkReplicaGroups(std::optional<Location> loc, Attribute groups, bool sameSize,
                                 bool useGlobalDeviceIds, std::optional<size_t> groupSize) {
  auto elements = dyn_cast<DenseIntElementsAttr>(groups);
  if (!elements)
    return success();
  ShapedType type = elements.getType();
  if (type.getRank() != 2)
    return emitOptionalError(loc, "replica groups should be a rank 2 tensor");
  if (useGlobalDeviceIds && type.getNumElements() == 0)
    return emitOptionalError(loc, "if `use_global_device_ids` is set, the replica groups cannot be empty");
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t id : elements.getValues<int64_t>()) {
    if (id == -1) {
      if (!sameSize)
        continue;
      return emitOptionalError(loc, "Invalid replica id -1");
    }
    if (!seen.insert(id).second)
      return emitOptionalError(loc, "replica id #", id, " seen more than once");
  }
  for (size_t id = 0, e = seen.size(); id != e; ++id)
    if (!seen.contains(id))
      return emitOptionalError(loc, "replica id #", id, " not seen in replica groups");
  if (sameSize && groupSize && type.getDimSize(0) != 0 && size_t(type.getDimSize(1)) != *groupSize)
    return emitOptionalError(loc, "group size of replica_groups must be ", *groupSize);
  return success();
}

} // namespace millrace::stablehlo::checks
