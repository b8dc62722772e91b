// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpMap.cpp - Operations of StableHLO and func <-> portable ones -----===//
#include "passes/vhlo/OpMap.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/chlo/Passes.h"
#include "passes/vhlo/Attributes.h"
#include "passes/vhlo/Defaults.h"
#include "passes/vhlo/Groups.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

/// The form in StableHLO of an attribute that the portable format has as ...
enum class Form {
  Same,       // the general rules of Attributes.h
  I64Array,   // tensor_v1 of i64
  BoolArray,  // tensor_v1 of i1
  Symbol,     // string_v1
  Symbols,    // array_v1 of string_v1
  Unit,       // bool_v1
  ApiVersion, // api_version_v1
};

struct FormRule {
  StringLiteral op, name; // an empty `op` matches all other operations
  Form form;
};

// Attributes that are not listed have Form::Same.
constexpr FormRule forms[] = {
    {"", "base_dilations", Form::I64Array},
    {"", "broadcast_dimensions", Form::I64Array},
    {"", "broadcast_sizes", Form::I64Array},
    {"", "dimensions", Form::I64Array},
    {"", "edge_padding_high", Form::I64Array},
    {"", "edge_padding_low", Form::I64Array},
    {"", "fft_length", Form::I64Array},
    {"", "interior_padding", Form::I64Array},
    {"", "known_expanding_dimensions", Form::I64Array},
    {"", "known_nonexpanding_dimensions", Form::I64Array},
    {"", "lhs_dilation", Form::I64Array},
    {"", "limit_indices", Form::I64Array},
    {"", "permutation", Form::I64Array},
    {"", "rhs_dilation", Form::I64Array},
    {"", "slice_sizes", Form::I64Array},
    {"", "start_indices", Form::I64Array},
    {"", "strides", Form::I64Array},
    {"", "window_dilations", Form::I64Array},
    {"", "window_dimensions", Form::I64Array},
    {"", "window_strides", Form::I64Array},
    {"", "window_reversal", Form::BoolArray},
    {"call", "callee", Form::Symbol},
    {"composite", "decomposition", Form::Symbol},
    {"custom_call", "api_version", Form::ApiVersion},
    {"custom_call", "called_computations", Form::Symbols},
    {"", "has_dynamic_root", Form::Unit},
    {"", "use_global_device_ids", Form::Unit},
};

Form formOf(StringRef stem, StringRef attribute) {
  for (const FormRule &rule : forms)
    if (rule.name == attribute && (rule.op.empty() || rule.op == stem))
      return rule.form;
  return Form::Same;
}

Attribute symbolFromVhlo(Attribute attr, EmitError emitError) {
  auto name = dyn_cast<StringV1Attr>(attr);
  if (!name || name.getValue().empty())
    return emitError() << "expects the name of a function, but got " << attr, Attribute();
  return FlatSymbolRefAttr::get(attr.getContext(), name.getValue());
}

Attribute convertFromVhlo(Attribute attr, Form form, EmitError emitError) {
  MLIRContext *context = attr.getContext();
  switch (form) {
  case Form::Same:
  case Form::ApiVersion:
    return fromVhlo(attr, emitError);
  case Form::I64Array: {
    auto values = integersOf(attr);
    return values ? DenseI64ArrayAttr::get(context, *values)
                  : (emitError() << "expects a list of integers, but got " << attr, Attribute());
  }
  case Form::BoolArray: {
    auto values = dyn_cast_or_null<DenseElementsAttr>(fromVhlo(attr, emitError));
    if (!values || !values.getElementType().isInteger(1) || values.size() > maxListSize)
      return emitError() << "expects a list of booleans, but got " << attr, Attribute();
    return DenseBoolArrayAttr::get(context, llvm::to_vector(values.getValues<bool>()));
  }
  case Form::Symbol:
    return symbolFromVhlo(attr, emitError);
  case Form::Symbols: {
    auto names = dyn_cast<ArrayV1Attr>(attr);
    if (!names)
      return emitError() << "expects a list of functions, but got " << attr, Attribute();
    SmallVector<Attribute> symbols;
    for (Attribute name : names.getValue())
      if (!symbols.emplace_back(symbolFromVhlo(name, emitError)))
        return {};
    return ArrayAttr::get(context, symbols);
  }
  case Form::Unit:
    // False is the default, which is not written.
    return attr == BoolV1Attr::get(context, true)
               ? UnitAttr::get(context)
               : (emitError() << "expects a boolean, but got " << attr, Attribute());
  }
  return {};
}

Attribute convertToVhlo(Attribute attr, Form form, bool allowOthers) {
  if (form == Form::Unit)
    return isa<UnitAttr>(attr) ? BoolV1Attr::get(attr.getContext(), true) : Attribute();
  if (form == Form::ApiVersion) // a plain i32 in StableHLO
    return EnumV1Attr::get(attr.getContext(), code::CustomCallApiVersion, cast<IntegerAttr>(attr).getInt());
  return toVhlo(attr, allowOthers);
}

} // namespace

//===-- Names -------------------------------------------------------------===//

const OpDef *portableOp(Operation *op) {
  if (isa<func::FuncOp, func::CallOp, func::ReturnOp, stablehlo::ReturnOp>(op))
    return currentOp(op->getName().stripDialect());
  return isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) ? currentOp(op->getName().stripDialect())
                                                                       : nullptr;
}

std::string stablehloName(Operation *op, const OpDef &def) {
  StringRef stem = def.stem();
  bool inFunction = isa_and_nonnull<func::FuncOp>(op->getParentOp());
  bool isFunc = stem == "func" || stem == "call" || (stem == "return" && inFunction);
  return ((isFunc ? "func." : "stablehlo.") + stem).str();
}

//===-- Attributes --------------------------------------------------------===//

LogicalResult attributesFromVhlo(Operation *op, const OpDef &def, NamedAttrList &attributes) {
  auto emitError = [&] { return op->emitOpError(); };
  StringRef stem = def.stem();
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    Attribute converted = fromVhlo(attr.getValue(), emitError);
    if (!converted)
      return failure();
    attributes.set(attr.getName(), converted);
  }
  for (const AttributeGroup &group : groupsOf(stem)) {
    Attribute packed;
    if (failed(group.fromVhlo(op, packed)))
      return failure();
    if (packed)
      attributes.set(group.name, packed);
  }
  for (StringRef name : def.attributeNames()) {
    Attribute attr = op->getAttr(name);
    if (inGroup(stem, name) || isDefault(op, stem, name, attr))
      continue;
    Attribute converted = convertFromVhlo(attr, formOf(stem, name), emitError);
    if (!converted)
      return failure();
    attributes.set(name, converted);
  }
  return success();
}

LogicalResult attributesToVhlo(Operation *op, const OpDef &def, bool allowOthers, NamedAttrList &attributes) {
  StringRef stem = def.stem();
  NamedAttrList rest(op->getAttrs());
  for (const AttributeGroup &group : groupsOf(stem))
    if (failed(group.toVhlo(op, rest.erase(group.name), attributes)))
      return failure();
  for (StringRef name : def.attributeNames()) {
    if (inGroup(stem, name))
      continue;
    Attribute attr = rest.erase(name);
    Attribute converted = attr ? convertToVhlo(attr, formOf(stem, name), allowOthers) : defaultFor(op, stem, name);
    if (!converted || !isVhlo(converted))
      return op->emitOpError("has no portable form of attribute '") << name << "'";
    attributes.set(name, converted);
  }
  for (StringRef permission : {kMayFuseAttr, kSquareAttr})
    rest.erase(permission); // no reader needs the attribute
  for (NamedAttribute attr : rest) {
    Attribute converted = toVhlo(attr.getValue(), allowOthers);
    if (!converted)
      return op->emitOpError("has no portable form of attribute '") << attr.getName().getValue() << "'";
    attributes.set(attr.getName(), converted);
  }
  return success();
}

} // namespace millrace::vhlo
