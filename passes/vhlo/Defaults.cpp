// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Defaults.cpp - Attributes that StableHLO leaves out ----------------===//
#include "passes/vhlo/Defaults.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/Builders.h"
#include "passes/vhlo/Attributes.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

enum class Default {
  Required,
  False,
  ZeroInteger,
  MinusOne,
  EmptyString,
  EmptyArray,
  EmptyDict,
  EmptyList,     // a list without elements
  Ones,          // an i64 for each window dimension
  ZeroPairs,     // a pair of i64 for each window dimension
  AllFalse,      // an i1 for each window dimension
  Config,        // "" or, for the typed FFI, {}
  NoType,
  OriginalApi,
  DefaultPrecision, // twice
  DefaultAccuracy,
};

struct DefaultRule {
  StringLiteral op, name; // an empty `op` matches all other operations
  Default value;
};

constexpr DefaultRule rules[] = {
    {"func", "sym_visibility", Default::EmptyString},
    {"func", "arg_attrs", Default::EmptyArray},
    {"func", "res_attrs", Default::EmptyArray},
    {"cholesky", "lower", Default::False},
    {"compare", "compare_type", Default::NoType},
    {"composite", "composite_attributes", Default::EmptyDict},
    {"composite", "version", Default::ZeroInteger},
    {"custom_call", "api_version", Default::OriginalApi},
    {"custom_call", "backend_config", Default::Config},
    {"custom_call", "called_computations", Default::EmptyArray},
    {"custom_call", "has_side_effect", Default::False},
    {"custom_call", "operand_layouts", Default::EmptyArray},
    {"custom_call", "output_operand_aliases", Default::EmptyArray},
    {"custom_call", "result_layouts", Default::EmptyArray},
    {"custom_call", "result_tilings", Default::EmptyArray},
    {"infeed", "infeed_config", Default::EmptyString},
    {"infeed", "layout", Default::EmptyArray},
    {"outfeed", "outfeed_config", Default::EmptyString},
    {"sort", "dimension", Default::MinusOne},
    {"sort", "is_stable", Default::False},
    {"dynamic_conv", "padding", Default::Required},
    {"recv", "source_target_pairs", Default::EmptyList},
    {"send", "source_target_pairs", Default::EmptyList},
    {"", "base_dilations", Default::Ones},
    {"", "has_dynamic_root", Default::False},
    {"", "indices_are_sorted", Default::False},
    {"", "is_host_transfer", Default::False},
    {"", "known_expanding_dimensions", Default::EmptyList},
    {"", "known_nonexpanding_dimensions", Default::EmptyList},
    {"", "lhs_dilation", Default::Ones},
    {"", "padding", Default::ZeroPairs},
    {"", "precision_config", Default::DefaultPrecision},
    {"", "result_accuracy", Default::DefaultAccuracy},
    {"", "rhs_dilation", Default::Ones},
    {"", "unique_indices", Default::False},
    {"", "use_global_device_ids", Default::False},
    {"", "window_dilations", Default::Ones},
    {"", "window_reversal", Default::AllFalse},
    {"", "window_strides", Default::Ones},
};

Default ruleFor(StringRef stem, StringRef name) {
  for (const DefaultRule &rule : rules)
    if (rule.name == name && (rule.op.empty() || rule.op == stem))
      return rule.value;
  return Default::Required;
}

/// Returns the number of window dimensions of a StableHLO operation; nullopt if its attributes do not tell.
std::optional<int64_t> windowRank(Operation *op) {
  if (auto numbers = op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers"))
    return numbers.getInputSpatialDimensions().size();
  if (auto window = op->getAttrOfType<DenseI64ArrayAttr>("window_dimensions"))
    return window.size();
  return std::nullopt;
}

Attribute splat(MLIRContext *context, ArrayRef<int64_t> shape, Attribute value) {
  auto type = RankedTensorType::get(shape, cast<TypedAttr>(value).getType());
  // An attribute without elements is no splat, because it has no bytes.
  bool isEmpty = llvm::is_contained(shape, 0);
  return toVhlo(Attribute(DenseElementsAttr::get(type, isEmpty ? ArrayRef<Attribute>() : ArrayRef<Attribute>(value))));
}

bool isSplat(Attribute attr, Attribute value) {
  auto tensor = dyn_cast_or_null<TensorV1Attr>(attr);
  if (!tensor)
    return false;
  DenseElementsAttr elements = fromVhlo(tensor, [&] { return emitError(UnknownLoc::get(attr.getContext())); });
  return elements && elements.getElementType() == cast<TypedAttr>(value).getType() && elements.isSplat() &&
         elements.getSplatValue<Attribute>() == value;
}

Attribute enumValue(MLIRContext *context, unsigned code, unsigned value) {
  return EnumV1Attr::get(context, code, value);
}

// Returns a default that does not depend on the operation, else null.
Attribute constantDefault(MLIRContext *context, Default rule) {
  switch (rule) {
  case Default::False:
    return BoolV1Attr::get(context, false);
  case Default::ZeroInteger:
    return integerToVhlo(context, 0);
  case Default::MinusOne:
    return integerToVhlo(context, -1);
  case Default::EmptyString:
    return StringV1Attr::get(context, "");
  case Default::EmptyArray:
    return ArrayV1Attr::get(context, {});
  case Default::EmptyDict:
    return DictV1Attr::get(context, {});
  case Default::EmptyList:
    return integersToVhlo(context, {});
  case Default::NoType:
    return enumValue(context, code::ComparisonType, 0);
  case Default::OriginalApi:
    return enumValue(context, code::CustomCallApiVersion, 1);
  case Default::DefaultPrecision:
    return ArrayV1Attr::get(context, {enumValue(context, code::Precision, 0), enumValue(context, code::Precision, 0)});
  case Default::DefaultAccuracy:
    return ResultAccuracyV1Attr::get(context, APFloat(0.0), APFloat(0.0), 0,
                                     enumValue(context, code::ResultAccuracyMode, 0));
  default:
    return {};
  }
}

bool isEmptyArray(Attribute attr) {
  auto array = dyn_cast_or_null<ArrayV1Attr>(attr);
  return array && array.getValue().empty();
}

} // namespace

Attribute defaultFor(Operation *op, StringRef stem, StringRef name) {
  MLIRContext *context = op->getContext();
  Builder builder(context);
  Default rule = ruleFor(stem, name);
  std::optional<int64_t> rank = windowRank(op);
  switch (rule) {
  case Default::Required:
    return {};
  case Default::Ones:
    return rank ? splat(context, {*rank}, builder.getI64IntegerAttr(1)) : Attribute();
  case Default::ZeroPairs:
    return rank ? splat(context, {*rank, 2}, builder.getI64IntegerAttr(0)) : Attribute();
  case Default::AllFalse:
    return rank ? splat(context, {*rank}, builder.getBoolAttr(false)) : Attribute();
  case Default::Config:
    return cast<stablehlo::CustomCallOp>(op).getApiVersion() == stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI
               ? constantDefault(context, Default::EmptyDict)
               : constantDefault(context, Default::EmptyString);
  default:
    return constantDefault(context, rule);
  }
}

bool isDefault(Operation *op, StringRef stem, StringRef name, Attribute attr) {
  MLIRContext *context = op->getContext();
  Builder builder(context);
  switch (Default rule = ruleFor(stem, name)) {
  case Default::Required:
    return false;
  case Default::ZeroInteger: {
    auto integer = dyn_cast_or_null<IntegerV1Attr>(attr);
    return integer && integer.getValue().isZero();
  }
  case Default::EmptyArray:
    // Layouts of operands and results are present together.
    if (name == "operand_layouts" || name == "result_layouts")
      return isEmptyArray(op->getAttr("operand_layouts")) && isEmptyArray(op->getAttr("result_layouts"));
    return isEmptyArray(attr);
  case Default::EmptyList: {
    auto tensor = dyn_cast_or_null<TensorV1Attr>(attr);
    return tensor && tensor.getData().empty();
  }
  case Default::DefaultPrecision: { // with any number of entries
    auto precisions = dyn_cast_or_null<ArrayV1Attr>(attr);
    return precisions && llvm::all_equal(precisions.getValue()) &&
           (precisions.getValue().empty() || precisions.getValue().front() == enumValue(context, code::Precision, 0));
  }
  case Default::Ones:
    return isSplat(attr, builder.getI64IntegerAttr(1));
  case Default::ZeroPairs:
    return isSplat(attr, builder.getI64IntegerAttr(0));
  case Default::AllFalse:
    return isSplat(attr, builder.getBoolAttr(false));
  case Default::Config:
    return op->getAttr("api_version") == enumValue(context, code::CustomCallApiVersion, 4)
               ? attr == constantDefault(context, Default::EmptyDict)
               : attr == constantDefault(context, Default::EmptyString);
  default:
    return attr == constantDefault(context, rule);
  }
}

} // namespace millrace::vhlo
