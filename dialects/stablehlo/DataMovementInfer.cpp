// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementInfer.cpp - Result types of data movement ops ----------===//
#include "dialects/stablehlo/DataMovementOps.h"

using namespace mlir;
namespace millrace::stablehlo {

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                           DictionaryAttr attributes, OpaqueProperties properties,
                                           RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  ConstantOpAdaptor adaptor(operands, attributes, properties, regions);
  inferredReturnTypes.push_back(adaptor.getValue().getType());
  return success();
}

/// A quantized constant carries its elements in the storage type.
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

} // namespace millrace::stablehlo
