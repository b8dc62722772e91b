// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.cpp - Collectives and device ids as HLO -----------------===//
// Input:   "stablehlo.all_gather"(%x) <{all_gather_dim = 0, replica_groups = dense<[[0, 1]]>, channel_handle = <1, 0>, use_global_device_ids}>
// Output:  all-gather.1 = f32[8]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/verify/ReplicaGroups.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {
namespace {

/// What a collective is in HLO, so that `op` and the start of an asynchronous `op` can share it.
struct Collective {
  std::string opcode;
  Attributes attributes;
  ValueRange operands;
  Type promotion; // element type that operands are converted to, or null
};

FailureOr<std::string> groupsText(Operation *op) {
  shlo::ReplicaGroups groups;
  std::string why;
  if (failed(shlo::expandReplicaGroups(op->getAttr("replica_groups"), groups, why)))
    return op->emitOpError(why);
  SmallVector<std::string> rows;
  for (ArrayRef<int64_t> group : groups)
    rows.push_back(braces(group));
  return "{" + llvm::join(rows, ",") + "}";
}

std::string pairsText(DenseIntElementsAttr pairs) {
  SmallVector<int64_t> ids;
  for (const APInt &id : pairs.getValues<APInt>())
    ids.push_back(id.getSExtValue());
  SmallVector<std::string> rows;
  for (size_t i = 0; i + 1 < ids.size(); i += 2)
    rows.push_back(braces({ids[i], ids[i + 1]}));
  return "{" + llvm::join(rows, ",") + "}";
}

LogicalResult addReducer(Region &region, Collective &collective, Computation &to) {
  FailureOr<std::string> reducer = to.module.region(region);
  if (failed(reducer))
    return failure();
  collective.promotion = cast<RankedTensorType>(region.getArgument(0).getType()).getElementType();
  collective.attributes.add("to_apply", *reducer);
  return success();
}

/// Sets everything but the opcode's own attributes.
LogicalResult addCommon(Operation *op, Collective &collective) {
  if (auto channel = op->getAttrOfType<shlo::ChannelHandleAttr>("channel_handle"); channel && channel.getHandle() > 0)
    collective.attributes.add("channel_id", Twine(channel.getHandle()));
  if (auto pairs = op->getAttrOfType<DenseIntElementsAttr>("source_target_pairs")) {
    collective.attributes.add("source_target_pairs", pairsText(pairs));
  } else {
    FailureOr<std::string> groups = groupsText(op);
    if (failed(groups))
      return failure();
    collective.attributes.add("replica_groups", *groups);
  }
  collective.attributes.flag("use_global_device_ids", op->hasAttr("use_global_device_ids"));
  collective.operands = op->getOperands();
  return success();
}

/// Fills `collective`; false if `op` is none that HLO has in this form.
FailureOr<bool> describe(Operation *op, Collective &collective, Computation &to) {
  if (!isa<shlo::AllGatherOp, shlo::AllReduceOp, shlo::ReduceScatterOp, shlo::CollectiveBroadcastOp,
           shlo::CollectivePermuteOp>(op))
    return false;
  if (failed(addCommon(op, collective)))
    return failure();
  LogicalResult done =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case<shlo::AllGatherOp>([&](shlo::AllGatherOp op) {
            collective.opcode = "all-gather";
            collective.attributes.list("dimensions", op.getAllGatherDim());
            return success();
          })
          .Case<shlo::AllReduceOp>([&](shlo::AllReduceOp op) {
            collective.opcode = "all-reduce";
            return addReducer(op.getComputation(), collective, to);
          })
          .Case<shlo::ReduceScatterOp>([&](shlo::ReduceScatterOp op) {
            collective.opcode = "reduce-scatter";
            collective.attributes.list("dimensions", op.getScatterDimension());
            return addReducer(op.getComputation(), collective, to);
          })
          .Case<shlo::CollectiveBroadcastOp>([&](shlo::CollectiveBroadcastOp op) -> LogicalResult {
            if (op.getHasDynamicRoot())
              return op.emitOpError("has its root at run time, which HLO cannot express");
            collective.opcode = "collective-broadcast";
            return success();
          })
          .Default([&](auto) {
            collective.opcode = "collective-permute";
            return success();
          });
  if (failed(done))
    return failure();
  return true;
}

std::vector<std::string> operandsOf(const Collective &collective, Computation &to) {
  std::vector<std::string> operands;
  for (Value operand : collective.operands)
    operands.push_back(collective.promotion ? to.convertedTo(operand, collective.promotion) : to[operand]);
  return operands;
}

/// HLO splits and concatenates along one dimension; another one to concatenate along takes a reshape, a transpose and
/// a reshape. Each operand is exchanged alone, since HLO's form with several has another meaning.
LogicalResult allToAll(shlo::AllToAllOp op, Computation &to) {
  Collective collective;
  if (failed(addCommon(op, collective)))
    return failure();
  int64_t split = op.getSplitDimension(), concat = op.getConcatDimension(), count = op.getSplitCount();
  collective.attributes.list("dimensions", split);
  annotate(op->getDiscardableAttrDictionary(), collective.attributes);
  for (auto [operand, result] : llvm::zip(op.getOperands(), op.getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    std::string value = to.add("all-to-all", shapeText(type), to[operand], collective.attributes);
    if (split != concat) {
      SmallVector<int64_t> sizes(type.getShape()); // [.., split, ..] to [.., count, split / count, ..]
      sizes[split] /= count;
      sizes.insert(sizes.begin() + split, count);
      value = to.reshape(value, sizes, type.getElementType());
      SmallVector<int64_t> permutation; // the parts move in front of the dimension they extend
      for (int64_t d = 0; d < type.getRank(); ++d) {
        if (d == concat)
          permutation.push_back(split);
        permutation.push_back(d < split ? d : d + 1);
      }
      value = to.transpose(value, sizes, permutation, type.getElementType());
      value = to.reshape(value, cast<RankedTensorType>(result.getType()).getShape(), type.getElementType());
    }
    to.bind(result, value);
  }
  return success();
}

/// async_start of the collectives that HLO has start and done opcodes for. Others go through async-start, which calls
/// a computation that holds them.
LogicalResult asyncStart(shlo::AsyncStartOp op, Computation &to) {
  Block &body = op.getBody().front();
  if (!llvm::hasNItems(body, 2) || body.getTerminator()->getOperands() != body.front().getResults() ||
      ValueRange(body.getArguments()) != ValueRange(body.front().getOperands()))
    return op.emitOpError("expects its region to hold one collective of its arguments");
  Operation *inner = &body.front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op.getOperands()))
    to.bind(argument, to[operand]);
  std::string operandShape = shapeText(op->getOperandTypes()), resultShape = shapeText(inner->getResultTypes());
  if (isa<shlo::AllReduceOp, shlo::AllGatherOp, shlo::CollectivePermuteOp>(inner)) {
    Collective collective;
    FailureOr<bool> found = describe(inner, collective, to);
    if (failed(found))
      return failure();
    std::string shape = isa<shlo::AllReduceOp>(inner) ? resultShape : "(" + operandShape + ", " + resultShape + ")";
    to.bind(op, to.add(collective.opcode + "-start", shape, operandsOf(collective, to), collective.attributes));
    return success();
  }
  FailureOr<std::string> computation = to.module.region(op.getBody());
  if (failed(computation))
    return failure();
  SmallVector<std::string> operandShapes;
  for (Type type : op->getOperandTypes())
    operandShapes.push_back(shapeText(type));
  to.bind(op, to.add("async-start", "(" + tupleText(operandShapes) + ", " + resultShape + ")", to[op->getOperands()],
                     Attributes().add("calls", *computation)));
  return success();
}

LogicalResult asyncDone(shlo::AsyncDoneOp op, Computation &to) {
  auto start = op.getOperand().getDefiningOp<shlo::AsyncStartOp>();
  if (!start)
    return op.emitOpError("expects its operand to come from an async_start in the same block");
  Operation *inner = &start.getBody().front().front();
  StringRef opcode = isa<shlo::AllReduceOp>(inner)           ? "all-reduce-done"
                     : isa<shlo::AllGatherOp>(inner)         ? "all-gather-done"
                     : isa<shlo::CollectivePermuteOp>(inner) ? "collective-permute-done"
                                                             : "async-done";
  return to.result(op, opcode);
}

} // namespace

Visit visitCollective(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::PartitionIdOp>([&](auto op) { return to.result(op, "partition-id"); })
      .Case<shlo::ReplicaIdOp>([&](auto op) { return to.result(op, "replica-id"); })
      .Case<shlo::AllToAllOp>([&](auto op) { return allToAll(op, to); })
      .Case<shlo::AsyncStartOp>([&](auto op) { return asyncStart(op, to); })
      .Case<shlo::AsyncDoneOp>([&](auto op) { return asyncDone(op, to); })
      .Default([&](Operation *op) -> Visit {
        Collective collective;
        FailureOr<bool> found = describe(op, collective, to);
        if (failed(found))
          return failure();
        if (!*found)
          return std::nullopt;
        return to.result(op, collective.opcode, operandsOf(collective, to), collective.attributes);
      });
}

} // namespace millrace::hlo
