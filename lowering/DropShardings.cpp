// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropShardings.cpp - Programs of one partition need no shardings ----===//
// Input:   %1 = sdy.sharding_constraint %0 <@empty_mesh, [{}]> : tensor<2xui32>
//          %2 = stablehlo.add %1, %1
// Output:  %2 = stablehlo.add %0, %0
// Leaves alone the sdy collectives: they do not come from front ends, and code generation reports them.
#include "lowering/DropShardings.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Puts the operations of the operation's only block in its place.
LogicalResult inlineBody(Operation *op) {
  Block &body = op->getRegion(0).front();
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), op->getOperands())) {
    if (argument.getType() != operand.getType())
      return op->emitError("expects local shapes to be global ones in a program of one partition, but got ")
             << argument.getType() << " for " << operand.getType();
    argument.replaceAllUsesWith(operand);
  }
  Operation *exit = body.getTerminator();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), exit->getOperands())) {
    if (result.getType() != value.getType())
      return op->emitError("expects local shapes to be global ones in a program of one partition, but got ")
             << value.getType() << " for " << result.getType();
  }
  op->replaceAllUsesWith(exit->getOperands());
  exit->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->erase();
  return success();
}

LogicalResult dropOne(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp, sdy::DataFlowEdgeOp,
            sdy::FuncDataFlowEdgeOp>([](Operation *identity) {
        identity->replaceAllUsesWith(identity->getOperands());
        identity->erase();
        return success();
      })
      .Case<sdy::ShardingGroupOp>([](Operation *group) {
        group->erase();
        return success();
      })
      .Case([](sdy::ConstantOp constant) {
        OpBuilder builder(constant);
        auto replacement = stablehlo::ConstantOp::create(builder, constant.getLoc(), constant.getValue());
        constant.replaceAllUsesWith(replacement.getResult());
        constant.erase();
        return success();
      })
      .Case<sdy::ManualComputationOp, sdy::NamedComputationOp>([](Operation *region) { return inlineBody(region); })
      .Default([](Operation *) { return success(); });
}

/// Attributes of the dialect name meshes; they go with them.
DictionaryAttr withoutSharding(DictionaryAttr attributes) {
  if (!attributes)
    return attributes;
  return DictionaryAttr::get(attributes.getContext(), llvm::to_vector(llvm::make_filter_range(attributes, [](NamedAttribute attribute) {
                               return !attribute.getName().strref().starts_with("sdy.");
                             })));
}

void dropAttributes(Operation *op) {
  for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
    if (attribute.getName().strref().starts_with("sdy."))
      op->removeDiscardableAttr(attribute.getName());
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttrs(i, withoutSharding(function.getArgAttrDict(i)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttrs(i, withoutSharding(function.getResultAttrDict(i)));
}

} // namespace

LogicalResult dropShardings(ModuleOp module) {
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (partitions && partitions.getInt() > 1)
    return success();
  SmallVector<Operation *> sharded;
  // Inner operations first: a body is inlined when nothing of it will change any more.
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<sdy::SdyDialect>(op->getDialect()) && !isa<sdy::MeshOp, sdy::ReturnOp>(op))
      sharded.push_back(op);
  });
  for (Operation *op : sharded)
    if (failed(dropOne(op)))
      return failure();
  module.walk(dropAttributes);
  for (sdy::MeshOp mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  return success();
}

} // namespace millrace::lowering
