// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveInfer.cpp - Result types of collectives, async pairs, tokens -===//
#include "dialects/stablehlo/CollectiveOps.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace millrace::stablehlo {

static LogicalResult inferToken(MLIRContext *context, SmallVectorImpl<Type> &results) {
  results.push_back(TokenType::get(context));
  return success();
}

LogicalResult AfterAllOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                           SmallVectorImpl<Type> &results) {
  return inferToken(context, results);
}
LogicalResult CreateTokenOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &results) {
  return inferToken(context, results);
}
LogicalResult OutfeedOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                          SmallVectorImpl<Type> &results) {
  return inferToken(context, results);
}
LogicalResult SendOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  // (C1)
  int64_t type = adaptor.getChannelHandle().getType();
  if (!adaptor.getIsHostTransfer() && type != checks::deviceToDevice)
    return emitOptionalError(loc, "channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false");
  if (adaptor.getIsHostTransfer() && type != checks::deviceToHost)
    return emitOptionalError(loc, "channel_type should be DEVICE_TO_HOST when is_host_transfer is true");
  return inferToken(context, results);
}

static LogicalResult inferId(MLIRContext *context, SmallVectorImpl<Type> &results) {
  results.push_back(RankedTensorType::get({}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}
LogicalResult ReplicaIdOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &results) {
  return inferId(context, results);
}
LogicalResult PartitionIdOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &results) {
  return inferId(context, results);
}

/// Infers the shapes of the operands with the element types of the computation.
static LogicalResult inferReduced(std::optional<Location> loc, ValueRange operands, Region &computation,
                                  SmallVectorImpl<Type> &results) {
  auto accumulators = checks::accumulatorTypes(loc, computation);
  if (failed(accumulators))
    return failure();
  if (accumulators->empty())
    return emitOptionalError(loc, "The reduction-region expected to return some value(s)");
  for (Value operand : operands)
    results.push_back(
        getSameShapeTensorType(cast<ShapedType>(operand.getType()), accumulators->front().getElementType()));
  return success();
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  return inferReduced(loc, adaptor.getOperands(), adaptor.getComputation(), results);
}

/// Returns the operands without the last one, which names the root if the root is dynamic.
static ValueRange dataOperands(ValueRange operands, bool hasDynamicRoot) {
  return hasDynamicRoot && !operands.empty() ? operands.drop_back() : operands;
}

LogicalResult CollectiveReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  return inferReduced(loc, dataOperands(adaptor.getOperands(), adaptor.getHasDynamicRoot()), adaptor.getComputation(),
                      results);
}

LogicalResult CollectiveBroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                      SmallVectorImpl<Type> &results) {
  llvm::append_range(results, dataOperands(adaptor.getOperands(), adaptor.getHasDynamicRoot()).getTypes());
  return success();
}

LogicalResult CollectivePermuteOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getOperand().getType());
  return success();
}

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  int64_t split = adaptor.getSplitDimension(), concat = adaptor.getConcatDimension(), count = adaptor.getSplitCount();
  // (C5)..(C8)
  if (failed(checks::checkReplicaGroups(loc, adaptor.getReplicaGroups(), /*sameSize=*/true,
                                        /*useGlobalDeviceIds=*/false, count)))
    return failure();
  for (Type operandType : adaptor.getOperands().getTypes()) {
    auto type = cast<RankedTensorType>(operandType);
    // (C1) (C3)
    if (split >= type.getRank())
      return emitOptionalError(loc, "AllToAll split_dimension ", split, " is out-of-bounds for input rank ",
                               type.getRank());
    if (concat >= type.getRank())
      return emitOptionalError(loc, "AllToAll concat_dimension ", concat, " is out-of-bounds for input rank ",
                               type.getRank());
    // (C2)
    SmallVector<int64_t> shape(type.getShape()), bounds(encodingToBounds(type.getEncoding()));
    if (isStaticDimSize(shape[split]) && shape[split] % count != 0)
      return emitOptionalError(loc, "split dimension has size ", shape[split],
                               ", expected to be a multiple of split_count ", count);
    auto exchange = [&](SmallVectorImpl<int64_t> &sizes) {
      if (sizes.empty())
        return;
      if (isStaticDimSize(sizes[split]))
        sizes[split] /= count;
      if (isStaticDimSize(sizes[concat]))
        sizes[concat] *= count;
    };
    exchange(shape);
    exchange(bounds);
    results.push_back(RankedTensorType::get(shape, type.getElementType(),
                                            boundsToEncoding(context, type.getEncoding(), bounds)));
  }
  return success();
}

LogicalResult AsyncStartOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  Region &body = adaptor.getBody();
  if (body.empty() || body.front().empty())
    return emitOptionalError(loc, "expect non-empty region");
  // (C1)
  TypeRange parameters = body.front().getArgumentTypes(), operands = adaptor.getOperands().getTypes();
  if (operands.size() != parameters.size())
    return emitOptionalError(loc, "'stablehlo.async_start' op number of operands (", operands.size(),
                             ") must match number of region arguments (", parameters.size(), ")");
  for (auto [index, operand, parameter] : llvm::enumerate(operands, parameters))
    if (operand != parameter)
      return emitOptionalError(loc, "'stablehlo.async_start' op operand type ", operand, " at index ", index,
                               " must match region argument type ", parameter);
  SmallVector<Type> types(body.front().getTerminator()->getOperandTypes());
  results.push_back(FutureType::get(context, types));
  return success();
}

LogicalResult AsyncDoneOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  llvm::append_range(results, cast<FutureType>(adaptor.getOperand().getType()).getTypes());
  return success();
}

//===-- Builders ----------------------------------------------------------===//

void AllReduceOp::build(OpBuilder &builder, OperationState &state, Type resultType, Value operand,
                        Attribute replicaGroups, ChannelHandleAttr channelHandle, bool useGlobalDeviceIds) {
  build(builder, state, TypeRange(resultType), ValueRange(operand), replicaGroups, channelHandle, useGlobalDeviceIds);
}

void AllToAllOp::build(OpBuilder &builder, OperationState &state, Type resultType, Value operand,
                       IntegerAttr splitDimension, IntegerAttr concatDimension, IntegerAttr splitCount,
                       Attribute replicaGroups) {
  build(builder, state, TypeRange(resultType), ValueRange(operand), splitDimension, concatDimension, splitCount,
        replicaGroups, /*channel_handle=*/ChannelHandleAttr());
}

void CollectiveBroadcastOp::build(OpBuilder &builder, OperationState &state, Type resultType, Value operand,
                                  Attribute replicaGroups) {
  build(builder, state, TypeRange(resultType), ValueRange(operand), replicaGroups,
        /*channel_handle=*/ChannelHandleAttr(), /*has_dynamic_root=*/false);
}

void CollectivePermuteOp::build(OpBuilder &builder, OperationState &state, Type resultType, Value operand,
                                DenseIntElementsAttr sourceTargetPairs) {
  build(builder, state, resultType, operand, sourceTargetPairs, /*channel_handle=*/ChannelHandleAttr());
}

} // namespace millrace::stablehlo
