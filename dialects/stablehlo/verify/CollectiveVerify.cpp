// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveVerify.cpp - Constraints of collectives, async pairs, send/recv, infeed -===//
#include "dialects/stablehlo/CollectiveOps.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
namespace millrace::stablehlo {

/// Returns the id of the channel, or 0 if there is none.
template <typename OpTy>
static int64_t channelId(OpTy op) {
  ChannelHandleAttr handle = op.getChannelHandleAttr();
  return handle ? handle.getHandle() : 0;
}

LogicalResult AllGatherOp::verify() {
  int64_t dim = getAllGatherDim();
  // (C2)..(C4)
  if (failed(checks::checkReplicaGroups(getLoc(), getReplicaGroups(), /*sameSize=*/true, getUseGlobalDeviceIds(),
                                        std::nullopt)))
    return failure();
  // (C5)
  if (getUseGlobalDeviceIds() && channelId(*this) < 0)
    return emitOptionalError(getLoc(), "channel_id cannot be negative when useGlobalDeviceIds is set");
  for (auto [operand, result] : llvm::zip_equal(getOperandTypes(), getResultTypes())) {
    auto from = cast<RankedTensorType>(operand), to = cast<RankedTensorType>(result);
    // (C1)
    if (dim >= from.getRank())
      return emitOptionalError(getLoc(), "all_gather_dim must be a valid index of operand");
    if (from.getDimSize(dim) == 0)
      return emitOptionalError(getLoc(), "dimension size of operand at 'all_gather_dim' cannot be zero");
    // (C6)
    if (from.getRank() != to.getRank())
      return emitOptionalError(getLoc(), "operand and result must have the same rank");
    for (int64_t i = 0; i != from.getRank(); ++i)
      if (i != dim && !checks::dimsAgree(from.getDimSize(i), to.getDimSize(i)))
        return emitOptionalError(getLoc(), "operand and result should have the same shape except for the dimension "
                                           "size at 'all_gather_dim'");
    if (from.isDynamicDim(dim) || to.isDynamicDim(dim))
      continue;
    if (to.getDimSize(dim) % from.getDimSize(dim) != 0)
      return emitOptionalError(getLoc(), "result gather dimension has size ", to.getDimSize(dim),
                               ", expected to be a multiple of operand gather dimension size ", from.getDimSize(dim));
  }
  return success();
}

/// Checks (C5) of all_reduce for each operand.
static LogicalResult checkComputation(Location loc, TypeRange operands, Region &computation) {
  for (Type operand : operands) {
    auto type = cast<ShapedType>(operand);
    ShapedType scalar = RankedTensorType::get({}, type.getElementType());
    if (failed(checks::checkReducer(loc, computation.front(), type, scalar, {})))
      return failure();
  }
  return success();
}

static LogicalResult checkReducingCollective(Location loc, TypeRange operands, Attribute groups, int64_t channel,
                                             bool useGlobalDeviceIds, Region &computation) {
  if (failed(checks::checkReplicaGroups(loc, groups, /*sameSize=*/false, useGlobalDeviceIds, std::nullopt)))
    return failure();
  if (useGlobalDeviceIds && channel <= 0)
    return emitOptionalError(loc, "channel_id must be positive when useGlobalDeviceIds is set but got: ", channel);
  return checkComputation(loc, operands, computation);
}

LogicalResult AllReduceOp::verify() {
  return checkReducingCollective(getLoc(), getOperandTypes(), getReplicaGroups(), channelId(*this),
                                 getUseGlobalDeviceIds(), getComputation());
}

/// Checks the last operand, which names the root of all data operands, or one root for each of them.
static LogicalResult checkRootOperand(Operation *op) {
  if (op->getNumOperands() < 2)
    return op->emitOpError() << "expects a root operand after the data operands when has_dynamic_root is set";
  auto root = cast<RankedTensorType>(op->getOperand(op->getNumOperands() - 1).getType());
  int64_t data = op->getNumOperands() - 1;
  if (!isa<IntegerType>(root.getElementType()) || root.getElementType().isInteger(1))
    return op->emitOpError() << "expects an integer root operand, but got " << root;
  if (root.getRank() > 1 || (root.hasStaticShape() && root.getNumElements() != 1 && root.getNumElements() != data))
    return op->emitOpError() << "expects a root operand of one element or of " << data << " (one for each data operand), but got " << root;
  return success();
}

LogicalResult CollectiveReduceOp::verify() {
  SmallVector<Type> operands(getOperandTypes());
  if (getHasDynamicRoot()) {
    if (failed(checkRootOperand(*this)))
      return failure();
    operands.pop_back();
  }
  return checkReducingCollective(getLoc(), operands, getReplicaGroups(), channelId(*this), getUseGlobalDeviceIds(),
                                 getComputation());
}

LogicalResult ReduceScatterOp::verify() {
  // (C3)..(C5)
  if (failed(checks::checkReplicaGroups(getLoc(), getReplicaGroups(), /*sameSize=*/true, getUseGlobalDeviceIds(),
                                        std::nullopt)))
    return failure();
  // (C7)
  if (failed(checkComputation(getLoc(), getOperand().getType(), getComputation())))
    return failure();
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  int64_t dim = getScatterDimension();
  // (C8) (C2)
  if (from.getRank() != to.getRank())
    return emitOptionalError(getLoc(), "operand and result should have same rank");
  if (dim >= from.getRank())
    return emitOptionalError(getLoc(), "scatter dim should be less than operand/result rank");
  // (C6)
  if (getUseGlobalDeviceIds() && channelId(*this) <= 0)
    return emitOptionalError(getLoc(), "channel_id must be positive when useGlobalDeviceIds is set but got: ",
                             channelId(*this));
  if (!from.isDynamicDim(dim) && !to.isDynamicDim(dim)) {
    if (to.getDimSize(dim) == 0)
      return emitOptionalError(getLoc(), "result dimension size at scatter_dimension cannot be zero");
    if (from.getDimSize(dim) == 0)
      return emitOptionalError(getLoc(), "operand dimension size at scatter_dimension cannot be zero");
    // (C1)
    if (from.getDimSize(dim) % to.getDimSize(dim) != 0)
      return emitOptionalError(getLoc(), "operand scatter dimension has size ", from.getDimSize(dim),
                               ", expected to be a multiple of result scatter dimension size ", to.getDimSize(dim));
  }
  for (int64_t i = 0; i != from.getRank(); ++i)
    if (i != dim && !checks::dimsAgree(from.getDimSize(i), to.getDimSize(i)))
      return emitOptionalError(getLoc(), "non scatter dimensions should be same for operand (", from.getDimSize(i),
                               ") and result (", to.getDimSize(i), ")");
  // (C9)
  auto accumulators = checks::accumulatorTypes(getLoc(), getComputation());
  if (failed(accumulators))
    return failure();
  if (to.getElementType() != accumulators->front().getElementType())
    return emitOptionalError(getLoc(), "result element-type is expected to be ",
                             accumulators->front().getElementType(), ", but got ", to.getElementType());
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (getHasDynamicRoot() && failed(checkRootOperand(*this)))
    return failure();
  auto groups = dyn_cast<DenseIntElementsAttr>(getReplicaGroups());
  if (!groups)
    return success();
  if (groups.getType().getRank() != 2)
    return emitOptionalError(getLoc(), "replica groups should be a rank 2 tensor,", "but instead it is of rank ",
                             groups.getType().getRank());
  llvm::SmallSet<int64_t, 8> seen; // any number is possible, and a dense set reserves some numbers
  for (int64_t id : groups.getValues<int64_t>()) {
    // (C2) The number of processes is not known here.
    if (id < 0)
      return emitOptionalError(getLoc(), "replica_groups values must be positive, but was given ", id);
    // (C1)
    if (!seen.insert(id).second)
      return emitOptionalError(getLoc(), "replica id #", id, " seen more than once");
  }
  return success();
}

/// Checks (C1)..(C4) of collective_permute, which are (C2) (C3) of send.
static LogicalResult checkSourceTargetPairs(Location loc, DenseIntElementsAttr pairs) {
  ShapedType type = pairs.getType();
  if (type.getRank() != 2)
    return emitOptionalError(loc, "expect source_target_pairs attribute to be of rank 2, but got rank ",
                             type.getRank());
  if (type.getDimSize(1) != 2)
    return emitOptionalError(loc, "expect source_target_pairs attribute of shape (N, 2), but got (", type.getShape(),
                             ")");
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (auto [index, id] : llvm::enumerate(pairs.getValues<int64_t>())) {
    if (id < 0)
      return emitOptionalError(loc, "replica ids in source_target_pairs must be >= 0.");
    bool isSource = index % 2 == 0;
    if (!(isSource ? sources : targets).insert(id).second)
      return emitOptionalError(loc, "duplicate ", isSource ? "sources" : "targets", " not allowed.");
  }
  return success();
}

LogicalResult CollectivePermuteOp::verify() { return checkSourceTargetPairs(getLoc(), getSourceTargetPairs()); }

LogicalResult AsyncStartOp::verify() {
  Block &block = getBody().front();
  // The body must be one collective and the return of its results.
  if (!llvm::hasNItems(block, 2) || !isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp,
                                         CollectivePermuteOp, CollectiveReduceOp, ReduceScatterOp>(block.front()))
    return emitOpError() << "expects the body to be a single collective operation";
  return success();
}

//===-- send, recv, infeed ------------------------------------------------===//

LogicalResult SendOp::verify() {
  if (std::optional<DenseIntElementsAttr> pairs = getSourceTargetPairs(); pairs && pairs->getNumElements() != 0)
    return checkSourceTargetPairs(getLoc(), *pairs);
  return success();
}

LogicalResult RecvOp::verify() {
  int64_t type = getChannelHandle().getType();
  // (C1)
  if (!getIsHostTransfer() && type != checks::deviceToDevice)
    return emitOptionalError(getLoc(), "channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false");
  if (getIsHostTransfer() && type != checks::hostToDevice)
    return emitOptionalError(getLoc(), "channel_type should be HOST_TO_DEVICE when is_host_transfer is true");
  // (C2)..(C4)
  if (getNumResults() == 0)
    return emitOptionalError(getLoc(), "result is expected to be at least of size 1, but got ", getNumResults());
  for (Type result : TypeRange(getResultTypes()).drop_back())
    if (!isa<TensorType>(result))
      return emitOptionalError(getLoc(), "everything but the last element of result types is expected to be of tensor "
                                         "type, but got ",
                               result);
  if (!isa<TokenType>(getResults().back().getType()))
    return emitOptionalError(getLoc(), "last element of result types is expected to be of token type, but got ",
                             getResults().back().getType());
  if (std::optional<DenseIntElementsAttr> pairs = getSourceTargetPairs(); pairs && pairs->getNumElements() != 0)
    return checkSourceTargetPairs(getLoc(), *pairs);
  return success();
}

LogicalResult InfeedOp::verify() {
  // (C1)..(C3)
  if (getNumResults() == 0)
    return emitOptionalError(getLoc(), "result is expected to be at least of size 1, but got ", getNumResults());
  for (Type result : TypeRange(getResultTypes()).drop_back())
    if (!isa<TensorType>(result))
      return emitOptionalError(getLoc(), "all elements of result types, except the last element, are expected to be of "
                                         "tensor type, but got ",
                               result);
  if (!isa<TokenType>(getResults().back().getType()))
    return emitOptionalError(getLoc(), "last element of result types is expected to be of token type, but got ",
                             getResults().back().getType());
  ArrayAttr layouts = getLayoutAttr();
  if (!layouts)
    return success();
  if (layouts.size() != getNumResults() - 1)
    return emitOptionalError(getLoc(), "layout-attribute size must be ", getNumResults() - 1,
                             " (which is the number of op-results - 1 (for token result)), but got ", layouts.size());
  for (Attribute child : layouts) {
    auto layout = dyn_cast<ArrayAttr>(child);
    if (!layout)
      return emitOptionalError(getLoc(), "layout-attribute expected to have elements of type array, but got ", child);
    for (Attribute leaf : layout)
      if (!isa<IntegerAttr>(leaf))
        return emitOptionalError(getLoc(), "layout-attribute's leaf elements are expected to be of type integer, but "
                                           "got ",
                                 leaf);
  }
  return success();
}

//===-- Speculation -------------------------------------------------------===//
// A collective whose processes disagree about a size would not end, or corrupt memory. It is therefore speculatable only if the sizes are static. The
// size of the dimension that changes follows from attributes if it is static in the operand.

template <typename OpTy>
static Speculation::Speculatability speculateExcept(OpTy op, ArrayRef<int64_t> changing) {
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes())) {
    auto from = cast<RankedTensorType>(operand), to = cast<RankedTensorType>(result);
    for (int64_t i = 0; i != to.getRank(); ++i) {
      bool mustBeStatic = llvm::is_contained(changing, i) || !to.isDynamicDim(i);
      if (mustBeStatic && from.isDynamicDim(i))
        return Speculation::NotSpeculatable;
    }
  }
  return Speculation::Speculatable;
}

Speculation::Speculatability AllGatherOp::getSpeculatability() { return speculateExcept(*this, getAllGatherDim()); }
Speculation::Speculatability AllToAllOp::getSpeculatability() {
  return speculateExcept(*this, {int64_t(getSplitDimension()), int64_t(getConcatDimension())});
}
Speculation::Speculatability ReduceScatterOp::getSpeculatability() {
  Speculation::Speculatability here = speculateExcept(*this, getScatterDimension());
  return here == Speculation::Speculatable ? Speculation::RecursivelySpeculatable : here;
}

} // namespace millrace::stablehlo
