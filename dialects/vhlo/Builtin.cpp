// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Builtin.cpp - Portable types <-> builtin, quant, stablehlo types ---===//
#include "dialects/vhlo/Builtin.h"

#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/ElementCount.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;

namespace millrace::vhlo {

//===-- To the portable form ----------------------------------------------===//

static bool toVhlo(TypeRange types, SmallVectorImpl<Type> &converted) {
  for (Type type : types)
    if (!converted.emplace_back(toVhlo(type)))
      return false;
  return true;
}

static Attribute encodingToVhlo(Attribute encoding) {
  if (auto extensions = dyn_cast<stablehlo::TypeExtensionsAttr>(encoding))
    return TypeExtensionsV1Attr::get(encoding.getContext(), extensions.getBounds());
  return isVhlo(encoding) ? encoding : Attribute();
}

Type toVhlo(Type type) {
  if (isVhlo(type))
    return type;
  MLIRContext *context = type.getContext();
  return TypeSwitch<Type, Type>(type)
      .Case([&](RankedTensorType tensor) -> Type {
        Type element = toVhlo(tensor.getElementType());
        Attribute encoding = tensor.getEncoding() ? encodingToVhlo(tensor.getEncoding()) : Attribute();
        if (!element || bool(encoding) != bool(tensor.getEncoding()))
          return {};
        return RankedTensorV1Type::get(context, tensor.getShape(), element, encoding);
      })
      .Case([&](UnrankedTensorType tensor) -> Type {
        Type element = toVhlo(tensor.getElementType());
        return element ? UnrankedTensorV1Type::get(context, element) : Type();
      })
      .Case([&](MemRefType buffer) -> Type {
        Type element = toVhlo(buffer.getElementType());
        if (!element || !buffer.getLayout().isIdentity() || buffer.getMemorySpace())
          return {};
        return RankedBufferV1Type::get(context, buffer.getShape(), element);
      })
      .Case([&](ComplexType complex) -> Type {
        Type element = toVhlo(complex.getElementType());
        return element ? ComplexV1Type::get(context, element) : Type();
      })
      .Case([&](FunctionType function) -> Type {
        SmallVector<Type> inputs, outputs;
        if (!toVhlo(function.getInputs(), inputs) || !toVhlo(function.getResults(), outputs))
          return {};
        return FunctionV1Type::get(context, inputs, outputs);
      })
      .Case([&](TupleType tuple) -> Type {
        SmallVector<Type> types;
        return toVhlo(tuple.getTypes(), types) ? TupleV1Type::get(context, types) : Type();
      })
      .Case([&](stablehlo::FutureType future) -> Type {
        SmallVector<Type> types;
        return toVhlo(future.getTypes(), types) ? FutureV1Type::get(context, types) : Type();
      })
      .Case([&](quant::UniformQuantizedType quantized) -> Type {
        Type storage = toVhlo(quantized.getStorageType()), expressed = toVhlo(quantized.getExpressedType());
        if (!storage || !expressed)
          return {};
        return UniformQuantizedV1Type::get(context, quantized.getFlags(), storage, expressed,
                                           APFloat(quantized.getScale()), quantized.getZeroPoint(),
                                           quantized.getStorageTypeMin(), quantized.getStorageTypeMax());
      })
      .Case([&](quant::UniformQuantizedPerAxisType quantized) -> Type {
        Type storage = toVhlo(quantized.getStorageType()), expressed = toVhlo(quantized.getExpressedType());
        if (!storage || !expressed)
          return {};
        SmallVector<APFloat> scales;
        for (double scale : quantized.getScales())
          scales.push_back(APFloat(scale));
        return UniformQuantizedPerAxisV1Type::get(context, quantized.getFlags(), storage, expressed,
                                                  quantized.getQuantizedDimension(), scales, quantized.getZeroPoints(),
                                                  quantized.getStorageTypeMin(), quantized.getStorageTypeMax());
      })
      .Default([&](Type type) -> Type {
        for (const ScalarDef &def : scalarTable())
          if (def.make(context) == type)
            return ScalarV1Type::get(context, def.code);
        return {};
      });
}

TensorV1Attr toVhlo(DenseIntOrFPElementsAttr elements) {
  Type type = toVhlo(elements.getType());
  return type ? TensorV1Attr::get(type.getContext(), type, elements.getRawData()) : TensorV1Attr();
}

//===-- From the portable form --------------------------------------------===//

// The sizes of a type from a file may be arbitrary; code that computes with static shapes requires a valid number of elements.
static LogicalResult verifySizes(ArrayRef<int64_t> shape, EmitError emitError) {
  SmallVector<int64_t> sizes;
  for (int64_t size : shape) {
    if (size == ShapedType::kDynamic)
      continue;
    if (size < 0)
      return emitError() << "expects sizes that are not negative, but got " << size, failure();
    sizes.push_back(size);
  }
  if (!stablehlo::elementCount(sizes, int64_t(1) << 59))
    return emitError() << "expects less than 2^59 elements", failure();
  return success();
}

static FailureOr<SmallVector<Type>> fromVhlo(ArrayRef<Type> types, EmitError emitError) {
  SmallVector<Type> converted;
  for (Type type : types)
    if (!converted.emplace_back(fromVhlo(type, emitError)))
      return failure();
  return converted;
}

Type fromVhlo(Type type, EmitError emitError) {
  if (!isVhlo(type))
    return type;
  MLIRContext *context = type.getContext();
  return TypeSwitch<Type, Type>(type)
      .Case([&](ScalarV1Type scalar) { return lookupScalar(scalar.getCode())->make(context); })
      .Case([&](RankedTensorV1Type tensor) -> Type {
        Type element = fromVhlo(tensor.getElementType(), emitError);
        if (!element || failed(verifySizes(tensor.getShape(), emitError)))
          return {};
        if (!TensorType::isValidElementType(element))
          return emitError() << "expects a tensor's element type, but got " << element, Type();
        Attribute encoding = tensor.getEncoding();
        if (auto extensions = dyn_cast_or_null<TypeExtensionsV1Attr>(encoding)) {
          encoding = stablehlo::TypeExtensionsAttr::get(context, extensions.getBounds());
        } else if (encoding) {
          return emitError() << "expects bounds as the encoding of a tensor, but got " << encoding, Type();
        }
        return RankedTensorType::getChecked(emitError, tensor.getShape(), element, encoding);
      })
      .Case([&](UnrankedTensorV1Type tensor) -> Type {
        Type element = fromVhlo(tensor.getElementType(), emitError);
        if (element && !TensorType::isValidElementType(element))
          return emitError() << "expects a tensor's element type, but got " << element, Type();
        return element ? UnrankedTensorType::get(element) : Type();
      })
      .Case([&](RankedBufferV1Type buffer) -> Type {
        Type element = fromVhlo(buffer.getElementType(), emitError);
        if (!element || failed(verifySizes(buffer.getShape(), emitError)))
          return {};
        if (!BaseMemRefType::isValidElementType(element))
          return emitError() << "expects a buffer's element type, but got " << element, Type();
        return MemRefType::get(buffer.getShape(), element);
      })
      .Case([&](ComplexV1Type complex) -> Type {
        Type element = fromVhlo(complex.getElementType(), emitError);
        return element ? ComplexType::getChecked(emitError, element) : Type();
      })
      .Case([&](FunctionV1Type function) -> Type {
        auto inputs = fromVhlo(function.getInputs(), emitError);
        if (failed(inputs))
          return {};
        auto outputs = fromVhlo(function.getOutputs(), emitError);
        return succeeded(outputs) ? FunctionType::get(context, *inputs, *outputs) : Type();
      })
      .Case([&](TupleV1Type tuple) -> Type {
        auto types = fromVhlo(tuple.getTypes(), emitError);
        return succeeded(types) ? TupleType::get(context, *types) : Type();
      })
      .Case([&](FutureV1Type future) -> Type {
        auto types = fromVhlo(future.getTypes(), emitError);
        return succeeded(types) ? stablehlo::FutureType::get(context, *types) : Type();
      })
      .Case([&](UniformQuantizedV1Type quantized) -> Type {
        Type storage = fromVhlo(quantized.getStorageType(), emitError);
        Type expressed = storage ? fromVhlo(quantized.getExpressedType(), emitError) : Type();
        if (!expressed)
          return {};
        return quant::UniformQuantizedType::getChecked(
            emitError, quantized.getFlags(), storage, expressed, quantized.getScale().convertToDouble(),
            quantized.getZeroPoint(), quantized.getStorageTypeMin(), quantized.getStorageTypeMax());
      })
      .Case([&](UniformQuantizedPerAxisV1Type quantized) -> Type {
        Type storage = fromVhlo(quantized.getStorageType(), emitError);
        Type expressed = storage ? fromVhlo(quantized.getExpressedType(), emitError) : Type();
        if (!expressed)
          return {};
        SmallVector<double> scales;
        for (const APFloat &scale : quantized.getScales())
          scales.push_back(scale.convertToDouble());
        return quant::UniformQuantizedPerAxisType::getChecked(
            emitError, quantized.getFlags(), storage, expressed, scales, quantized.getZeroPoints(),
            quantized.getQuantizedDimension(), quantized.getStorageTypeMin(), quantized.getStorageTypeMax());
      })
      .Default([&](Type type) { return emitError() << "has no counterpart of " << type, Type(); });
}

LogicalResult verifyElements(Type type, ArrayRef<char> data, EmitError emitError) {
  auto tensor = dyn_cast_or_null<RankedTensorV1Type>(type);
  if (!tensor || ShapedType::isDynamicShape(tensor.getShape()))
    return emitError() << "expects a statically shaped tensor type for elements, but got " << type;
  Type builtin = fromVhlo(tensor, emitError);
  if (!builtin)
    return failure();
  auto shaped = cast<RankedTensorType>(builtin);
  Type element = shaped.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (!element.isIntOrIndexOrFloat())
    return emitError() << "expects integers, floats or complex numbers as elements, but got " << element;
  bool splat;
  if (!DenseElementsAttr::isValidRawBuffer(shaped, data, splat))
    return emitError() << "expects the elements of " << shaped << ", but got " << data.size() << " bytes";
  return success();
}

DenseElementsAttr fromVhlo(TensorV1Attr tensor, EmitError emitError) {
  auto type = dyn_cast_or_null<RankedTensorType>(fromVhlo(tensor.getType(), emitError));
  // The attribute's verifier has checked that type and data agree.
  return type ? DenseElementsAttr::getFromRawBuffer(type, tensor.getData()) : DenseElementsAttr();
}

//===-- Properties of scalar types --------------------------------------------===//

const llvm::fltSemantics *floatSemantics(Type type) {
  auto scalar = dyn_cast_or_null<ScalarV1Type>(type);
  if (!scalar)
    return nullptr;
  auto floatType = dyn_cast<FloatType>(lookupScalar(scalar.getCode())->make(type.getContext()));
  return floatType ? &floatType.getFloatSemantics() : nullptr;
}

unsigned integerWidth(Type type) {
  auto scalar = dyn_cast_or_null<ScalarV1Type>(type);
  if (!scalar)
    return 0;
  Type builtin = lookupScalar(scalar.getCode())->make(type.getContext());
  if (isa<IndexType>(builtin))
    return IndexType::kInternalStorageBitWidth;
  auto integer = dyn_cast<IntegerType>(builtin);
  return integer ? integer.getWidth() : 0;
}

} // namespace millrace::vhlo
