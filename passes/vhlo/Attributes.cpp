// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.cpp - Attributes <-> their portable form ----------------===//
// The general rules: one attribute for one attribute. What an operation takes apart is in OpMap.cpp.
#include "passes/vhlo/Attributes.h"

#include "dialects/stablehlo/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace millrace::vhlo {

//===-- To the portable form ----------------------------------------------===//

static Attribute enumValue(MLIRContext *context, code::Attr code, unsigned value) {
  return EnumV1Attr::get(context, code, value);
}

// Attributes of StableHLO that the portable format has as one attribute, too. Enumerations have the same values there.
static Attribute stablehloToVhlo(Attribute attr) {
  MLIRContext *context = attr.getContext();
  auto value = [&](code::Attr code, auto typed) { return enumValue(context, code, unsigned(typed.getValue())); };
  return TypeSwitch<Attribute, Attribute>(attr)
      .Case([&](stablehlo::ComparisonDirectionAttr e) { return value(code::ComparisonDirection, e); })
      .Case([&](stablehlo::ComparisonTypeAttr e) {
        bool isWeak = e.getValue() == stablehlo::ComparisonType::WEAKORDER; // present from version 1.22 on
        return isWeak ? Attribute() : value(code::ComparisonType, e);
      })
      .Case([&](stablehlo::FftTypeAttr e) { return value(code::FftType, e); })
      .Case([&](stablehlo::PrecisionAttr e) { return value(code::Precision, e); })
      .Case([&](stablehlo::RngAlgorithmAttr e) { return value(code::RngAlgorithm, e); })
      .Case([&](stablehlo::RngDistributionAttr e) { return value(code::RngDistribution, e); })
      .Case([&](stablehlo::TransposeAttr e) { return value(code::Transpose, e); })
      .Case([&](stablehlo::ResultAccuracyModeAttr e) { return value(code::ResultAccuracyMode, e); })
      .Case([&](stablehlo::ResultAccuracyAttr accuracy) {
        return ResultAccuracyV1Attr::get(context, accuracy.getAtol(), accuracy.getRtol(), accuracy.getUlps(),
                                         stablehloToVhlo(accuracy.getMode()));
      })
      .Case([&](stablehlo::OutputOperandAliasAttr alias) {
        return OutputOperandAliasV1Attr::get(context, alias.getOutputTupleIndices(), alias.getOperandIndex(),
                                             alias.getOperandTupleIndices());
      })
      .Case([&](stablehlo::TypeExtensionsAttr bounds) { return TypeExtensionsV1Attr::get(context, bounds.getBounds()); })
      .Case([&](stablehlo::SubAxisInfoAttr info) {
        return SubAxisInfoV1Attr::get(context, info.getPreSize(), info.getSize());
      })
      .Case([&](stablehlo::AxisRefAttr axis) {
        Attribute info = axis.getSubAxisInfo() ? stablehloToVhlo(axis.getSubAxisInfo()) : Attribute();
        return AxisRefV1Attr::get(context, toVhlo(axis.getName()), info);
      })
      .Case([&](stablehlo::MeshAxisAttr axis) {
        return MeshAxisV1Attr::get(context, toVhlo(axis.getName()), axis.getSize());
      })
      .Case([&](stablehlo::MeshAttr mesh) -> Attribute {
        Attribute axes = toVhlo(mesh.getAxes());
        Attribute ids = mesh.getDeviceIds() ? toVhlo(Attribute(mesh.getDeviceIds())) : Attribute();
        return axes ? MeshV1Attr::get(context, axes, ids) : Attribute();
      })
      .Case([&](stablehlo::ReplicaGroupMeshAxesAttr groups) -> Attribute {
        Attribute mesh = toVhlo(groups.getMesh()), axes = toVhlo(groups.getAxes());
        return mesh && axes ? ReplicaGroupMeshAxesV1Attr::get(context, mesh, axes) : Attribute();
      })
      .Default([](Attribute) { return Attribute(); });
}

static Attribute builtinToVhlo(Attribute attr, bool allowOthers) {
  MLIRContext *context = attr.getContext();
  auto typed = [&](Type type, auto make) {
    Type converted = toVhlo(type);
    return converted ? Attribute(make(converted)) : Attribute();
  };
  return TypeSwitch<Attribute, Attribute>(attr)
      .Case([&](ArrayAttr array) -> Attribute {
        SmallVector<Attribute> elements;
        for (Attribute element : array)
          if (!elements.emplace_back(toVhlo(element, allowOthers)))
            return {};
        return ArrayV1Attr::get(context, elements);
      })
      .Case([&](DictionaryAttr dictionary) -> Attribute {
        SmallVector<std::pair<Attribute, Attribute>> entries;
        for (NamedAttribute entry : dictionary)
          if (!entries.emplace_back(toVhlo(entry.getName()), toVhlo(entry.getValue(), allowOthers)).second)
            return {};
        return DictV1Attr::get(context, entries);
      })
      .Case([&](DenseIntOrFPElementsAttr elements) -> Attribute { return toVhlo(elements); })
      .Case([&](DenseI64ArrayAttr array) {
        return toVhlo(Attribute(Builder(context).getI64TensorAttr(array.asArrayRef())));
      })
      .Case([&](DenseBoolArrayAttr array) {
        auto type = RankedTensorType::get({int64_t(array.size())}, IntegerType::get(context, 1));
        return toVhlo(Attribute(DenseElementsAttr::get(type, array.asArrayRef())));
      })
      .Case([&](BoolAttr value) { return BoolV1Attr::get(context, value.getValue()); })
      .Case([&](IntegerAttr integer) {
        return typed(integer.getType(),
                     [&](Type type) { return IntegerV1Attr::get(context, type, integer.getValue()); });
      })
      .Case([&](FloatAttr number) {
        return typed(number.getType(), [&](Type type) { return FloatV1Attr::get(context, type, number.getValue()); });
      })
      .Case([&](FlatSymbolRefAttr symbol) { return StringV1Attr::get(context, symbol.getValue()); })
      .Case([&](StringAttr string) {
        return isa<NoneType>(string.getType()) ? Attribute(StringV1Attr::get(context, string.getValue())) : Attribute();
      })
      .Case([&](TypeAttr type) {
        return typed(type.getValue(), [&](Type converted) { return TypeV1Attr::get(context, converted); });
      })
      .Default([](Attribute) { return Attribute(); });
}

Attribute toVhlo(Attribute attr, bool allowOthers) {
  if (isVhlo(attr))
    return attr;
  Attribute converted = isa<stablehlo::StablehloDialect>(attr.getDialect()) ? stablehloToVhlo(attr)
                                                                            : builtinToVhlo(attr, allowOthers);
  return converted || !allowOthers ? converted : attr;
}

//===-- From the portable form --------------------------------------------===//

static Attribute enumFromVhlo(EnumV1Attr attr) {
  MLIRContext *context = attr.getContext();
  unsigned value = attr.getValue(); // a value of the enumeration: the attribute is verified
  switch (attr.getCode()) {
  case code::ComparisonDirection:
    return stablehlo::ComparisonDirectionAttr::get(context, stablehlo::ComparisonDirection(value));
  case code::ComparisonType:
    return stablehlo::ComparisonTypeAttr::get(context, stablehlo::ComparisonType(value));
  case code::CustomCallApiVersion:
    return stablehlo::CustomCallApiVersionAttr::get(context, stablehlo::CustomCallApiVersion(value));
  case code::FftType:
    return stablehlo::FftTypeAttr::get(context, stablehlo::FftType(value));
  case code::Precision:
    return stablehlo::PrecisionAttr::get(context, stablehlo::Precision(value));
  case code::RngAlgorithm:
    return stablehlo::RngAlgorithmAttr::get(context, stablehlo::RngAlgorithm(value));
  case code::RngDistribution:
    return stablehlo::RngDistributionAttr::get(context, stablehlo::RngDistribution(value));
  case code::Transpose:
    return stablehlo::TransposeAttr::get(context, stablehlo::Transpose(value));
  case code::ResultAccuracyMode:
    return stablehlo::ResultAccuracyModeAttr::get(context, stablehlo::ResultAccuracyMode(value));
  default:
    return {};
  }
}

/// Returns the counterpart of `attr` as a `T`; null after an error.
template <typename T> static T fromVhloAs(Attribute attr, EmitError emitError) {
  Attribute converted = fromVhlo(attr, emitError);
  if (!converted)
    return {};
  auto typed = dyn_cast<T>(converted);
  if (!typed)
    emitError() << "expects another kind of attribute than " << attr;
  return typed;
}

static Attribute dictFromVhlo(DictV1Attr dict, EmitError emitError) {
  NamedAttrList entries;
  for (auto [key, portable] : dict.getValue()) {
    auto name = dyn_cast<StringV1Attr>(key);
    if (!name || name.getValue().empty())
      return emitError() << "expects a name as key of a dictionary, but got " << key, Attribute();
    Attribute value = fromVhlo(portable, emitError);
    if (!value)
      return {};
    if (entries.set(name.getValue(), value))
      return emitError() << "expects one value for " << key << " in a dictionary", Attribute();
  }
  return entries.getDictionary(dict.getContext());
}

static Attribute meshFromVhlo(MeshV1Attr mesh, EmitError emitError) {
  auto axes = fromVhloAs<ArrayAttr>(mesh.getAxes(), emitError);
  DenseIntElementsAttr ids;
  if (axes && mesh.getDeviceIds() && !(ids = fromVhloAs<DenseIntElementsAttr>(mesh.getDeviceIds(), emitError)))
    return {};
  return axes ? stablehlo::MeshAttr::get(mesh.getContext(), axes, ids) : Attribute();
}

static Attribute groupsFromVhlo(ReplicaGroupMeshAxesV1Attr groups, EmitError emitError) {
  auto axes = fromVhloAs<ArrayAttr>(groups.getAxes(), emitError);
  Attribute mesh = axes ? fromVhlo(groups.getMesh(), emitError) : Attribute();
  if (auto symbol = dyn_cast_or_null<StringAttr>(mesh))
    mesh = FlatSymbolRefAttr::get(symbol);
  return mesh ? stablehlo::ReplicaGroupMeshAxesAttr::get(groups.getContext(), mesh, axes) : Attribute();
}

static Attribute axisFromVhlo(AxisRefV1Attr axis, EmitError emitError) {
  auto name = fromVhloAs<StringAttr>(axis.getName(), emitError);
  stablehlo::SubAxisInfoAttr info;
  if (name && axis.getSubAxisInfo() &&
      !(info = fromVhloAs<stablehlo::SubAxisInfoAttr>(axis.getSubAxisInfo(), emitError)))
    return {};
  return name ? stablehlo::AxisRefAttr::get(axis.getContext(), name, info) : Attribute();
}

Attribute fromVhlo(Attribute attr, EmitError emitError) {
  if (!isVhlo(attr))
    return attr;
  MLIRContext *context = attr.getContext();
  return TypeSwitch<Attribute, Attribute>(attr)
      .Case([&](EnumV1Attr value) { return enumFromVhlo(value); })
      .Case([&](ArrayV1Attr array) -> Attribute {
        SmallVector<Attribute> elements;
        for (Attribute element : array.getValue())
          if (!elements.emplace_back(fromVhlo(element, emitError)))
            return {};
        return ArrayAttr::get(context, elements);
      })
      .Case([&](BoolV1Attr value) { return BoolAttr::get(context, value.getValue()); })
      .Case([&](DictV1Attr dict) { return dictFromVhlo(dict, emitError); })
      .Case([&](FloatV1Attr number) { return FloatAttr::get(fromVhlo(number.getType(), emitError), number.getValue()); })
      .Case([&](IntegerV1Attr integer) {
        return IntegerAttr::get(fromVhlo(integer.getType(), emitError), integer.getValue());
      })
      .Case([&](OutputOperandAliasV1Attr alias) {
        return stablehlo::OutputOperandAliasAttr::get(context, alias.getOutputTupleIndices(), alias.getOperandIndex(),
                                                      alias.getOperandTupleIndices());
      })
      .Case([&](StringV1Attr string) { return StringAttr::get(context, string.getValue()); })
      .Case([&](TensorV1Attr tensor) -> Attribute { return fromVhlo(tensor, emitError); })
      .Case([&](TypeV1Attr type) -> Attribute {
        Type converted = fromVhlo(type.getValue(), emitError);
        return converted ? TypeAttr::get(converted) : Attribute();
      })
      .Case([&](TypeExtensionsV1Attr bounds) {
        return stablehlo::TypeExtensionsAttr::get(context, bounds.getBounds());
      })
      .Case([&](ResultAccuracyV1Attr accuracy) -> Attribute {
        auto mode = fromVhloAs<stablehlo::ResultAccuracyModeAttr>(accuracy.getMode(), emitError);
        return mode ? stablehlo::ResultAccuracyAttr::getChecked(emitError, context, accuracy.getAtol(),
                                                                accuracy.getRtol(), accuracy.getUlps(), mode)
                    : Attribute();
      })
      .Case([&](SubAxisInfoV1Attr info) -> Attribute {
        return stablehlo::SubAxisInfoAttr::getChecked(emitError, context, info.getPreSize(), info.getSize());
      })
      .Case([&](AxisRefV1Attr axis) { return axisFromVhlo(axis, emitError); })
      .Case([&](MeshAxisV1Attr axis) -> Attribute {
        auto name = fromVhloAs<StringAttr>(axis.getName(), emitError);
        return name ? stablehlo::MeshAxisAttr::get(context, name, axis.getSize()) : Attribute();
      })
      .Case([&](MeshV1Attr mesh) { return meshFromVhlo(mesh, emitError); })
      .Case([&](ReplicaGroupMeshAxesV1Attr groups) { return groupsFromVhlo(groups, emitError); })
      .Default([](Attribute) { return Attribute(); });
}

//===-- Lists of integers -------------------------------------------------===//

std::optional<SmallVector<int64_t>> integersOf(Attribute attr) {
  auto tensor = dyn_cast_or_null<TensorV1Attr>(attr);
  auto type = tensor ? dyn_cast<RankedTensorV1Type>(tensor.getType()) : RankedTensorV1Type();
  if (!type || type.getShape().size() != 1 || type.getShape()[0] > maxListSize ||
      type.getElementType() != ScalarV1Type::get(attr.getContext(), code::I64))
    return std::nullopt;
  // The attribute is verified, so no error can occur.
  DenseElementsAttr elements = fromVhlo(tensor, [&] { return emitError(UnknownLoc::get(attr.getContext())); });
  return llvm::to_vector(elements.getValues<int64_t>());
}

Attribute integerToVhlo(MLIRContext *context, int64_t value) {
  return IntegerV1Attr::get(context, ScalarV1Type::get(context, code::I64), APInt(64, value, /*isSigned=*/true));
}

Attribute integersToVhlo(MLIRContext *context, ArrayRef<int64_t> values) {
  return toVhlo(Attribute(Builder(context).getI64TensorAttr(values)));
}

} // namespace millrace::vhlo
