// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - Registration of sdy; checks of attributes on other dialects' operations -===//
#include "dialects/sdy/Locations.h"
#include "dialects/sdy/Ops.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
#include "dialects/sdy/Dialect.cpp.inc"

namespace millrace::sdy {

void SdyDialect::initialize() {
  registerShardingOps();
  registerCollectiveOps();
  registerAttributes();
  addBytecodeInterface(*this);
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  // In a portable artifact the operation has no tensors yet. The operation to which it is converted is verified.
  if (op->getName().getDialectNamespace() == "vhlo")
    return success();
  if (attr.getName() == shardingAttrName) {
    if (isa<IntegerAttr>(attr.getValue())) // the number of a device, for sdy-import-maximal-sharding
      return success();
    auto shardings = dyn_cast<TensorShardingPerValueAttr>(attr.getValue());
    if (!shardings)
      return op->emitOpError("should have a sharding attribute of type TensorShardingPerValueAttr");
    return verifyShardings(shardings.getShardings(), op->getResultTypes(), op,
                           [&](const Twine &message) { return op->emitOpError("result ") << message; });
  }
  if (attr.getName() == shardingRuleAttrName) {
    auto rule = dyn_cast<OpShardingRuleAttr>(attr.getValue());
    if (!rule)
      return op->emitOpError("should have a sharding rule attribute of type OpShardingRuleAttr for attr named '")
             << shardingRuleAttrName << "'";
    return verifyRule(rule, op);
  }
  return verifyPropagationEdges(op, attr);
}

Location locationOfArgument(FunctionOpInterface function, unsigned index) {
  if (!function.isExternal() && index < function.front().getNumArguments())
    if (Location own = function.getArgument(index).getLoc(); own->findInstanceOf<FileLineColLoc>())
      return own;
  return function.getLoc();
}

static LogicalResult verifyFunctionValue(Operation *function, NamedAttribute attr, Type type, unsigned index,
                                         StringRef kind, Location location) {
  if (attr.getName() != shardingAttrName)
    return success();
  auto sharding = dyn_cast<TensorShardingAttr>(attr.getValue());
  if (!sharding)
    return function->emitOpError(kind) << " " << index << " - should have a sharding attribute of type TensorShardingAttr";
  auto emitError = [&](const Twine &message) {
    return mlir::emitError(location) << "'" << function->getName() << "' op " << kind << " " << index << " - " << message;
  };
  return verifySharding(sharding, type, function, emitError);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? verifyFunctionValue(op, attr, function.getArgumentTypes()[index], index, "arg", locationOfArgument(function, index))
                  : success();
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? verifyFunctionValue(op, attr, function.getResultTypes()[index], index, "result", op->getLoc()) : success();
}

TensorShardingAttr getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto function = dyn_cast_or_null<FunctionOpInterface>(parent);
    if (!function || !argument.getOwner()->isEntryBlock())
      return {};
    return function.getArgAttrOfType<TensorShardingAttr>(argument.getArgNumber(), shardingAttrName);
  }
  Operation *op = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  auto pick = [&](TensorShardingPerValueAttr all) {
    return all && index < all.getShardings().size() ? all.getShardings()[index] : TensorShardingAttr();
  };
  if (isa<ShardingConstraintOp, ReshardOp, DataFlowEdgeOp>(op))
    return op->getAttrOfType<TensorShardingAttr>("sharding");
  if (isa<ManualComputationOp, NamedComputationOp>(op))
    return pick(op->getAttrOfType<TensorShardingPerValueAttr>("out_shardings"));
  if (auto result = isa<SdyDialect>(op->getDialect()) ? op->getAttrOfType<TensorShardingAttr>("out_sharding") : nullptr)
    return result;
  return pick(op->getAttrOfType<TensorShardingPerValueAttr>(shardingAttrName));
}

} // namespace millrace::sdy
