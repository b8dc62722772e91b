// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionCalls.cpp - Partition custom calls by their owner ---------===//
// The owner is the client that created the call and partitions it itself, or a single device.
// Input:   %1 = custom_call @CustomSPMDPartitioning(%0), which CallPartitioner knows; %0 is sharded
// Output:  the operations of the body that it returns for tiles, in place; operands are resharded to the tiles that it expects
#include "passes/spmd/Partitioner.h"

#include "passes/calls/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

/// Returns the placement of a value of `type` that the call's client has named.
static FailureOr<Placement> placementOf(StringRef text, Type type, int64_t devices, const Scope &scope, Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Placement placement;
  std::vector<int32_t> manualKey;
  std::string error;
  auto sharding = sdy::parseHloSharding(text, error);
  if (!tensor || !sharding || !fromHloSharding(*sharding, tensor.getRank(), devices, placement, manualKey, error) || !manualKey.empty() ||
      !isUniform(placement, scope)) {
    op->emitError("expects shardings of tensors, but its partitioner gives ") << text << " for " << type << (error.empty() ? "" : ": ") << error;
    return failure();
  }
  return placement;
}

LogicalResult Partitioner::emitPartitionedCall(CustomCallOp op) {
  Location loc = op.getLoc();
  Scope scope = scopeOf(*op);
  std::vector<std::string> operands, results;
  for (Value operand : op->getOperands())
    operands.push_back(toString(describe(shards[operand].placement, numDevices)));
  SmallVector<std::optional<Placement>> wanted;
  for (OpResult result : op->getResults())
    wanted.push_back(wantedPlacement(result, scope));
  // Propagation has used the rule for the results; without one, the call's client infers the results' shardings from those of the operands.
  if (op->hasAttr(sdy::shardingRuleAttrName) || llvm::any_of(wanted, [](const auto &each) { return each.has_value(); }))
    for (auto [result, placement] : llvm::zip_equal(op->getResults(), wanted))
      results.push_back(toString(describe(placement ? *placement : wholeOf(result.getType()), numDevices)));

  FailureOr<CallPartition> made = options.calls->partition(op, operands, results);
  if (failed(made))
    return failure();
  if (made->operands.size() != op->getNumOperands() || made->results.size() != op->getNumResults())
    return op->emitError("expects a sharding per operand and result of its partitioner, but got ")
           << made->operands.size() << " and " << made->results.size();
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  calls::InlineCallsPassOptions inlineAll;
  inlineAll.keepFrom = ~0u;
  passes.addPass(calls::createInlineCallsPass(inlineAll));
  auto body = succeeded(passes.run(*made->body)) ? made->body->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
  if (!body || !body.getBody().hasOneBlock())
    return op->emitError("expects a function @main of one block of its partitioner");

  SmallVector<Type> localTypes;
  IRMapping mapping;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto placement = placementOf(made->operands[i], operand.getType(), numDevices, scope, op);
    if (failed(placement))
      return failure();
    Shard shard = shards[operand];
    shard.scope = scope;
    Value local = resharder.reshard(builder, loc, shard, *placement);
    localTypes.push_back(local.getType());
    if (i < body.getNumArguments())
      mapping.map(body.getArgument(i), local);
  }
  SmallVector<Placement> placements;
  SmallVector<Type> resultTypes;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto placement = placementOf(made->results[i], result.getType(), numDevices, scope, op);
    if (failed(placement))
      return failure();
    placements.push_back(*placement);
    resultTypes.push_back(localType(result.getType(), *placement));
  }
  auto type = builder.getFunctionType(localTypes, resultTypes);
  if (body.getFunctionType() != type)
    return op->emitError("expects the function of its partitioner to be ") << type << ", but got " << body.getFunctionType();

  Block &block = body.getBody().front();
  for (Operation &inner : block.without_terminator()) {
    Operation *local = builder.clone(inner, mapping);
    local->walk([&](Operation *each) {
      if (each->hasAttr("channel_handle"))
        each->setAttr("channel_handle", resharder.nextChannel(module.getContext()));
    });
  }
  for (auto [result, value, placement, target] :
       llvm::zip_equal(op->getResults(), block.getTerminator()->getOperands(), placements, wanted)) {
    bind(result, mapping.lookupOrDefault(value), placement, scope);
    if (target && *target != placement)
      bind(result, resharder.reshard(builder, loc, shards[result], *target), *target, scope);
  }
  return success();
}

//===-- Calls that belong to one device -----------------------------------===//

/// Returns the device that a maximal sharding names. The sharding of a token is ignored: JAX 0.8 marks it as replicated.
std::optional<int64_t> Partitioner::onlyDevice(CustomCallOp op) {
  size_t result = 0;
  while (result + 1 < op->getNumResults() && isa<TokenType>(op->getResult(result).getType()))
    ++result;
  if (auto all = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName)) {
    sdy::MeshAttr mesh = result < all.getShardings().size() ? all.getShardings()[result].getMesh(op) : sdy::MeshAttr();
    return mesh && mesh.isMaximal() ? std::optional(mesh.getDeviceIds()[0]) : std::nullopt;
  }
  std::string error;
  auto text = op->getAttrOfType<StringAttr>("mhlo.sharding");
  auto sharding = text ? sdy::parseHloSharding(text.getValue(), error) : std::nullopt;
  if (sharding && sharding->kind == sdy::HloSharding::Kind::Tuple && result < sharding->elements.size())
    sharding = sdy::HloSharding(sharding->elements[result]);
  return sharding && sharding->kind == sdy::HloSharding::Kind::Maximal ? std::optional(sharding->device) : std::nullopt;
}

/// Emits the call on this device only, so that a callback runs once; the other devices receive its results.
LogicalResult Partitioner::emitOnDevice(CustomCallOp op, int64_t device) {
  Location loc = op.getLoc();
  if (device >= numDevices)
    return op.emitError("is to run on device ") << device << " of " << numDevices;
  // Tokens order operations within each device's program, and are not sent.
  auto isToken = [](Type type) { return isa<TokenType>(type); };
  auto isKnown = [&](Type type) { return isToken(type) || isa<RankedTensorType>(type); };
  if (!llvm::all_of(op->getOperandTypes(), isKnown) || !llvm::all_of(op->getResultTypes(), isKnown))
    return op.emitError("UNIMPLEMENTED: a call of one device that takes or gives something else than tensors and tokens");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isToken(operand.getType()) ? shards[operand].value : whole(shards[operand], currentScope, loc));
  auto idType = RankedTensorType::get({}, builder.getIntegerType(32, false));
  Value mine = PartitionIdOp::create(builder, loc, idType);
  Value chosen = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(idType, APInt(32, device)));
  Value here = CompareOp::create(builder, loc, mine, chosen, ComparisonDirection::EQ);
  OperationState state(loc, IfOp::getOperationName(), ValueRange{here}, op->getResultTypes());
  state.addRegion();
  state.addRegion();
  Operation *branch = builder.create(state);
  SmallVector<Placement> placements;
  for (Type type : op->getResultTypes())
    placements.push_back(wholeOf(type));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&branch->getRegion(0));
    Operation *call = emitLocal(*op, operands, placements);
    ReturnOp::create(builder, loc, call->getResults());
    builder.createBlock(&branch->getRegion(1));
    SmallVector<Value> zeros;
    for (Type type : op->getResultTypes())
      zeros.push_back(isToken(type) ? Value(CreateTokenOp::create(builder, loc))
                                    : Value(stablehlo::ConstantOp::create(builder, loc, zerosOf(cast<RankedTensorType>(type)))));
    ReturnOp::create(builder, loc, zeros);
  }
  for (auto [result, value, placement] : llvm::zip_equal(op->getResults(), branch->getResults(), placements))
    bind(result, isToken(value.getType()) ? value : resharder.broadcast(builder, loc, value, device), placement, currentScope);
  return success();
}

} // namespace millrace::spmd
