// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyPartition.cpp - Verify the program of one device --------------===//
// Input:   %1 = "stablehlo.all_gather"(%0) <{replica_groups = dense<[[0, 1]]>, use_global_device_ids, ..}> with mhlo.num_partitions = 4
// Output:  error: expects replica_groups to name each of 4 devices once, but device 2 is in none
// Leaves alone what the operations' own verifiers check, and channels below `own-channels`, which programs may use several times.
#include "passes/spmd/Passes.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/verify/ReplicaGroups.h"
#include "passes/spmd/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_VERIFYPARTITIONPASS
#include "passes/spmd/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kHloSharding = "mhlo.sharding";
int64_t countOf(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 1;
}

bool isOfSdy(NamedAttribute attr) {
  return attr.getName().getValue().starts_with("sdy.") || isa<sdy::SdyDialect>(attr.getValue().getDialect());
}

class Verifier {
public:
  Verifier(ModuleOp module, int64_t ownChannels)
      : module(module), ownChannels(ownChannels), replicas(countOf(module, "mhlo.num_replicas")),
        partitions(countOf(module, "mhlo.num_partitions")) {}

  LogicalResult run() {
    bool isRight = true;
    module.walk([&](Operation *op) { isRight &= succeeded(verify(op)); });
    return success(isRight);
  }

private:
  LogicalResult verify(Operation *op) {
    if (isa<sdy::SdyDialect>(op->getDialect()))
      return op->emitOpError("expects no operation of sdy after partitioning");
    if (auto call = dyn_cast<CustomCallOp>(op)) {
      StringRef target = call.getCallTargetName();
      if (target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" || target.starts_with("xla.sdy."))
        return op->emitOpError("expects no @") << target << " after partitioning";
    }
    if (failed(verifyAttributes(op, op->getAttrDictionary(), "")))
      return failure();
    if (auto function = dyn_cast<func::FuncOp>(op))
      return verifySignature(function);
    if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectivePermuteOp, CollectiveBroadcastOp, CollectiveReduceOp>(op))
      return failure(failed(verifyDevices(op)) || failed(verifyChannel(op)));
    if (isa<SendOp, RecvOp>(op))
      return verifyChannel(op);
    return success();
  }

  LogicalResult verifyAttributes(Operation *op, DictionaryAttr attrs, const Twine &whose) {
    if (!attrs)
      return success();
    for (NamedAttribute attr : attrs) {
      bool isString = attr.getName() == kHloSharding;
      // Calls of clients that inspect shardings keep theirs.
      auto call = dyn_cast<CustomCallOp>(op);
      if (isString && (isa<func::FuncOp>(op) || (call && call.getCallTargetName() == "InspectSharding")))
        continue;
      if (isString || isOfSdy(attr))
        return op->emitOpError(whose) << "expects no sharding after partitioning, but got " << attr.getName() << " = " << attr.getValue();
    }
    return success();
  }

  //===-- The signature ---------------------------------------------------===//

  LogicalResult verifySignature(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(verifyValue(function, function.getArgAttrDict(i), function.getArgument(i).getType(), "argument " + Twine(i) + ": ")))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(verifyValue(function, function.getResultAttrDict(i), function.getResultTypes()[i], "result " + Twine(i) + ": ")))
        return failure();
    return success();
  }

  /// Verifies that the string fits the program's devices, and that the local type is a tile of the sharding.
  LogicalResult verifyValue(func::FuncOp function, DictionaryAttr attrs, Type type, const Twine &whose) {
    if (failed(verifyAttributes(function, attrs, whose)))
      return failure();
    auto text = attrs ? attrs.getAs<StringAttr>(kHloSharding) : StringAttr();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!text || !tensor)
      return success();
    std::string error;
    std::vector<int32_t> manual;
    Placement placement(tensor.getRank());
    auto sharding = sdy::parseHloSharding(text.getValue(), error);
    // Devices with summands of one sum hold the same tile.
    using Sharding = sdy::HloSharding;
    if (sharding && sharding->kind == Sharding::Kind::Unreduced)
      sharding->kind = Sharding::Kind::Replicated;
    if (sharding)
      std::replace(sharding->subgroups.begin(), sharding->subgroups.end(), Sharding::Subgroup::Unreduced, Sharding::Subgroup::Replicated);
    if (!sharding || !fromHloSharding(*sharding, tensor.getRank(), replicas * partitions, placement, manual, error))
      return function.emitOpError(whose) << "expects a sharding of " << tensor << " over " << replicas * partitions << " devices, but got "
                                         << text << ": " << error;
    auto whole = attrs.getAs<DenseI64ArrayAttr>(kWholeShapeAttr);
    if (!whole)
      return success();
    if (whole.size() != tensor.getRank())
      return function.emitOpError(whose) << "expects " << kWholeShapeAttr << " of " << tensor.getRank() << " dimensions, but got " << whole.size();
    for (auto [dim, tiles] : llvm::enumerate(placement))
      if (int64_t part = tileSize(whole[dim], tiles); part != tensor.getDimSize(dim))
        return function.emitOpError(whose) << "expects " << part << " elements in dimension " << dim << ", one of " << tiles.count
                                           << " parts of " << whole[dim] << ", but got " << tensor.getDimSize(dim);
    return success();
  }

  //===-- Collectives -----------------------------------------------------===//

  LogicalResult verifyDevices(Operation *op) {
    auto handle = op->getAttrOfType<ChannelHandleAttr>("channel_handle");
    bool hasChannel = handle && handle.getHandle() > 0;
    bool isGlobal = op->hasAttr("use_global_device_ids");
    if (auto flag = op->getAttrOfType<BoolAttr>("use_global_device_ids"))
      isGlobal = flag.getValue();
    // The kind of ids in groups follows the table "grouping strategies" of the specification.
    bool byPartition = isa<AllToAllOp, CollectivePermuteOp, CollectiveBroadcastOp>(op) && hasChannel;
    int64_t count = isGlobal ? replicas * partitions : byPartition ? partitions : replicas;
    StringRef what = isGlobal ? "devices" : byPartition ? "partitions" : "replicas";
    if (auto permute = dyn_cast<CollectivePermuteOp>(op)) {
      for (int64_t id : permute.getSourceTargetPairs().getValues<int64_t>())
        if (id >= count)
          return op->emitOpError("expects source_target_pairs of ") << count << " " << what << ", but got " << id;
      return success();
    }
    stablehlo::ReplicaGroups groups;
    std::string why;
    if (failed(expandReplicaGroups(op->getAttr("replica_groups"), groups, why)))
      return op->emitOpError(why);
    // Without groups, all devices are one group.
    int64_t size = groups.empty() ? count : groups.front().size();
    llvm::BitVector seen(count);
    for (ArrayRef<int64_t> group : groups)
      for (int64_t id : group) {
        if (id < 0 || id >= count)
          return op->emitOpError("expects replica_groups of ") << count << " " << what << ", but got " << id;
        if (seen.test(id))
          return op->emitOpError("expects replica_groups to name each of ") << count << " " << what << " once, but got " << id << " twice";
        seen.set(id);
      }
    // A device that receives nothing gets zeros.
    bool coversAll = groups.empty() || seen.all() || isa<CollectiveBroadcastOp>(op);
    if (!coversAll)
      return op->emitOpError("expects replica_groups to name each of ") << count << " " << what << " once, but " << seen.find_first_unset()
                                                                        << " is in none";
    return verifyShapes(op, size);
  }

  LogicalResult verifyShapes(Operation *op, int64_t size) {
    auto expects = [&](int64_t dim, int64_t have, int64_t want) -> LogicalResult {
      if (have == want)
        return success();
      return op->emitOpError("expects ") << want << " elements in dimension " << dim << " of its result among " << size << " devices, but got "
                                         << have;
    };
    if (auto exchange = dyn_cast<AllToAllOp>(op); exchange && int64_t(exchange.getSplitCount()) != size)
      return op->emitOpError("expects to split in as many parts as a group has devices, ") << size << ", but got " << exchange.getSplitCount();
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
      auto from = dyn_cast<RankedTensorType>(operand.getType()), to = dyn_cast<RankedTensorType>(result.getType());
      if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape())
        continue;
      if (auto gather = dyn_cast<AllGatherOp>(op)) {
        int64_t dim = gather.getAllGatherDim();
        if (failed(expects(dim, to.getDimSize(dim), from.getDimSize(dim) * size)))
          return failure();
      } else if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
        int64_t dim = scatter.getScatterDimension();
        if (from.getDimSize(dim) % size != 0)
          return op->emitOpError("expects dimension ") << dim << " of its operand to be a multiple of " << size << " devices, but got "
                                                       << from.getDimSize(dim);
        if (failed(expects(dim, to.getDimSize(dim), from.getDimSize(dim) / size)))
          return failure();
      }
    }
    return success();
  }

  LogicalResult verifyChannel(Operation *op) {
    auto handle = op->getAttrOfType<ChannelHandleAttr>("channel_handle");
    if (!handle || handle.getHandle() <= 0)
      return success();
    auto [place, isNew] = users.try_emplace(handle.getHandle(), op);
    bool isTransfer = isa<SendOp, RecvOp>(op);
    // A send and its recv share a channel; the program's own channels may be shared.
    bool mayShare = isTransfer == isa<SendOp, RecvOp>(place->second) && (isTransfer || handle.getHandle() < ownChannels);
    if (isNew || mayShare)
      return success();
    InFlightDiagnostic diag = op->emitOpError("expects a channel of its own, but got ") << handle.getHandle();
    diag.attachNote(place->second->getLoc()) << "which is that of " << place->second->getName() << " here";
    return diag;
  }

  ModuleOp module;
  int64_t ownChannels, replicas, partitions;
  llvm::DenseMap<int64_t, Operation *> users;
};

struct VerifyPartition : impl::VerifyPartitionPassBase<VerifyPartition> {
  using VerifyPartitionPassBase::VerifyPartitionPassBase;

  void runOnOperation() override {
    if (failed(Verifier(getOperation(), ownChannels).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::spmd
