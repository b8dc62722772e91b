// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpVersions.cpp - An operation in the version before or after -------===//
// A newer version adds attributes (with a value that means what the older one meant), or allows more operands or regions.
#include "passes/vhlo/OpVersions.h"

#include "mlir/IR/Builders.h"
#include "passes/vhlo/Attributes.h"
#include "passes/vhlo/Defaults.h"
#include "passes/vhlo/Rebuild.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

/// Returns the value of an attribute that version `next` adds to `stem`.
Attribute addedValue(Operation *op, StringRef stem, StringRef name) {
  MLIRContext *context = op->getContext();
  if (stem == "dot_general") // no algorithm
    return TypeV1Attr::get(context, ScalarV1Type::get(context, code::None));
  if (stem == "gather" || stem == "dynamic_gather" || stem == "scatter") // no batching dimensions
    return integersToVhlo(context, {});
  return defaultFor(op, stem, name);
}

/// In the portable format, empty lists are equal whatever their shapes are.
bool sameValue(Attribute attr, Attribute expected) {
  auto tensor = dyn_cast_or_null<TensorV1Attr>(attr);
  auto wanted = dyn_cast<TensorV1Attr>(expected);
  return attr == expected || (tensor && wanted && wanted.getData().empty() && tensor.getData().empty());
}

/// Returns the padding of dynamic_conv before it became an operand: zeros, a pair for each spatial dimension.
Attribute zeroPadding(Operation *op) {
  auto spatial = integersOf(op->getAttr("input_spatial_dimensions"));
  if (!spatial)
    return {};
  Builder builder(op->getContext());
  auto type = RankedTensorType::get({int64_t(spatial->size()), 2}, builder.getI64Type());
  return toVhlo(Attribute(DenseElementsAttr::get(type, builder.getI64IntegerAttr(0))));
}

NamedAttrList attributesOf(Operation *op) { return NamedAttrList(op->getAttrs()); }

} // namespace

Operation *upgradeOp(Operation *op, const OpDef &next, ValueRange operands, std::string &why) {
  NamedAttrList attributes = attributesOf(op);
  auto names = next.attributeNames();
  if (next.stem() == "dynamic_conv") {
    // Both paddings were added; every writer left zeros in the attribute.
    if (attributes.erase("padding") != zeroPadding(op))
      return why = "padding is not zero", nullptr;
  }
  for (StringRef name : names)
    if (!attributes.get(name)) {
      Attribute value = addedValue(op, next.stem(), name);
      if (!value)
        return why = "nothing says what '" + name.str() + "' is", nullptr;
      attributes.set(name, value);
    }
  return rebuild(op, ("vhlo." + next.name).str(), operands, attributes);
}

Operation *downgradeOp(Operation *op, const OpDef &next, ValueRange operands, std::string &why) {
  NamedAttrList attributes = attributesOf(op);
  auto names = next.attributeNames();
  for (StringRef name : opDef(op)->attributeNames()) {
    if (llvm::is_contained(names, name))
      continue;
    Attribute expected = addedValue(op, next.stem(), name);
    if (!expected || !sameValue(attributes.erase(name), expected))
      return why = "'" + name.str() + "' says something that the older version cannot", nullptr;
  }
  if (next.stem() == "dynamic_conv") {
    Attribute padding = zeroPadding(op);
    if (!padding)
      return why = "nothing says what 'padding' is", nullptr;
    attributes.set("padding", padding);
  }
  bool wasVariadic = opDef(op)->operands == "operands*";
  if (wasVariadic && next.operands == "operand" && operands.size() != 1)
    return why = "the older version takes one operand", nullptr;
  if (next.regions.empty() && op->getNumRegions())
    return why = "the older version has no regions", nullptr;
  return rebuild(op, ("vhlo." + next.name).str(), operands, attributes);
}

} // namespace millrace::vhlo
