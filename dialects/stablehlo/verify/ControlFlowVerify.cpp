// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowVerify.cpp - Constraints of while, composite, custom_call -===//
#include "dialects/stablehlo/ControlFlowOps.h"

#include "llvm/Support/Regex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace millrace::stablehlo {

LogicalResult WhileOp::verify() {
  TypeRange operands = getOperand().getTypes();
  TypeRange condArgs = getCond().getArgumentTypes(), bodyArgs = getBody().getArgumentTypes();
  // (C1)
  if (!isCompatibleForHloTypeInference(operands, condArgs))
    return emitOptionalError(getLoc(), "expect operands to be compatible with condition block arguments but got ",
                             operands, " vs ", condArgs);
  // (C2)
  if (!isCompatibleForHloTypeInference(operands, bodyArgs))
    return emitOptionalError(getLoc(), "expect operands to be compatible with body block arguments but got ", operands,
                             " vs ", bodyArgs);
  TypeRange returned = getBody().front().getTerminator()->getOperandTypes();
  if (!isCompatibleForHloTypeInference(operands, returned))
    return emitOptionalError(getLoc(), "expect operands to be compatible with body block return types but got ",
                             operands, " vs ", returned);
  // (C1)
  TypeRange condition = getCond().front().getTerminator()->getOperandTypes();
  if (condition.size() != 1)
    return emitOptionalError(getLoc(), "expect condition body returns a single value but got ", condition.size());
  auto type = dyn_cast<ShapedType>(condition[0]);
  if (!type || type.getRank() != 0 || !type.getElementType().isInteger(1))
    return emitOptionalError(getLoc(), "expect condition block return a zero-ranked tensor of i1 but got ",
                             condition[0]);
  return success();
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C1)
  constexpr const char *pattern = "^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$";
  if (!llvm::Regex(pattern).match(getName()))
    return emitOptionalError(getLoc(),
                             "name must be a valid namespaced op name, i.e. it must match the following regular "
                             "expression: ",
                             pattern, " e.g. \"my_namespace.my_op\"");
  // (C2)
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getDecompositionAttr());
  if (!function)
    return emitOptionalError(getLoc(), "'", getDecomposition(), "' does not reference a valid function");
  // (C3) (C4)
  auto compare = [&](TypeRange mine, TypeRange theirs, StringRef what) -> LogicalResult {
    if (mine.size() != theirs.size())
      return emitOptionalError(getLoc(), "has ", mine.size(), " ", what, "(s), but decomposition has ", theirs.size());
    for (size_t i = 0; i != mine.size(); ++i)
      if (mine[i] != theirs[i])
        return emitOptionalError(getLoc(), what, " at index ", i, " has type ", mine[i],
                                 ", but decomposition has type ", theirs[i]);
    return success();
  };
  if (failed(compare(getOperandTypes(), function.getFunctionType().getInputs(), "operand")))
    return failure();
  return compare(getResultTypes(), function.getFunctionType().getResults(), "result");
}

//===-- custom_call -------------------------------------------------------===//

Attribute CustomCallOp::getBackendConfigOrDefault() {
  if (Attribute config = getBackendConfigAttr())
    return config;
  if (getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI)
    return DictionaryAttr::get(getContext());
  return StringAttr::get(getContext(), "");
}

bool CustomCallOp::hasEmptyBackendConfig() {
  Attribute config = getBackendConfigOrDefault();
  if (auto dictionary = dyn_cast<DictionaryAttr>(config))
    return dictionary.empty();
  return cast<StringAttr>(config).empty();
}

void CustomCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Only a call with has_side_effect = false has no effects, because producers that omit the attribute may mean either.
  BoolAttr says = getHasSideEffectAttr();
  if (says && !says.getValue())
    return;
  effects.emplace_back(MemoryEffects::Allocate::get());
  effects.emplace_back(MemoryEffects::Free::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

static LogicalResult checkLayouts(CustomCallOp op, TypeRange types, ArrayAttr layouts, StringRef what) {
  if (types.size() != layouts.size())
    return op.emitOpError() << "Number of " << what << "s must match the number of " << what << " layouts, "
                            << types.size() << " != " << layouts.size();
  for (auto [index, type, attr] : llvm::enumerate(types, layouts)) {
    auto layout = cast<DenseIntElementsAttr>(attr);
    if (isa<TupleType>(type))
      return op.emitOpError() << "Tuple types are not fully supported with layout constraints yet";
    auto shaped = dyn_cast<ShapedType>(type);
    // A value without shape has the empty layout.
    if (!shaped) {
      if (layout.empty())
        continue;
      return op.emitOpError() << "Only tensor types can have non-empty layout: " << what << " #" << index
                              << " of type " << type << " has layout " << layout;
    }
    SmallVector<int64_t> order;
    for (const APInt &dim : layout.getValues<APInt>())
      order.push_back(dim.getSExtValue());
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    if (int64_t(order.size()) != shaped.getRank() || !llvm::equal(sorted, llvm::seq<int64_t>(0, shaped.getRank())))
      return op.emitOpError() << "incorrect layout " << layout << " for type " << type
                              << ", layout must be a permutation of [0, " << shaped.getRank() << ")";
  }
  return success();
}

static LogicalResult checkAlias(CustomCallOp op, OutputOperandAliasAttr alias) {
  auto walk = [](Type type, ArrayRef<int64_t> indices) -> Type {
    for (int64_t index : indices) {
      auto tuple = dyn_cast_or_null<TupleType>(type);
      if (!tuple || index < 0 || index >= int64_t(tuple.size()))
        return {};
      type = tuple.getType(index);
    }
    return type;
  };
  int64_t operand = alias.getOperandIndex();
  if (operand < 0 || operand >= int64_t(op->getNumOperands()))
    return op.emitOpError() << "expects operandIndex in the output_operand_alias attribute to be in range [0, "
                            << op->getNumOperands() << "); got: " << operand << ".";
  Type operandPart = walk(op->getOperand(operand).getType(), alias.getOperandTupleIndices());
  if (!operandPart)
    return op.emitOpError() << "operand_tuple_indices in the output_operand_alias attribute out of bounds";
  // Several results are numbered like the elements of one tuple.
  Type results = op->getNumResults() == 1 ? op->getResult(0).getType()
                                          : TupleType::get(op->getContext(), op->getResultTypes());
  Type outputPart = walk(results, alias.getOutputTupleIndices());
  if (!outputPart)
    return op.emitOpError() << "output_tuple_indices in the output_operand_alias attribute out of bounds";
  if (operandPart != outputPart)
    return op.emitOpError() << "shapes mismatch in the output_operand_alias attribute: operand part has type "
                            << operandPart << " and output part has type " << outputPart;
  return success();
}

LogicalResult CustomCallOp::verify() {
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError() << "Layout attributes should be specified for either both operands and results or none.";
  if (getOperandLayouts()) {
    if (failed(checkLayouts(*this, getOperandTypes(), *getOperandLayouts(), "operand")))
      return failure();
    // The layouts of a single tuple are those of its elements.
    TypeRange results = getResultTypes();
    if (getNumResults() == 1)
      if (auto tuple = dyn_cast<TupleType>(getResult(0).getType()))
        results = tuple.getTypes();
    if (failed(checkLayouts(*this, results, *getResultLayouts(), "result")))
      return failure();
  }
  for (Attribute alias : getOutputOperandAliases())
    if (failed(checkAlias(*this, cast<OutputOperandAliasAttr>(alias))))
      return failure();
  // The typed FFI requires a dictionary, the other versions a string.
  if (Attribute config = getBackendConfigAttr()) {
    if (getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI) {
      if (!isa<DictionaryAttr>(config))
        return emitOpError() << "backend_config for api_version " << stringifyCustomCallApiVersion(getApiVersion())
                             << " must be a dictionary attribute.";
    } else if (!isa<StringAttr>(config)) {
      return emitOpError() << "backend_config for api_version " << stringifyCustomCallApiVersion(getApiVersion())
                           << " must be a string attribute.";
    }
  }
  return success();
}

} // namespace millrace::stablehlo
