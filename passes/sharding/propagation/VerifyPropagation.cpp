// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyPropagation.cpp - Verify what partitioning relies on -----------===//
// Input:   %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// Output:  error: expects closed dimensions after propagation, but dimension 0 of ... is open
// Leaves alone what partitioning reports to the user itself: meshes of another size than the program's, strings of HLO.
#include "passes/sharding/Passes.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_VERIFYPROPAGATIONPASS
#include "passes/sharding/Passes.h.inc"

namespace {

/// `whose`: "result 1", or nothing if the operation has but one sharding.
LogicalResult verifySharding(Operation *op, sdy::TensorShardingAttr sharding, const Twine &whose) {
  if (!sharding)
    return success();
  if (!isa<FlatSymbolRefAttr>(sharding.getMeshOrRef()))
    return op->emitOpError(whose) << "expects the name of a mesh after propagation, but got a mesh in place: " << sharding;
  for (auto [i, dim] : llvm::enumerate(sharding.getDimShardings())) {
    if (!dim.getIsClosed())
      return op->emitOpError(whose) << "expects closed dimensions after propagation, but dimension " << i << " of " << sharding << " is open";
    if (dim.getPriority())
      return op->emitOpError(whose) << "expects no priorities after propagation, but dimension " << i << " of " << sharding << " has "
                                    << *dim.getPriority();
  }
  return success();
}

LogicalResult verifyEach(Operation *op, ArrayRef<sdy::TensorShardingAttr> shardings, StringRef what) {
  for (auto [i, sharding] : llvm::enumerate(shardings))
    if (failed(verifySharding(op, sharding, shardings.size() == 1 ? Twine() : what + Twine(" ") + Twine(i) + ": ")))
      return failure();
  return success();
}

LogicalResult verifySignature(func::FuncOp function) {
  auto of = [](DictionaryAttr attrs) {
    return attrs ? attrs.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName) : sdy::TensorShardingAttr();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(verifySharding(function, of(function.getArgAttrDict(i)), "argument " + Twine(i) + ": ")))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(verifySharding(function, of(function.getResultAttrDict(i)), "result " + Twine(i) + ": ")))
      return failure();
  return success();
}

LogicalResult verify(Operation *op) {
  if (isa<sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp, sdy::ShardingGroupOp, sdy::ShardingConstraintOp>(op))
    return op->emitOpError("expects to be gone after propagation");
  if (auto function = dyn_cast<func::FuncOp>(op))
    return verifySignature(function);
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return failure(failed(verifyEach(op, manual.getInShardings().getShardings(), "operand")) ||
                   failed(verifyEach(op, manual.getOutShardings().getShardings(), "result")));
  if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
    return verifySharding(op, reshard.getSharding(), "");
  auto all = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
  return all ? verifyEach(op, all.getShardings(), "result") : success();
}

struct VerifyPropagation : impl::VerifyPropagationPassBase<VerifyPropagation> {
  void runOnOperation() override {
    bool isRight = true;
    getOperation().walk([&](Operation *op) { isRight &= succeeded(verify(op)); });
    if (!isRight)
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::sharding
