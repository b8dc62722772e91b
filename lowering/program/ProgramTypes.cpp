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

/// In the metadata of a fused location: the number of an operation of the module that is compiled.
constexpr StringRef kSource = "millrace.source";

Location withSource(Location loc, uint32_t source) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return NameLoc::get(named.getName(), withSource(named.getChildLoc(), source));
  Builder builder(loc.getContext());
  return FusedLoc::get(loc, builder.getDictionaryAttr(builder.getNamedAttr(kSource, builder.getI32IntegerAttr(source))), loc.getContext());
}

/// The number in the metadata of `fused`; kNone if it has none.
static uint32_t sourceOf(FusedLoc fused) {
  auto metadata = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  auto source = metadata ? metadata.getAs<IntegerAttr>(kSource) : IntegerAttr();
  return source ? uint32_t(source.getInt()) : runtime::kNone;
}

StepLocation stepLocation(Location loc) {
  StepLocation found;
  uint32_t first = runtime::kNone;
  llvm::SmallDenseSet<Location, 8> seen; // locations are shared: without it a chain of calls would be walked again and again
  auto visit = [&](auto &&self, Location inner, uint32_t source) -> bool {
    if (!seen.insert(inner).second)
      return false;
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      llvm::raw_string_ostream(found.text) << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn();
      found.source = source;
      return true;
    }
    if (auto fused = dyn_cast<FusedLoc>(inner)) {
      if (uint32_t own = sourceOf(fused); own != runtime::kNone) {
        source = own;
        first = first == runtime::kNone ? own : first;
      }
      return llvm::any_of(fused.getLocations(), [&](Location part) { return self(self, part, source); });
    }
    if (auto call = dyn_cast<CallSiteLoc>(inner))
      return self(self, call.getCallee(), source) || self(self, call.getCaller(), source);
    if (auto named = dyn_cast<NameLoc>(inner))
      return self(self, named.getChildLoc(), source);
    if (auto opaque = dyn_cast<OpaqueLoc>(inner))
      return self(self, opaque.getFallbackLocation(), source);
    return false;
  };
  if (!visit(visit, loc, runtime::kNone))
    found.source = first;
  return found;
}

std::string locationText(Location loc) { return stepLocation(loc).text; }

LocationTable::LocationTable(runtime::Program &program) : program(program) {
  for (auto [index, text, source] : llvm::enumerate(program.locations, program.locationSources))
    indices.try_emplace({text, source}, uint32_t(index));
}

uint32_t LocationTable::index(Location loc) {
  StepLocation place = stepLocation(loc);
  if (place.text.empty() && place.source == runtime::kNone)
    return runtime::kNone;
  auto [it, inserted] = indices.try_emplace({place.text, place.source}, uint32_t(program.locations.size()));
  if (inserted) {
    program.locations.push_back(std::move(place.text));
    program.locationSources.push_back(place.source);
  }
  return it->second;
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
