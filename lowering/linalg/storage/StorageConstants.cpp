// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StorageConstants.cpp - Constants as storage tensors ----------------===//
// Input:   dense<[1, 15]> : tensor<2xui4>
// Output:  dense<[1, 15]> : tensor<2xi8>
#include "lowering/linalg/storage/StorageConstants.h"

#include "lowering/linalg/storage/StorageTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace millrace::lowering {

static DenseElementsAttr denseOf(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      ArrayRef<char> data = blob->getData();
      bool isSplat;
      if (DenseElementsAttr::isValidRawBuffer(resource.getType(), data, isSplat))
        return DenseElementsAttr::getFromRawBuffer(resource.getType(), data);
    }
  return {};
}

DenseElementsAttr storageConstant(ElementsAttr value) {
  DenseElementsAttr dense = denseOf(value);
  if (!dense)
    return {};
  Type element = dense.getElementType(), storage = storageElementType(element);
  if (element == storage)
    return dense;
  if (element.getIntOrFloatBitWidth() == storage.getIntOrFloatBitWidth())
    return dense.bitcast(storage);
  unsigned width = storage.getIntOrFloatBitWidth();
  if (isa<FloatType>(element))
    return dense.mapValues(storage, [&](const APFloat &number) { return number.bitcastToAPInt().zext(width); });
  bool isUnsigned = element.isUnsignedInteger();
  return dense.mapValues(storage, [&](const APInt &number) { return isUnsigned ? number.zext(width) : number.sext(width); });
}

} // namespace millrace::lowering
