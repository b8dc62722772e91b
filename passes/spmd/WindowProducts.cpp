// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowProducts.cpp - Products of parts while the next part travels --===//
// Input:   %1 = all_gather(%0) dim 0 groups [[0, 1]] : 2x4 -> 4x4 ; %2 = dot_general %1, %w : 4x8
// Output:  one product for every part of %0 as it comes by in a ring, each put into its rows of a 4x8:
//            %a = dot_general %0, %w ; %n = collective_permute(%0) from the next device ; %b = dot_general %n, %w
// Leaves alone gathered dimensions that the product sums over (devices would add in different orders, and copies of one value would
// differ in their last bits), gathered values that others use as well, and what would not win.
#include "passes/spmd/Communication.h"
#include "passes/spmd/Passes.h"
#include "passes/spmd/Reshard.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_WINDOWPRODUCTSPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// A contraction with a gathered operand: operand 0 or 1 of `product`, along its dimension `dim`, which is dimension `resultDim` of the result.
struct Candidate {
  AllGatherOp gather;
  DotGeneralOp product;
  unsigned operand;
  int64_t dim, resultDim;
  SmallVector<SmallVector<int64_t>> groups;
};

/// Legality: checks everything except the benefit.
std::optional<Candidate> candidateOf(AllGatherOp gather) {
  if (gather->getNumOperands() != 1 || !gather->getResult(0).hasOneUse() || !gather.getUseGlobalDeviceIds())
    return std::nullopt;
  OpOperand &use = *gather->getResult(0).getUses().begin();
  auto product = dyn_cast<DotGeneralOp>(use.getOwner());
  if (!product || product->getBlock() != gather->getBlock())
    return std::nullopt;
  int64_t dim = gather.getAllGatherDim();
  unsigned operand = use.getOperandNumber();
  DotDimensionNumbersAttr numbers = product.getDotDimensionNumbers();
  ArrayRef<int64_t> batch = operand ? numbers.getRhsBatchingDimensions() : numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> summed = operand ? numbers.getRhsContractingDimensions() : numbers.getLhsContractingDimensions();
  if (llvm::is_contained(batch, dim) || llvm::is_contained(summed, dim))
    return std::nullopt;
  // The dimensions of a result: batching dimensions, free ones of the left operand, free ones of the right.
  int64_t resultDim = batch.size();
  for (int64_t d = 0; d < dim; ++d)
    resultDim += !llvm::is_contained(batch, d) && !llvm::is_contained(summed, d);
  if (operand)
    resultDim += cast<RankedTensorType>(product.getLhs().getType()).getRank() - int64_t(batch.size()) -
                 int64_t(numbers.getLhsContractingDimensions().size());
  auto attr = cast<DenseIntElementsAttr>(gather.getReplicaGroups());
  int64_t size = cast<RankedTensorType>(attr.getType()).getDimSize(1);
  SmallVector<int64_t> ids(attr.getValues<int64_t>());
  Candidate found{gather, product, operand, dim, resultDim, {}};
  for (size_t begin = 0; begin < ids.size(); begin += size)
    found.groups.emplace_back(ArrayRef(ids).slice(begin, size));
  if (size < 2 || llvm::is_contained(ids, -1))
    return std::nullopt;
  return found;
}

/// Policy for devices that share processors and memory, where no transfer is hidden: a contraction that multiplies each gathered element with few
/// others is limited by reading the gathered value, and reads a shard that has just arrived from the caches. Measured over rows x depth x columns on
/// 2 and 4 devices (docs/communication.md): 8 % to 18 % less time up to 64 columns, 2 % at 128, more time beyond.
bool winsInCaches(Candidate &each) {
  constexpr int64_t mostColumns = 64, leastBytes = int64_t(16) << 20, mostParts = 8;
  auto gathered = cast<RankedTensorType>(each.gather->getResult(0).getType());
  auto type = cast<RankedTensorType>(each.product.getType());
  bool isPlain = each.operand == 0 && each.dim == 0 && gathered.getRank() == 2 && type.getRank() == 2 && gathered.hasStaticShape() && type.hasStaticShape();
  return isPlain && each.groups[0].size() <= mostParts && type.getDimSize(1) <= mostColumns && bytesOf(gathered) >= leastBytes;
}

/// Policy: compares the part of the transfer that is hidden behind contractions with the cost of a further message and contraction per shard.
bool wins(Candidate &each, double overlap, double gigaflops) {
  constexpr double messageMicroseconds = 1, productMicroseconds = 2; // to start a message and a contraction
  std::optional<Cost> transfer = communicationOf(each.gather);
  auto type = cast<RankedTensorType>(each.product.getType());
  auto lhs = cast<RankedTensorType>(each.product.getLhs().getType());
  double depth = 1;
  for (int64_t d : each.product.getDotDimensionNumbers().getLhsContractingDimensions())
    depth *= lhs.getDimSize(d);
  double product = 2.0 * type.getNumElements() * depth / (gigaflops * 1e3);
  double parts = each.groups[0].size();
  double hidden = overlap * std::min(transfer->microseconds, product * (parts - 1) / parts);
  return hidden > (parts - 1) * (messageMicroseconds + productMicroseconds);
}

struct WindowProducts : impl::WindowProductsPassBase<WindowProducts> {
  using WindowProductsPassBase::WindowProductsPassBase;

  void runOnOperation() override {
    channel = 0;
    SmallVector<AllGatherOp> gathers;
    getOperation().walk([&](Operation *op) {
      if (auto used = op->getAttrOfType<ChannelHandleAttr>("channel_handle"))
        channel = std::max(channel, used.getHandle());
      if (auto gather = dyn_cast<AllGatherOp>(op))
        gathers.push_back(gather);
    });
    for (AllGatherOp gather : gathers) {
      std::optional<Candidate> each = candidateOf(gather);
      if (each && (winsInCaches(*each) || wins(*each, overlap, gigaflops)))
        rewrite(*each);
    }
  }

  void rewrite(Candidate &each) {
    Location loc = each.product.getLoc();
    OpBuilder builder(each.product);
    auto type = cast<RankedTensorType>(each.product.getType());
    int64_t parts = each.groups[0].size();
    SmallVector<int64_t> partShape(type.getShape());
    int64_t tile = partShape[each.resultDim] /= parts;
    // `places` are the positions of the devices in their groups, times the size of a shard.
    SmallVector<int32_t> places;
    SmallVector<int64_t> pairs;
    for (const SmallVector<int64_t> &group : each.groups)
      for (int64_t i = 0; i < parts; ++i) {
        if (places.size() <= size_t(group[i]))
          places.resize(group[i] + 1);
        places[group[i]] = int32_t(i);
        pairs.append({group[(i + 1) % parts], group[i]});
      }
    auto scalar = RankedTensorType::get({}, builder.getI32Type());
    auto constant = [&](int32_t value) -> Value {
      return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, value));
    };
    auto tableType = RankedTensorType::get({int64_t(places.size())}, builder.getI32Type());
    Value table = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(tableType, ArrayRef(places)));
    Value device = PartitionIdOp::create(builder, loc);
    Value row = DynamicSliceOp::create(builder, loc, table, ValueRange{device}, builder.getDenseI64ArrayAttr({1}));
    Value place = ReshapeOp::create(builder, loc, scalar, row), zero = constant(0), count = constant(int32_t(parts));
    Value part = each.gather->getOperand(0), result;
    for (int64_t step = 0; step < parts; ++step) {
      if (step)
        part = CollectivePermuteOp::create(
            builder, each.gather.getLoc(), part.getType(), part,
            DenseIntElementsAttr::get(RankedTensorType::get({int64_t(pairs.size()) / 2, 2}, builder.getI64Type()), pairs),
            ChannelHandleAttr::get(builder.getContext(), ++channel, 1));
      Operation *product = builder.clone(*each.product);
      product->setOperand(each.operand, part);
      product->getResult(0).setType(type.clone(partShape));
      Value owner = RemOp::create(builder, loc, AddOp::create(builder, loc, place, constant(int32_t(step))), count);
      SmallVector<Value> starts(partShape.size(), zero);
      starts[each.resultDim] = MulOp::create(builder, loc, owner, constant(int32_t(tile)));
      if (!result) { // overwritten entirely
        Value nothing = stablehlo::ConstantOp::create(builder, loc, zerosOf(RankedTensorType::get({}, type.getElementType())));
        result = BroadcastInDimOp::create(builder, loc, type, nothing, builder.getDenseI64ArrayAttr({}));
      }
      result = DynamicUpdateSliceOp::create(builder, loc, type, result, product->getResult(0), starts);
    }
    each.product.getResult().replaceAllUsesWith(result);
    each.product->erase();
    each.gather->erase();
  }

  int64_t channel = 0;
};

} // namespace
} // namespace millrace::spmd
