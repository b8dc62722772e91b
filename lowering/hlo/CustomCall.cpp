// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCall.cpp - Custom calls and checks as HLO --------------------===//
// Input:   %1 = stablehlo.custom_call @foo(%0) {api_version = 4 : i32, backend_config = {a = 1 : i32}} : ...
// Output:  custom-call.1 = f32[2]{0} custom-call(x), custom_call_target="foo", api_version=API_VERSION_TYPED_FFI,
//          backend_config={a = 1 : i32}
#include "lowering/hlo/Literals.h"
#include "lowering/hlo/Writer.h"

#include "dialects/check/CheckOps.h"
#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

/// Shapes of `types` with the layouts that `layouts` lists, as far as it does.
static SmallVector<std::string> shapesWith(TypeRange types, std::optional<ArrayAttr> layouts) {
  SmallVector<std::string> shapes;
  for (auto [i, type] : llvm::enumerate(types)) {
    bool takesLayout = layouts && i < layouts->size() && isa<RankedTensorType, MemRefType>(type);
    shapes.push_back(shapeText(type, takesLayout ? (*layouts)[i] : Attribute()));
  }
  return shapes;
}

static std::string aliasText(ArrayAttr aliases) {
  SmallVector<std::string> entries;
  for (auto alias : aliases.getAsRange<shlo::OutputOperandAliasAttr>())
    entries.push_back(braces(alias.getOutputTupleIndices()) + ": (" + std::to_string(alias.getOperandIndex()) + ", " +
                      braces(alias.getOperandTupleIndices()) + ")");
  return "{" + llvm::join(entries, ", ") + "}";
}

/// The configuration as text: MLIR's own for a dictionary.
static std::string configOf(shlo::CustomCallOp op) {
  Attribute config = op.getBackendConfigAttr();
  if (!config || op.hasEmptyBackendConfig())
    config = op->getAttr("mhlo.backend_config");
  if (auto text = dyn_cast_or_null<StringAttr>(config))
    return text.getValue().str();
  std::string dictionary;
  llvm::raw_string_ostream os(dictionary);
  if (config)
    config.print(os);
  return dictionary;
}

static LogicalResult customCall(shlo::CustomCallOp op, Computation &to) {
  Attributes attributes;
  attributes.quoted("custom_call_target", op.getCallTargetName());
  if (auto layouts = op.getOperandLayouts())
    attributes.add("operand_layout_constraints", "{" + llvm::join(shapesWith(op->getOperandTypes(), layouts), ", ") + "}");
  attributes.flag("custom_call_has_side_effect", op.getHasSideEffect());
  if (ArrayAttr aliases = op.getOutputOperandAliases(); aliases && !aliases.empty())
    attributes.add("output_to_operand_aliasing", aliasText(aliases));
  auto version = op.getApiVersion();
  if (version != shlo::CustomCallApiVersion::API_VERSION_ORIGINAL && version != shlo::CustomCallApiVersion::API_VERSION_UNSPECIFIED)
    attributes.add("api_version", shlo::stringifyCustomCallApiVersion(version));
  SmallVector<std::string> called;
  for (auto symbol : op.getCalledComputations().getAsRange<FlatSymbolRefAttr>()) {
    FailureOr<std::string> computation = to.module.function(op, symbol);
    if (failed(computation))
      return failure();
    called.push_back(*computation);
  }
  if (!called.empty())
    attributes.add("called_computations", "{" + llvm::join(called, ", ") + "}");
  annotate(op->getDiscardableAttrDictionary(), attributes);
  if (std::string config = configOf(op); !config.empty())
    attributes.config("backend_config", config);

  SmallVector<std::string> shapes = shapesWith(op->getResultTypes(), op.getResultLayouts());
  std::string call = to.add("custom-call", shapes.size() == 1 ? shapes.front() : tupleText(shapes), to[op->getOperands()], attributes);
  for (OpResult result : op->getResults()) {
    const std::string &shape = shapes[result.getResultNumber()];
    std::string value = shapes.size() == 1 ? call : to.element(call, shape, result.getResultNumber());
    // Every other instruction is row-major: a layout of the call's own ends here.
    std::string plain = shapeText(result.getType());
    to.bind(result, shape == plain ? value : to.add("copy", plain, value));
  }
  return success();
}

/// Checks are custom calls of the same names; a constant to compare with becomes an operand.
static LogicalResult check(Operation *op, StringRef target, std::vector<std::string> operands, DictionaryAttr config,
                           Computation &to) {
  Attributes attributes;
  attributes.quoted("custom_call_target", target).add("custom_call_has_side_effect", "true");
  if (!config.empty()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    config.print(os);
    attributes.add("api_version", "API_VERSION_TYPED_FFI").config("backend_config", text);
  }
  to.add("custom-call", "()", operands, attributes);
  return success();
}

static LogicalResult checkConstant(Operation *op, StringRef target, Value value, ElementsAttr expected,
                                   DictionaryAttr config, Computation &to) {
  DenseElementsAttr dense = denseOf(expected);
  if (!dense)
    return op->emitOpError("has a value whose elements are not at hand");
  return check(op, target, {to[value], to.constant(dense)}, config, to);
}

Visit visitCustomCall(Operation *op, Computation &to) {
  Builder builder(op->getContext());
  DictionaryAttr none = builder.getDictionaryAttr({});
  auto tolerance = [&](const llvm::APFloat &value) {
    return builder.getDictionaryAttr(builder.getNamedAttr("tolerance", builder.getF64FloatAttr(value.convertToDouble())));
  };
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::CustomCallOp>([&](auto op) { return customCall(op, to); })
      .Case<check::ExpectEqOp>(
          [&](check::ExpectEqOp op) { return check(op, "check.expect_eq", to[op->getOperands()], none, to); })
      .Case<check::ExpectEqConstOp>([&](check::ExpectEqConstOp op) {
        return checkConstant(op, "check.expect_eq", op.getLhs(), op.getValue(), none, to);
      })
      .Case<check::ExpectAlmostEqOp>([&](check::ExpectAlmostEqOp op) {
        return check(op, "check.expect_almost_eq", to[op->getOperands()], tolerance(op.getTolerance()), to);
      })
      .Case<check::ExpectAlmostEqConstOp>([&](check::ExpectAlmostEqConstOp op) {
        return checkConstant(op, "check.expect_almost_eq", op.getLhs(), op.getValue(), tolerance(op.getTolerance()), to);
      })
      .Case<check::ExpectCloseOp>([&](check::ExpectCloseOp op) {
        auto ulps = [&](uint64_t count) { return builder.getI64IntegerAttr(count); };
        NamedAttribute bounds[] = {builder.getNamedAttr("max_ulp_difference", ulps(op.getMaxUlpDifference())),
                                   builder.getNamedAttr("min_ulp_difference", ulps(op.getMinUlpDifference()))};
        return check(op, "check.expect_close", to[op->getOperands()], builder.getDictionaryAttr(bounds), to);
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
