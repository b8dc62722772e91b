// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTrip.cpp - sdy as text in frontend attributes -----------------===//
#include "passes/sharding/exchange/RoundTrip.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::sharding {

DictionaryAttr frontendAttrs(Operation *op) { return op->getAttrOfType<DictionaryAttr>(frontendAttrsName); }

Attribute parseFrontendAttr(DictionaryAttr frontend, StringRef name) {
  auto text = frontend ? frontend.getAs<StringAttr>(name) : StringAttr();
  if (!text)
    return {};
  // Older writers escaped quotes once more.
  std::string plain;
  for (StringRef rest = text.getValue(); !rest.empty(); rest = rest.drop_front()) {
    if (rest.starts_with("\\\"") || rest.starts_with("\\\\"))
      rest = rest.drop_front();
    plain += rest.front();
  }
  return parseAttribute(plain, frontend.getContext());
}

void setFrontendAttr(NamedAttrList &attrs, StringRef name, Attribute value) {
  auto old = dyn_cast_or_null<DictionaryAttr>(attrs.get(frontendAttrsName));
  if (!value && !old)
    return;
  NamedAttrList strings(old);
  if (value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    strings.set(name, StringAttr::get(value.getContext(), text));
  } else {
    strings.erase(name);
  }
  if (strings.empty())
    attrs.erase(frontendAttrsName);
  else
    attrs.set(frontendAttrsName, strings.getDictionary(value ? value.getContext() : old.getContext()));
}

void setFrontendAttr(Operation *op, StringRef name, Attribute value) {
  NamedAttrList attrs(op->getDiscardableAttrDictionary());
  setFrontendAttr(attrs, name, value);
  op->setDiscardableAttrs(attrs.getDictionary(op->getContext()));
}

stablehlo::CustomCallOp createCustomCall(OpBuilder &builder, Location loc, StringRef target, TypeRange results,
                                         ValueRange operands, bool hasSideEffect) {
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr("call_target_name", builder.getStringAttr(target))};
  if (hasSideEffect)
    attributes.push_back(builder.getNamedAttr("has_side_effect", builder.getBoolAttr(true)));
  return stablehlo::CustomCallOp::create(builder, loc, results, operands, attributes);
}

bool isCallOf(Operation *op, StringRef name) {
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == name;
}

SmallVector<int64_t> unspecifiedDims(stablehlo::CustomCallOp call) {
  constexpr StringLiteral kList = "unspecified_dims=[";
  SmallVector<int64_t> dims;
  auto config = dyn_cast_or_null<StringAttr>(call->getAttr("backend_config"));
  if (!config || !config.getValue().contains(kList))
    return dims;
  SmallVector<StringRef> numbers;
  config.getValue().split(kList).second.take_until([](char c) { return c == ']'; }).split(numbers, ',', -1, false);
  for (StringRef number : numbers)
    if (int64_t dim; !number.trim().getAsInteger(10, dim))
      dims.push_back(dim);
  return dims;
}

void replaceByConstraint(stablehlo::CustomCallOp call, sdy::TensorShardingAttr sharding) {
  OpBuilder builder(call);
  call->replaceAllUsesWith(
      sdy::ShardingConstraintOp::create(builder, call.getLoc(), call->getResult(0).getType(), call->getOperand(0), sharding));
  call.erase();
}

void setResultSharding(Operation *op, sdy::TensorShardingAttr sharding) {
  op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(op->getContext(), sharding));
}

bool hasRoundTripForm(ModuleOp module) {
  auto mentions = [](DictionaryAttr attrs) {
    auto frontend = attrs ? attrs.getAs<DictionaryAttr>(frontendAttrsName) : DictionaryAttr();
    return frontend && llvm::any_of(frontend, [](NamedAttribute attr) { return attr.getName().strref().starts_with("xla.sdy."); });
  };
  return module
      .walk([&](Operation *op) {
        if (mentions(op->getDiscardableAttrDictionary()))
          return WalkResult::interrupt();
        if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && call.getCallTargetName().starts_with("xla.sdy."))
          return WalkResult::interrupt();
        auto function = dyn_cast<func::FuncOp>(op);
        for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
          if (mentions(function.getArgAttrDict(i)))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace millrace::sharding
