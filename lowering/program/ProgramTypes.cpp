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

/// Sets elements of any integer or float type, as the bits or the number that the runtime stores for them.
static LogicalResult setElements(runtime::Attribute &result, DenseElementsAttr elements) {
  Type type = elements.getElementType();
  result.dtype = dtypeOf(type);
  if (isa<FloatType>(type)) {
    result.kind = runtime::Attribute::Kind::FloatArray;
    for (const APFloat &value : elements.getValues<APFloat>())
      result.floats.push_back(FloatAttr::get(type, value).getValueAsDouble());
    return success();
  }
  if (!isa<IntegerType>(type))
    return failure();
  result.kind = runtime::Attribute::Kind::IntArray;
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  for (const APInt &value : elements.getValues<APInt>())
    result.ints.push_back(isUnsigned ? (int64_t)value.getZExtValue() : value.getSExtValue());
  return success();
}

/// Converts an array, which has one of three forms: dense elements (JAX), array<i64: ...>, or a list of numbers of one type.
static LogicalResult setArray(runtime::Attribute &result, mlir::Attribute value) {
  if (auto elements = dyn_cast<DenseElementsAttr>(value))
    return setElements(result, elements);
  if (auto array = dyn_cast<DenseArrayAttr>(value)) {
    auto type = RankedTensorType::get({array.getSize()}, array.getElementType());
    // A boolean takes one byte here, one bit in dense elements.
    if (auto booleans = dyn_cast<DenseBoolArrayAttr>(value))
      return setElements(result, DenseElementsAttr::get(type, booleans.asArrayRef()));
    return setElements(result, DenseElementsAttr::getFromRawBuffer(type, array.getRawData()));
  }
  auto list = cast<ArrayAttr>(value);
  if (list.empty()) {
    result.kind = runtime::Attribute::Kind::IntArray;
    result.dtype = runtime::DType::I32;
    return success();
  }
  auto first = dyn_cast<TypedAttr>(list[0]);
  if (!first || !isa<IntegerType, FloatType>(first.getType()))
    return failure();
  for (mlir::Attribute entry : list)
    if (auto typed = dyn_cast<TypedAttr>(entry); !typed || typed.getType() != first.getType())
      return failure();
  return setElements(result, DenseElementsAttr::get(RankedTensorType::get({(int64_t)list.size()}, first.getType()),
                                                    list.getValue()));
}

static FailureOr<runtime::Attribute> attributeOf(StringRef name, mlir::Attribute value) {
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
  } else if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value)) {
    result.kind = Kind::String;
    result.string = symbol.getValue().str();
  } else if (isa<DenseElementsAttr, DenseArrayAttr, ArrayAttr>(value)) {
    if (failed(setArray(result, value)))
      return failure();
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(value)) {
    result.kind = Kind::Dictionary;
    for (NamedAttribute entry : dictionary) {
      FailureOr<runtime::Attribute> child = attributeOf(entry.getName(), entry.getValue());
      if (failed(child))
        return failure();
      result.children.push_back(std::move(*child));
    }
  } else {
    return failure();
  }
  return result;
}

FailureOr<std::vector<runtime::Attribute>> attributesOf(DictionaryAttr dictionary, Operation *op) {
  std::vector<runtime::Attribute> result;
  for (NamedAttribute entry : dictionary) {
    FailureOr<runtime::Attribute> attribute = attributeOf(entry.getName(), entry.getValue());
    if (failed(attribute))
      return op->emitOpError("has an attribute that cannot be passed to the function that it calls: ")
             << entry.getName().getValue() << " = " << entry.getValue();
    result.push_back(std::move(*attribute));
  }
  return result;
}

} // namespace millrace::lowering
