// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramTypes.cpp - Types, constants and attributes of MLIR as runtime data
#include "lowering/program/ProgramTypes.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Tensor.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::lowering {

runtime::DType dtypeOf(Type type) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    type = quantized.getStorageType();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return runtime::dtypeFromName(text);
}

runtime::TensorSpec specOf(RankedTensorType type) {
  runtime::TensorSpec spec;
  spec.dtype = dtypeOf(type.getElementType());
  spec.dims.assign(type.getShape().begin(), type.getShape().end());
  if (auto bounds = dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(type.getEncoding()))
    spec.bounds.assign(bounds.getBounds().begin(), bounds.getBounds().end());
  return spec;
}

FailureOr<std::string> bytesOf(ElementsAttr value) {
  llvm::Expected<eval::Tensor> tensor = eval::Tensor::fromAttr(value);
  if (!tensor) {
    llvm::consumeError(tensor.takeError());
    return failure();
  }
  return std::string(tensor->data(), tensor->numBytes());
}

std::string locationText(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    llvm::raw_string_ostream(text) << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn();
    return WalkResult::interrupt();
  });
  return text;
}

static std::optional<runtime::Attribute> attributeOf(StringRef name, mlir::Attribute value) {
  runtime::Attribute result;
  using Kind = runtime::Attribute::Kind;
  result.name = name.str();
  if (auto boolean = dyn_cast<BoolAttr>(value)) {
    result.kind = Kind::Bool;
    result.dtype = runtime::DType::I1;
    result.ints = {boolean.getValue()};
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    result.kind = Kind::Int;
    result.dtype = dtypeOf(integer.getType());
    result.ints = {integer.getType().isUnsignedInteger() ? (int64_t)integer.getValue().getZExtValue()
                                                         : integer.getValue().getSExtValue()};
  } else if (auto number = dyn_cast<FloatAttr>(value)) {
    result.kind = Kind::Float;
    result.dtype = dtypeOf(number.getType());
    result.floats = {number.getValueAsDouble()};
  } else if (auto text = dyn_cast<StringAttr>(value)) {
    result.kind = Kind::String;
    result.string = text.getValue().str();
  } else if (auto array = dyn_cast<DenseI64ArrayAttr>(value)) {
    result.kind = Kind::IntArray;
    result.ints.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  } else if (auto array = dyn_cast<DenseI32ArrayAttr>(value)) {
    result.kind = Kind::IntArray;
    result.dtype = runtime::DType::I32;
    result.ints.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  } else if (auto array = dyn_cast<DenseF64ArrayAttr>(value)) {
    result.kind = Kind::FloatArray;
    result.dtype = runtime::DType::F64;
    result.floats.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  } else if (auto array = dyn_cast<DenseF32ArrayAttr>(value)) {
    result.kind = Kind::FloatArray;
    result.dtype = runtime::DType::F32;
    result.floats.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(value)) {
    result.kind = Kind::Dictionary;
    result.children = attributesOf(dictionary);
  } else {
    return std::nullopt;
  }
  return result;
}

std::vector<runtime::Attribute> attributesOf(DictionaryAttr dictionary) {
  std::vector<runtime::Attribute> result;
  for (NamedAttribute entry : dictionary)
    if (auto attribute = attributeOf(entry.getName(), entry.getValue()))
      result.push_back(std::move(*attribute));
  return result;
}

} // namespace millrace::lowering
