// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TypeRules.cpp - Constraints of the specification on types ----------===//
#include "dialects/stablehlo/verify/TypeRules.h"

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace mlir;
namespace millrace::stablehlo {

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string textOf(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static bool isFloatElement(Type type) {
  return isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType, Float8E3M4Type, Float8E4M3Type, Float8E4M3FNType,
             Float8E4M3FNUZType, Float8E4M3B11FNUZType, Float8E5M2Type, Float8E5M2FNUZType, Float8E8M0FNUType, Float16Type,
             BFloat16Type, Float32Type, Float64Type>(type);
}

static bool isIntegerWidth(unsigned width) { return llvm::is_contained({2u, 4u, 8u, 16u, 32u, 64u}, width); }

std::string whyInvalidQuantizedElement(Type elementType) {
  auto type = dyn_cast<quant::QuantizedType>(elementType);
  if (!type)
    return {};
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type)) {
    scales.push_back(uniform.getScale());
    zeroPoints.push_back(uniform.getZeroPoint());
  } else if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
    llvm::append_range(scales, perAxis.getScales());
    llvm::append_range(zeroPoints, perAxis.getZeroPoints());
    // (C10)
    if (perAxis.getQuantizedDimension() < 0)
      return "expects a quantization axis >= 0, but got " + std::to_string(perAxis.getQuantizedDimension());
  } else {
    return "expects quantization per tensor or per axis";
  }
  auto storage = dyn_cast<IntegerType>(type.getStorageType());
  if (!storage || !isIntegerWidth(storage.getWidth()))
    return "expects a storage type of 2, 4, 8, 16 or 32 bits, but got " + textOf(type.getStorageType());
  int64_t min = type.getStorageTypeMin(), max = type.getStorageTypeMax();
  // (C2)
  int64_t least = quant::QuantizedType::getDefaultMinimumForInteger(type.isSigned(), storage.getWidth());
  int64_t most = quant::QuantizedType::getDefaultMaximumForInteger(type.isSigned(), storage.getWidth());
  auto range = [](auto low, auto high) { return (llvm::Twine("[") + llvm::Twine(low) + ", " + llvm::Twine(high) + "]").str(); };
  if (min >= max || min < least || max > most)
    return "expects a storage range that is not empty in " + range(least, most) + ", but got " + range(min, max);
  Type expressed = type.getExpressedType();
  if (!isFloatElement(expressed))
    return "expects an expressed type of StableHLO's floats, but got " + (expressed ? textOf(expressed) : "none");
  // (C4), (C5): the limits of the expressed type, whose smallest value may be subnormal.
  const llvm::fltSemantics &semantics = cast<FloatType>(expressed).getFloatSemantics();
  double smallest = llvm::APFloat::getSmallest(semantics).convertToDouble();
  double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  for (double scale : scales)
    if (!(scale >= smallest && scale <= largest))
      return "expects a scale in [" + textOf(smallest) + ", " + textOf(largest) + "], but got " + textOf(scale);
  // (C6)
  for (int64_t zeroPoint : zeroPoints)
    if (zeroPoint < min || zeroPoint > max)
      return "expects a zero point in " + range(min, max) + ", but got " + std::to_string(zeroPoint);
  return {};
}

bool isValidQuantizedElement(Type elementType) {
  return isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(elementType) &&
         whyInvalidQuantizedElement(elementType).empty();
}

static std::string whyInvalidAxis(RankedTensorType tensor) {
  auto element = dyn_cast<quant::UniformQuantizedPerAxisType>(tensor.getElementType());
  if (!element)
    return {};
  int64_t axis = element.getQuantizedDimension(), count = element.getScales().size();
  if (axis >= tensor.getRank())
    return "expects a quantization axis below the rank " + std::to_string(tensor.getRank()) + ", but got " + std::to_string(axis);
  if (!tensor.isDynamicDim(axis) && tensor.getDimSize(axis) != count)
    return "expects a scale for each of the " + std::to_string(tensor.getDimSize(axis)) + " positions of dimension " +
           std::to_string(axis) + ", but got " + std::to_string(count);
  return {};
}

bool hasValidQuantizedDimension(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || whyInvalidAxis(tensor).empty();
}

static bool isKnownElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isUnsigned() ? isIntegerWidth(integer.getWidth())
                                : integer.isSignless() && (integer.getWidth() == 1 || isIntegerWidth(integer.getWidth()));
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  // In programs with dynamic shapes, sizes are tensors of index.
  return isFloatElement(type) || isa<IndexType, quant::QuantizedType>(type);
}

std::string whyInvalidType(Type type, bool onlyKnown) {
  auto whyAny = [&](TypeRange types) {
    for (Type part : types)
      if (std::string why = whyInvalidType(part, onlyKnown); !why.empty())
        return why;
    return std::string();
  };
  if (auto tensor = dyn_cast<TensorType>(type)) {
    Type element = tensor.getElementType();
    std::string why = whyInvalidQuantizedElement(element);
    if (auto ranked = dyn_cast<RankedTensorType>(type); ranked && why.empty())
      why = whyInvalidAxis(ranked);
    if (why.empty() && onlyKnown && !isKnownElement(element))
      why = "expects an element type of StableHLO, but got " + textOf(element);
    return why;
  }
  if (auto tuple = dyn_cast<TupleType>(type))
    return whyAny(tuple.getTypes());
  if (auto future = dyn_cast<FutureType>(type)) {
    for (Type part : future.getTypes())
      if (!isa<RankedTensorType>(part))
        return "future element type must be a ranked tensor, but got '" + textOf(part) + "'";
    return whyAny(future.getTypes());
  }
  if (auto function = dyn_cast<FunctionType>(type)) {
    std::string why = whyAny(function.getInputs());
    return why.empty() ? whyAny(function.getResults()) : why;
  }
  return {};
}

LogicalResult verifyTypes(Operation *root, bool onlyKnown) {
  // Each type is checked once, because programs have few types.
  llvm::DenseSet<Type> seen;
  auto check = [&](Location location, Type type, auto what) -> LogicalResult {
    if (!seen.insert(type).second)
      return success();
    std::string why = whyInvalidType(type, onlyKnown);
    if (why.empty())
      return success();
    return emitError(location) << why << ", in type " << type << " of " << what();
  };
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto name = [op] { return "'" + op->getName().getStringRef().str() + "'"; };
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      auto ofFunction = [&](StringRef kind, unsigned i) {
        return [&function, kind, i] { return (kind + " " + llvm::Twine(i) + " of @" + function.getName()).str(); };
      };
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
        if (failed(check(function.isExternal() ? op->getLoc() : function.getArgument(i).getLoc(), type, ofFunction("argument", i))))
          return WalkResult::interrupt();
      for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
        if (failed(check(op->getLoc(), type, ofFunction("result", i))))
          return WalkResult::interrupt();
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(check(argument.getLoc(), argument.getType(), [&] { return "a region's argument in " + name(); })))
            return WalkResult::interrupt();
    for (OpResult value : op->getResults())
      if (failed(check(value.getLoc(), value.getType(),
                       [&] { return "result " + std::to_string(value.getResultNumber()) + " of " + name(); })))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace millrace::stablehlo
