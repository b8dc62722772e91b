// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shardings.cpp - Shardings as HLO writes them -----------------------===//
// Input:   %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {}]> : tensor<4x2xf32>        // mesh <["a"=2, "b"=2]>
// Output:  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}
// Leaves alone sdy.manual_computation and the like, which the exporter reports.
#include "lowering/hlo/Shardings.h"

#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::hlo {
namespace {

constexpr StringLiteral kSdy = "sdy.sharding", kHlo = "mhlo.sharding";

FailureOr<std::string> textOf(sdy::TensorShardingAttr sharding, Operation *at) {
  sdy::MeshAttr mesh = sharding.getMesh(at);
  if (!mesh)
    return at->emitOpError("has a sharding over a mesh that is not there: ") << sharding.getMeshOrRef();
  return sdy::toString(sdy::fromSdy(sharding, mesh));
}

LogicalResult annotateResults(Operation *op) {
  auto shardings = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(kSdy);
  if (!shardings || op->hasAttr(kHlo))
    return success();
  SmallVector<std::string> texts;
  for (sdy::TensorShardingAttr sharding : shardings.getShardings()) {
    FailureOr<std::string> text = textOf(sharding, op);
    if (failed(text))
      return failure();
    texts.push_back(*text);
  }
  op->setAttr(kHlo, StringAttr::get(op->getContext(), texts.size() == 1 ? texts.front() : "{" + llvm::join(texts, ", ") + "}"));
  return success();
}

LogicalResult annotateSignature(func::FuncOp function) {
  auto convert = [&](DictionaryAttr attributes, auto set) -> LogicalResult {
    auto sharding = attributes ? attributes.getAs<sdy::TensorShardingAttr>(kSdy) : sdy::TensorShardingAttr();
    if (!sharding || attributes.get(kHlo))
      return success();
    FailureOr<std::string> text = textOf(sharding, function);
    if (succeeded(text))
      set(StringAttr::get(function.getContext(), *text));
    return LogicalResult(text);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(convert(function.getArgAttrDict(i), [&](StringAttr text) { function.setArgAttr(i, kHlo, text); })))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(convert(function.getResultAttrDict(i), [&](StringAttr text) { function.setResultAttr(i, kHlo, text); })))
      return failure();
  return success();
}

LogicalResult replaceConstraint(Operation *op, sdy::TensorShardingAttr sharding) {
  FailureOr<std::string> text = textOf(sharding, op);
  if (failed(text))
    return failure();
  OpBuilder builder(op);
  NamedAttribute attributes[] = {builder.getNamedAttr("call_target_name", builder.getStringAttr("Sharding")),
                                 builder.getNamedAttr(kHlo, builder.getStringAttr(*text))};
  auto call = stablehlo::CustomCallOp::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands(), attributes);
  op->replaceAllUsesWith(call->getResults());
  op->erase();
  return success();
}

} // namespace

LogicalResult writeShardingsAsHlo(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    LogicalResult done = success();
    if (auto function = dyn_cast<func::FuncOp>(op))
      done = annotateSignature(function);
    else if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
      done = replaceConstraint(op, constraint.getSharding());
    else if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
      done = replaceConstraint(op, reshard.getSharding());
    else
      done = annotateResults(op);
    if (failed(done))
      return failure();
  }
  return success();
}

} // namespace millrace::hlo
