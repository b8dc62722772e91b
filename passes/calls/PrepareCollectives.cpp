// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrepareCollectives.cpp - Give collectives the form that the runtime executes ===//
// Input:   %f = "stablehlo.async_start"(%x) ({ ^bb0(%a: ..): %r = "stablehlo.all_reduce"(%a) ({ .. f64 .. }) .. }) : (tensor<2xf32>) -> ..
//          %y = "stablehlo.async_done"(%f)
// Output:  %c = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>
//          %y = "stablehlo.all_reduce"(%c) ({ .. f64 .. })
// Leaves alone an async_done whose future is not the result of an async_start, and replica groups over the axes of a mesh that the module lacks.
#include "passes/Remarks.h"
#include "passes/calls/Passes.h"

#include "dialects/sdy/Ops.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
#define GEN_PASS_DEF_PREPARECOLLECTIVESPASS
#include "passes/calls/Passes.h.inc"

namespace {

constexpr StringLiteral kPass = "xla-prepare-collectives";

/// Moves the collective to the position of its start on every device: the runtime starts and finishes it in one step.
void runAtStart(AsyncStartOp start) {
  OpBuilder builder(start);
  IRMapping mapping;
  Block &body = start.getBody().front();
  mapping.map(body.getArguments(), start.getOperands());
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  for (Operation *user : llvm::make_early_inc_range(start->getUsers()))
    if (auto done = dyn_cast<AsyncDoneOp>(user)) {
      done->replaceAllUsesWith(results);
      done->erase();
    }
  if (start->use_empty())
    start->erase();
  else
    remarkMissed(start, kPass, "its future has a user that is no async_done");
}

void promoteOperands(Operation *op) {
  OpBuilder builder(op);
  Type element = cast<RankedTensorType>(op->getRegion(0).getArgument(0).getType()).getElementType();
  for (OpOperand &operand : op->getOpOperands().take_front(op->getNumResults())) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (type.getElementType() != element)
      operand.set(ConvertOp::create(builder, op->getLoc(), operand.get(), element));
  }
}

struct PrepareCollectives : impl::PrepareCollectivesPassBase<PrepareCollectives> {
  void runOnOperation() override { prepareCollectives(getOperation()); }
};

} // namespace

void writeMeshInPlace(Operation *op) {
  auto groups = op->getAttrOfType<ReplicaGroupMeshAxesAttr>("replica_groups");
  auto name = groups ? dyn_cast<FlatSymbolRefAttr>(groups.getMesh()) : FlatSymbolRefAttr();
  if (!name)
    return;
  auto mesh = SymbolTable::lookupNearestSymbolFrom<sdy::MeshOp>(op, name);
  if (!mesh)
    return;
  MLIRContext *context = op->getContext();
  SmallVector<Attribute> axes;
  for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes())
    axes.push_back(MeshAxisAttr::get(context, StringAttr::get(context, axis.getName()), axis.getSize()));
  DenseIntElementsAttr ids;
  if (ArrayRef<int64_t> devices = mesh.getMesh().getDeviceIds(); !devices.empty())
    ids = DenseIntElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(devices.size())}, IntegerType::get(context, 64)), devices);
  auto inPlace = MeshAttr::get(context, ArrayAttr::get(context, axes), ids);
  // Axes may be written as attributes of the sdy dialect.
  SmallVector<Attribute> refs(groups.getAxes().getValue());
  for (Attribute &ref : refs)
    if (auto axis = dyn_cast<sdy::AxisRefAttr>(ref)) {
      auto sub = axis.getSubAxisInfo();
      ref = AxisRefAttr::get(context, StringAttr::get(context, axis.getName()),
                             sub ? SubAxisInfoAttr::get(context, sub.getPreSize(), sub.getSize()) : SubAxisInfoAttr());
    }
  op->setAttr("replica_groups", ReplicaGroupMeshAxesAttr::get(context, inPlace, ArrayAttr::get(context, refs)));
}

void prepareCollectives(ModuleOp module) {
  SmallVector<AsyncStartOp> starts;
  module.walk([&](AsyncStartOp start) { starts.push_back(start); });
  llvm::for_each(starts, runAtStart);
  module.walk([](Operation *op) {
    if (isa<AsyncDoneOp>(op))
      remarkMissed(op, kPass, "its future is not the result of an async_start");
    writeMeshInPlace(op);
    if (auto groups = op->getAttrOfType<ReplicaGroupMeshAxesAttr>("replica_groups"); groups && isa<FlatSymbolRefAttr>(groups.getMesh()))
      remarkMissed(op, kPass, "the module has no mesh @" + cast<FlatSymbolRefAttr>(groups.getMesh()).getValue());
    if (isa<AllReduceOp, ReduceScatterOp, CollectiveReduceOp>(op))
      promoteOperands(op);
  });
}

} // namespace millrace::calls
