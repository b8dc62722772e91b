// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compat.cpp - Compatibility of types of one value --------------------===//
#include "dialects/stablehlo/Compat.h"
#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

bool isCompatibleElementTypeForHloTypeInference(Type a, Type b) {
  a = getElementTypeOrSelf(a);
  b = getElementTypeOrSelf(b);
  auto quantA = dyn_cast<quant::QuantizedType>(a), quantB = dyn_cast<quant::QuantizedType>(b);
  if (!quantA || !quantB)
    return a == b;
  return quantA.getStorageType() == quantB.getStorageType() &&
         quantA.getStorageTypeMin() == quantB.getStorageTypeMin() &&
         quantA.getStorageTypeMax() == quantB.getStorageTypeMax() &&
         quantA.getExpressedType() == quantB.getExpressedType() &&
         isa<quant::UniformQuantizedPerAxisType>(quantA) == isa<quant::UniformQuantizedPerAxisType>(quantB);
}

static bool withinBounds(RankedTensorType type, ArrayRef<int64_t> bounds) {
  for (auto [size, bound] : llvm::zip(type.getShape(), bounds))
    if (isStaticDimSize(size) && isStaticDimSize(bound) && size > bound)
      return false;
  return true;
}

LogicalResult verifyCompatibleShapeWithBounds(Type a, Type b) {
  if (failed(verifyCompatibleShape(a, b)))
    return failure();
  auto rankedA = dyn_cast<RankedTensorType>(a), rankedB = dyn_cast<RankedTensorType>(b);
  if (!rankedA || !rankedB)
    return success();
  return success(withinBounds(rankedA, encodingToBounds(rankedB.getEncoding())) &&
                 withinBounds(rankedB, encodingToBounds(rankedA.getEncoding())));
}

/// Returns false for two per-axis types with different axes.
static bool haveSameQuantizedAxis(Type a, Type b) {
  auto axisA = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(a));
  auto axisB = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(b));
  return !axisA || !axisB || axisA.getQuantizedDimension() == axisB.getQuantizedDimension();
}

bool isCompatibleForHloTypeInference(Type a, Type b) {
  if (isa<ShapedType>(a) && isa<ShapedType>(b) && failed(verifyCompatibleShapeWithBounds(a, b)))
    return false;
  return isCompatibleElementTypeForHloTypeInference(a, b);
}

bool isCompatibleForHloTypeInference(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return isCompatibleForHloTypeInference(std::get<0>(pair), std::get<1>(pair)) &&
                  haveSameQuantizedAxis(std::get<0>(pair), std::get<1>(pair));
         });
}

bool isCompatibleForHloTypeInference(ArrayRef<int64_t> shape, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return false;
  return isCompatibleForHloTypeInference(RankedTensorType::get(shape, shaped.getElementType()), type);
}

bool isCompatibleForHloTypeInference(Value shape, Type type) {
  SmallVector<int64_t> sizes;
  if (failed(matchInts(shape, sizes)))
    return true;
  return isCompatibleForHloTypeInference(sizes, type);
}

static int64_t numberOf(const APInt &number, Type type) {
  return getElementTypeOrSelf(type).isUnsignedInteger() ? int64_t(number.getZExtValue()) : number.getSExtValue();
}

LogicalResult matchInt(Value value, int64_t &result) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return failure();
  result = numberOf(constant, value.getType());
  return success();
}

LogicalResult matchInts(Value value, SmallVector<int64_t> &result) {
  DenseIntElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return failure();
  for (const APInt &element : attr.getValues<APInt>())
    result.push_back(numberOf(element, value.getType()));
  return success();
}

//===-- Bounds ------------------------------------------------------------===//

ArrayRef<int64_t> encodingToBounds(Attribute encoding) {
  if (auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(encoding))
    return extensions.getBounds();
  return {};
}

Attribute boundsToEncoding(MLIRContext *context, Attribute prototype, ArrayRef<int64_t> bounds) {
  if (bounds.empty())
    return prototype;
  if (llvm::all_of(bounds, isDynamicDimSize))
    return {};
  return TypeExtensionsAttr::get(context, bounds);
}

bool hasStaticOrBoundedShape(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return false;
  if (ranked.hasStaticShape())
    return true;
  ArrayRef<int64_t> bounds = encodingToBounds(ranked.getEncoding());
  return !bounds.empty() && ranked.getNumDynamicDims() == 1 && llvm::count_if(bounds, isStaticDimSize) == 1;
}

/// Returns the size if it is static, else the bound.
static int64_t sizeOrBound(DimAndBound dim) { return isStaticDimSize(dim.size) ? dim.size : dim.bound; }

DimAndBound inferConcatenatedDimAndBound(DimAndBound a, DimAndBound b) {
  if (isStaticDimSize(a.size) && isStaticDimSize(b.size))
    return {a.size + b.size, ShapedType::kDynamic};
  if (isStaticDimSize(sizeOrBound(a)) && isStaticDimSize(sizeOrBound(b)))
    return {ShapedType::kDynamic, sizeOrBound(a) + sizeOrBound(b)};
  return {};
}

static LogicalResult verifySameStaticSize(std::optional<Location> location, int64_t dim, DimAndBound a,
                                          DimAndBound b) {
  if (isStaticDimSize(a.size) && isStaticDimSize(b.size) && a.size != b.size)
    return emitOptionalError(location, "Mismatched dimension sizes ", a.size, " and ", b.size, " in dimension ", dim);
  return success();
}

FailureOr<DimAndBound> inferMostSpecificDimAndBound(std::optional<Location> location, int64_t dim, DimAndBound a,
                                                    DimAndBound b) {
  if (failed(verifySameStaticSize(location, dim, a, b)))
    return failure();
  int64_t size = isStaticDimSize(a.size) ? a.size : b.size;
  int64_t bound = isStaticDimSize(a.bound) ? a.bound : b.bound;
  if (isStaticDimSize(size)) {
    if (isStaticDimSize(bound) && size > bound)
      return emitOptionalError(location, "Mismatched dimension size ", size, " and bound ", bound, " in dimension ",
                               dim);
    return DimAndBound{size, ShapedType::kDynamic};
  }
  if (isStaticDimSize(a.bound) && isStaticDimSize(b.bound))
    bound = std::min(a.bound, b.bound);
  return DimAndBound{size, bound};
}

FailureOr<DimAndBound> inferLeastSpecificDimAndBound(std::optional<Location> location, int64_t dim, DimAndBound a,
                                                     DimAndBound b) {
  if (failed(verifySameStaticSize(location, dim, a, b)))
    return failure();
  if (isStaticDimSize(a.size) && isStaticDimSize(b.size))
    return a;
  if (isDynamicDimSize(sizeOrBound(a)) || isDynamicDimSize(sizeOrBound(b)))
    return DimAndBound{};
  return DimAndBound{ShapedType::kDynamic, std::max(sizeOrBound(a), sizeOrBound(b))};
}

using MergeDim = FailureOr<DimAndBound> (*)(std::optional<Location>, int64_t, DimAndBound, DimAndBound);

static FailureOr<Type> mergeTypes(std::optional<Location> location, TypeRange types, MergeDim merge) {
  if (types.empty())
    return emitOptionalError(location, "Expected at least one type to merge");
  auto first = dyn_cast<RankedTensorType>(types.front());
  if (!first || !llvm::all_of(types, llvm::IsaPred<RankedTensorType>))
    return types.front();
  int64_t rank = first.getRank();
  SmallVector<DimAndBound> dims(rank);
  bool anyBound = false;
  for (auto [index, type] : llvm::enumerate(types)) {
    auto ranked = cast<RankedTensorType>(type);
    if (ranked.getRank() != rank)
      return emitOptionalError(location, "Mismatched ranks of types", ranked.getRank(), " vs ", rank);
    ArrayRef<int64_t> bounds = encodingToBounds(ranked.getEncoding());
    anyBound |= !bounds.empty();
    for (int64_t dim = 0; dim < rank; ++dim) {
      DimAndBound other{ranked.getDimSize(dim), bounds.empty() ? ShapedType::kDynamic : bounds[dim]};
      if (index == 0) {
        dims[dim] = other;
        continue;
      }
      auto merged = merge(location, dim, dims[dim], other);
      if (failed(merged))
        return failure();
      dims[dim] = *merged;
    }
  }
  SmallVector<int64_t> shape, bounds;
  for (DimAndBound dim : dims) {
    shape.push_back(dim.size);
    if (anyBound)
      bounds.push_back(dim.bound);
  }
  return Type(RankedTensorType::get(shape, first.getElementType(),
                                    boundsToEncoding(first.getContext(), first.getEncoding(), bounds)));
}

FailureOr<Type> inferMostSpecificType(std::optional<Location> location, TypeRange types) {
  return mergeTypes(location, types, inferMostSpecificDimAndBound);
}
FailureOr<Type> inferLeastSpecificType(std::optional<Location> location, TypeRange types) {
  return mergeTypes(location, types, inferLeastSpecificDimAndBound);
}

LogicalResult deriveShapeFromOperand(OpBuilder *builder, Operation *op, Value operand,
                                     SmallVectorImpl<Value> *reifiedReturnShapes) {
  if (!isa<ShapedType>(operand.getType()))
    return op->emitOpError() << "operand is not a shaped type";
  reifiedReturnShapes->assign({shape::ShapeOfOp::create(*builder, op->getLoc(), operand)});
  return success();
}

ShapedType getSameShapeTensorType(ShapedType type, Type elementType) { return type.clone(elementType); }

ShapedType createRealType(ShapedType type) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType()))
    return type.clone(complex.getElementType());
  return type;
}

} // namespace millrace::stablehlo
