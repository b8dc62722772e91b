// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveSteps.cpp - Translate collectives and transfers to steps ===//
#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/verify/ReplicaGroups.h"
#include "lowering/program/FunctionBuilder.h"
#include "lowering/program/OutlineReducers.h"
#include "lowering/program/ProgramTypes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::runtime;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {
namespace {

using Kind = CollectiveStep::Kind;
using Groups = CollectiveStep::Groups;
using Reduction = CollectiveStep::Reduction;

/// Returns the pairs {source, target}.
std::vector<std::vector<int64_t>> pairsOf(DenseIntElementsAttr attr) {
  std::vector<std::vector<int64_t>> pairs;
  for (auto [index, id] : llvm::enumerate(attr.getValues<APInt>())) {
    if (index % 2 == 0)
      pairs.emplace_back();
    pairs.back().push_back(id.getSExtValue());
  }
  return pairs;
}

/// Returns the meaning of replica_groups: table "grouping strategies" of the specification.
Groups groupMode(bool hasChannel, bool useGlobalIds) {
  if (useGlobalIds)
    return Groups::FlattenedIds;
  return hasChannel ? Groups::CrossReplicaAndPartition : Groups::CrossReplica;
}

} // namespace

/// Describes everything but the slots.
FailureOr<CollectiveStep> FunctionBuilder::describeCollective(Operation *op) {
  CollectiveStep step;
  step.name = op->getName().stripDialect().str();
  const bool isReduce = step.name == "collective_reduce";
  if (auto group = op->getAttrOfType<StringAttr>(kGroupNameAttr))
    step.name += " of group " + group.str();
  bool reduces = isa<shlo::AllReduceOp, shlo::ReduceScatterOp, shlo::CollectiveReduceOp>(op);
  auto channel = op->getAttrOfType<shlo::ChannelHandleAttr>("channel_handle");
  step.channel = channel ? channel.getHandle() : 0;
  bool global = op->hasAttr("use_global_device_ids");
  if (auto flag = op->getAttrOfType<BoolAttr>("use_global_device_ids"))
    global = flag.getValue();

  if (auto gather = dyn_cast<shlo::AllGatherOp>(op)) {
    step.kind = Kind::AllGather;
    step.dimension = gather.getAllGatherDim();
  } else if (isa<shlo::AllReduceOp>(op)) {
    step.kind = Kind::AllReduce;
  } else if (auto scatter = dyn_cast<shlo::ReduceScatterOp>(op)) {
    step.kind = Kind::ReduceScatter;
    step.dimension = scatter.getScatterDimension();
  } else if (auto exchange = dyn_cast<shlo::AllToAllOp>(op)) {
    step.kind = Kind::AllToAll;
    step.dimension = exchange.getConcatDimension();
    step.dimension2 = exchange.getSplitDimension();
    step.splitCount = exchange.getSplitCount();
  } else if (isa<shlo::CollectivePermuteOp>(op)) {
    step.kind = Kind::CollectivePermute;
  } else if (isa<shlo::CollectiveBroadcastOp>(op)) {
    step.kind = Kind::CollectiveBroadcast;
  } else if (isReduce) {
    step.kind = Kind::CollectiveReduce;
  } else {
    return op->emitError("is neither machine code nor a step of the runtime");
  }

  bool broadcastLike = step.kind == Kind::AllToAll || step.kind == Kind::CollectivePermute ||
                       step.kind == Kind::CollectiveBroadcast;
  // Operations without use_global_device_ids interpret their groups as partitions if they have a channel.
  step.groupMode = broadcastLike ? (step.channel > 0 ? Groups::CrossPartition : Groups::CrossReplica)
                                 : groupMode(step.channel > 0, global);
  if (step.kind == Kind::CollectivePermute) {
    step.groups = pairsOf(op->getAttrOfType<DenseIntElementsAttr>("source_target_pairs"));
  } else {
    shlo::ReplicaGroups groups;
    std::string why;
    if (failed(shlo::expandReplicaGroups(op->getAttr("replica_groups"), groups, why)))
      return op->emitOpError(why);
    for (ArrayRef<int64_t> group : groups)
      step.groups.emplace_back(group.begin(), group.end());
  }
  if (reduces) {
    step.reduction = reductionOf(op);
    if (auto kernel = op->getAttrOfType<FlatSymbolRefAttr>(kReducerAttr)) {
      const KernelSummary &summary = context.kernels.find(kernel.getValue())->second;
      step.reducer = summary.index;
      step.reducerEnd = summary.rangeEnd;
      step.reducerScratch = summary.scratchBytes;
    } else if (step.reduction == Reduction::None) {
      return op->emitOpError("has a computation without a kernel: xla-outline-reducers has not run");
    }
  }
  step.dynamicRoot = op->hasAttr("has_dynamic_root");
  return step;
}

LogicalResult FunctionBuilder::sizeCollective(Operation *op, ValueRange operands, ValueRange results, Location loc) {
  for (auto [operand, value] : llvm::zip(operands, results)) { // the last operand may be a root
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.hasStaticShape())
      continue;
    if (isa<shlo::AllGatherOp, shlo::AllToAllOp, shlo::ReduceScatterOp>(op))
      return emitError(loc) << op->getName() << " has a result whose sizes only a run knows, which is not supported: " << type;
    slotFor(value);
    assignDims(dimsOf(value), dimsOf(operand), loc);
  }
  return success();
}

LogicalResult FunctionBuilder::visitCollective(Operation *op) {
  FailureOr<CollectiveStep> step = describeCollective(op);
  if (failed(step) || failed(sizeCollective(op, op->getOperands(), op->getResults(), op->getLoc())))
    return failure();
  for (Value operand : op->getOperands())
    if (isTensor(operand))
      step->arguments.push_back(useWithShape(operand));
  for (Value value : op->getResults())
    if (isTensor(value))
      step->results.push_back(slotOfResult(value));
  if (isa<shlo::AllGatherOp>(op))
    llvm::append_range(gathered, step->results);
  context.program.stepOps.push_back(op->getName().getStringRef().str());
  emit({std::move(*step)}, op->getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitAsyncStart(Operation *op) {
  auto start = cast<shlo::AsyncStartOp>(op);
  Operation *collective = &start.getBody().front().front();
  auto done = start->hasOneUse() ? dyn_cast<shlo::AsyncDoneOp>(*start->user_begin()) : shlo::AsyncDoneOp();
  if (!done || done->getBlock() != op->getBlock())
    return op->emitError("is not waited for by exactly one async_done of the same block");
  if (collective->getOperands() != start.getBody().getArguments() ||
      collective->getResults() != start.getBody().front().getTerminator()->getOperands())
    return op->emitError("has a body that is more than a collective of its operands");
  FailureOr<CollectiveStep> step = describeCollective(collective);
  if (failed(step) || failed(sizeCollective(collective, op->getOperands(), done->getResults(), op->getLoc())))
    return failure();
  for (Value operand : op->getOperands())
    step->arguments.push_back(useWithShape(operand));
  for (Value value : done->getResults())
    if (isTensor(value))
      step->results.push_back(slotOfResult(value));
  if (isa<shlo::AllGatherOp>(collective))
    llvm::append_range(gathered, step->results);
  step->phase = CollectiveStep::Phase::Start;
  step->pair = numPairs++;
  context.program.stepOps.push_back(collective->getName().getStringRef().str());
  started[start.getResult()] = *step;
  emit({std::move(*step)}, op->getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitAsyncDone(Operation *op) {
  auto start = started.find(op->getOperand(0));
  if (start == started.end())
    return op->emitError("waits for something that no async_start before it has started");
  CollectiveStep step = std::move(start->second);
  started.erase(start);
  step.phase = CollectiveStep::Phase::Done;
  for (const std::vector<SlotId> &slots : {step.arguments, step.results}) // they are live until here
    for (SlotId slot : slots)
      touch(slot);
  emit({std::move(step)}, op->getLoc());
  return success();
}

LogicalResult FunctionBuilder::visitTransfer(Operation *op) {
  TransferStep step;
  if (auto channel = op->getAttrOfType<shlo::ChannelHandleAttr>("channel_handle"))
    step.channel = channel.getHandle();
  if (auto host = op->getAttrOfType<BoolAttr>("is_host_transfer"))
    step.isHostTransfer = host.getValue();
  else
    step.isHostTransfer = isa<shlo::InfeedOp, shlo::OutfeedOp>(op);
  if (auto pairs = op->getAttrOfType<DenseIntElementsAttr>("source_target_pairs"))
    for (const std::vector<int64_t> &pair : pairsOf(pairs))
      if (pair.size() == 2)
        step.sourceTargetPairs.push_back({pair[0], pair[1]});
  for (StringRef name : {"infeed_config", "outfeed_config"})
    if (auto config = op->getAttrOfType<StringAttr>(name))
      step.config = config.getValue().str();
  bool writes = isa<shlo::InfeedOp, shlo::RecvOp>(op);
  step.kind = isa<shlo::InfeedOp>(op)    ? TransferStep::Kind::Infeed
              : isa<shlo::OutfeedOp>(op) ? TransferStep::Kind::Outfeed
              : isa<shlo::SendOp>(op)    ? TransferStep::Kind::Send
                                         : TransferStep::Kind::Recv;
  if (writes) {
    for (SlotId slot : slotsForAll(op->getResults()))
      step.slots.push_back(slot);
  } else {
    for (Value operand : op->getOperands())
      if (isTensor(operand))
        step.slots.push_back(useWithShape(operand));
  }
  context.program.stepOps.push_back(op->getName().getStringRef().str());
  emit({std::move(step)}, op->getLoc());
  return success();
}

} // namespace millrace::lowering
