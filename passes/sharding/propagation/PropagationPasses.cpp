// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PropagationPasses.cpp - Propagation, layer by layer ----------------===//
// Input:   %1 = stablehlo.add %0, %0 : tensor<8x8xf32>     // %0 is sharded [{"a"}, {}]
// Output:  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x8xf32>
// Leaves alone what no annotation reaches, and closed dimensions. The algorithm is Graph.h.
#include "passes/sharding/explain/Explanation.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/explain/Origins.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_BASICPROPAGATIONPASS
#define GEN_PASS_DEF_AGGRESSIVEPROPAGATIONPASS
#define GEN_PASS_DEF_OPPRIORITYPROPAGATIONPASS
#define GEN_PASS_DEF_USERPRIORITYPROPAGATIONPASS
#define GEN_PASS_DEF_POPULATEOPSHARDINGRULESPASS
#include "passes/sharding/Passes.h.inc"

namespace {

struct Extras {
  bool keepRules, origins, edges;
  std::string dumpDirectory;
};

/// Priorities have been dealt with: annotations lose them, also those that nothing else changed.
void dropPriorities(ModuleGraph &graph) {
  for (auto [number, tensor] : llvm::enumerate(graph.graph.tensors)) {
    const ModuleGraph::Place &place = graph.place(number);
    auto written = place.value ? sdy::getSharding(place.value)
                               : func::FuncOp(place.function).getResultAttrOfType<sdy::TensorShardingAttr>(place.result, sdy::shardingAttrName);
    if (written && llvm::any_of(written.getDimShardings(), [](sdy::DimensionShardingAttr dim) { return dim.getPriority().has_value(); }))
      tensor.changed = true;
  }
}

LogicalResult runPass(ModuleOp module, const PropagationOptions &options, const Extras &extras) {
  ModuleGraph graph(module);
  if (failed(graph.build(options.conservative)))
    return failure();
  graph.graph.recordsSteps = extras.edges || extras.origins;
  std::optional<Origins> origins;
  if (extras.origins)
    origins.emplace(graph);
  propagate(graph.graph, options);
  if (options.userPriority)
    dropPriorities(graph);
  graph.writeBack();
  if (extras.edges)
    attachSteps(graph);
  if (origins)
    origins->attach();
  module.walk([&](Operation *op) {
    if (extras.keepRules) {
      if (auto rule = isa<func::FuncOp>(op) ? std::nullopt : ruleOf(op, options.conservative))
        op->setAttr(sdy::shardingRuleAttrName, toAttr(*rule, op->getContext()));
    } else if (auto rule = op->getAttrOfType<sdy::OpShardingRuleAttr>(sdy::shardingRuleAttrName); rule && !rule.getIsCustomRule()) {
      op->removeAttr(sdy::shardingRuleAttrName);
    }
  });
  return saveModule(module, extras.dumpDirectory, "sdy_module_after_propagation");
}

struct BasicPropagation : impl::BasicPropagationPassBase<BasicPropagation> {
  using BasicPropagationPassBase::BasicPropagationPassBase;
  void runOnOperation() override {
    if (failed(runPass(getOperation(), {Strategy::Basic, conservative, false, false},
                   {keepShardingRules, debugShardingOrigins, debugEdgeSourceSharding || debugPropagationEdges, dumpDirectory})))
      signalPassFailure();
  }
};

struct AggressivePropagation : impl::AggressivePropagationPassBase<AggressivePropagation> {
  using AggressivePropagationPassBase::AggressivePropagationPassBase;
  void runOnOperation() override {
    if (failed(runPass(getOperation(), {strategy, conservative, false, false},
                   {keepShardingRules, debugShardingOrigins, debugEdgeSourceSharding || debugPropagationEdges, dumpDirectory})))
      signalPassFailure();
  }
};

struct OpPriorityPropagation : impl::OpPriorityPropagationPassBase<OpPriorityPropagation> {
  using OpPriorityPropagationPassBase::OpPriorityPropagationPassBase;
  void runOnOperation() override {
    if (failed(runPass(getOperation(), {strategy, conservative, runOpPriority, false},
                   {keepShardingRules, debugShardingOrigins, debugEdgeSourceSharding || debugPropagationEdges, dumpDirectory})))
      signalPassFailure();
  }
};

struct UserPriorityPropagation : impl::UserPriorityPropagationPassBase<UserPriorityPropagation> {
  using UserPriorityPropagationPassBase::UserPriorityPropagationPassBase;
  void runOnOperation() override {
    if (failed(runPass(getOperation(), {strategy, conservative, runOpPriority, true},
                   {keepShardingRules, debugShardingOrigins, debugEdgeSourceSharding || debugPropagationEdges, dumpDirectory})))
      signalPassFailure();
  }
};

struct PopulateOpShardingRules : impl::PopulateOpShardingRulesPassBase<PopulateOpShardingRules> {
  using PopulateOpShardingRulesPassBase::PopulateOpShardingRulesPassBase;
  void runOnOperation() override {
    llvm::StringSet<> warned;
    getOperation().getBody().walk([&](Operation *op) {
      if (auto rule = ruleOf(op, conservative)) {
        op->setAttr(sdy::shardingRuleAttrName, toAttr(*rule, op->getContext()));
        return;
      }
      auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      std::string name = call ? "custom call @" + call.getCallTargetName().str() : "op '" + op->getName().getStringRef().str() + "'";
      if (isUnknown(op) && warned.insert(name).second)
        op->emitWarning(name) << " is unknown to SDY sharding rule registry";
    });
  }
};

} // namespace

LogicalResult propagateShardings(ModuleOp module, const PropagationOptions &options) {
  ModuleGraph graph(module);
  if (failed(graph.build(options.conservative)))
    return failure();
  propagate(graph.graph, options);
  graph.writeBack();
  return success();
}

LogicalResult propagateShardings(ModuleOp module, const PropagationOptions &options, Explanation &explanation) {
  ModuleGraph graph(module);
  if (failed(graph.build(options.conservative)))
    return failure();
  graph.graph.recordsSteps = true;
  explanation.begin(graph);
  propagate(graph.graph, options);
  explanation.collect(graph);
  graph.writeBack();
  return success();
}

} // namespace millrace::sharding
