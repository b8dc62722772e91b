// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveSteps.cpp - Collectives and transfers as runtime steps ---===//
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/FunctionBuilder.h"
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

/// The reduction that a region `return op(arg0, arg1)` computes, if it is one the runtime knows.
Reduction reductionOf(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return Reduction::None;
  Operation *op = &block.front();
  if (op->getNumOperands() != 2 || block.getTerminator()->getOperands() != op->getResults())
    return Reduction::None;
  bool bothArguments = (op->getOperand(0) == block.getArgument(0) && op->getOperand(1) == block.getArgument(1)) ||
                       (op->getOperand(0) == block.getArgument(1) && op->getOperand(1) == block.getArgument(0));
  if (!bothArguments)
    return Reduction::None;
  if (isa<shlo::AddOp>(op))
    return Reduction::Sum;
  if (isa<shlo::MulOp>(op))
    return Reduction::Product;
  if (isa<shlo::MinOp>(op))
    return Reduction::Min;
  if (isa<shlo::MaxOp>(op))
    return Reduction::Max;
  if (isa<shlo::AndOp>(op))
    return Reduction::And;
  if (isa<shlo::OrOp>(op))
    return Reduction::Or;
  if (isa<shlo::XorOp>(op))
    return Reduction::Xor;
  return Reduction::None;
}

/// Rows of a 2-D tensor of ids; -1 pads shorter rows.
std::vector<std::vector<int64_t>> rowsOf(DenseIntElementsAttr attr) {
  auto type = cast<RankedTensorType>(attr.getType());
  std::vector<std::vector<int64_t>> rows(type.getRank() ? type.getDimSize(0) : 0);
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 1, index = 0;
  for (const APInt &id : attr.getValues<APInt>()) {
    if (id.getSExtValue() >= 0)
      rows[index / columns].push_back(id.getSExtValue());
    ++index;
  }
  return rows;
}

/// How replica_groups are to be read: table "grouping strategies" of the specification.
Groups groupMode(bool hasChannel, bool useGlobalIds) {
  if (useGlobalIds)
    return Groups::FlattenedIds;
  return hasChannel ? Groups::CrossReplicaAndPartition : Groups::CrossReplica;
}

} // namespace

LogicalResult FunctionBuilder::visitCollective(Operation *op) {
  CollectiveStep step;
  step.name = op->getName().stripDialect().str();
  Region *reducer = nullptr;
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
    reducer = &op->getRegion(0);
  } else if (auto scatter = dyn_cast<shlo::ReduceScatterOp>(op)) {
    step.kind = Kind::ReduceScatter;
    step.dimension = scatter.getScatterDimension();
    reducer = &op->getRegion(0);
  } else if (auto exchange = dyn_cast<shlo::AllToAllOp>(op)) {
    step.kind = Kind::AllToAll;
    step.dimension = exchange.getConcatDimension();
    step.dimension2 = exchange.getSplitDimension();
    step.splitCount = exchange.getSplitCount();
  } else if (isa<shlo::CollectivePermuteOp>(op)) {
    step.kind = Kind::CollectivePermute;
  } else if (isa<shlo::CollectiveBroadcastOp>(op)) {
    step.kind = Kind::CollectiveBroadcast;
  } else if (step.name == "collective_reduce") {
    step.kind = Kind::CollectiveReduce;
    reducer = &op->getRegion(0);
  } else {
    return op->emitError("is neither machine code nor a step of the runtime");
  }

  bool broadcastLike = step.kind == Kind::AllToAll || step.kind == Kind::CollectivePermute ||
                       step.kind == Kind::CollectiveBroadcast;
  // Operations without use_global_device_ids read their groups as partitions as soon as there is a channel.
  step.groupMode = broadcastLike ? (step.channel > 0 ? Groups::CrossPartition : Groups::CrossReplica)
                                 : groupMode(step.channel > 0, global);
  StringRef groupName = step.kind == Kind::CollectivePermute ? "source_target_pairs" : "replica_groups";
  auto groups = op->getAttrOfType<DenseIntElementsAttr>(groupName);
  if (!groups)
    return op->emitError("expects ") << groupName << " as a dense list of ids, but got " << op->getAttr(groupName);
  step.groups = rowsOf(groups);
  if (reducer) {
    step.reduction = reductionOf(*reducer);
    if (step.reduction == Reduction::None)
      return op->emitError("reduces with a computation other than add, mul, min, max, and, or, xor of both arguments");
  }
  for (Value operand : op->getOperands())
    if (isTensor(operand))
      step.arguments.push_back(useWithShape(operand, op->getLoc()));
  for (SlotId slot : slotsForAll(op->getResults()))
    step.results.push_back(slot);
  context.program.stepOps.push_back(op->getName().getStringRef().str());
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
    for (const std::vector<int64_t> &pair : rowsOf(pairs))
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
        step.slots.push_back(useWithShape(operand, op->getLoc()));
  }
  context.program.stepOps.push_back(op->getName().getStringRef().str());
  emit({std::move(step)}, op->getLoc());
  return success();
}

} // namespace millrace::lowering
