// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalToLocalOps.cpp - Operations that say something about shapes ---===//
#include "passes/spmd/Combiners.h"
#include "passes/spmd/GlobalToLocal.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

//===-- What differs between devices --------------------------------------===//

Value GlobalToLocal::ownRow(Location loc, ArrayRef<int64_t> values, int64_t width) {
  Value device = config.byReplica ? ReplicaIdOp::create(builder, loc).getResult() : PartitionIdOp::create(builder, loc).getResult();
  SmallVector<int32_t> entries(values.begin(), values.end());
  SmallVector<int64_t> shape{int64_t(values.size()) / width}, sizes{1};
  SmallVector<Value> starts{device};
  if (width > 1) {
    shape.push_back(width);
    sizes.push_back(width);
    auto zero = RankedTensorType::get({}, cast<RankedTensorType>(device.getType()).getElementType());
    starts.push_back(ConstantOp::create(builder, loc, DenseElementsAttr::get(zero, APInt(32, 0))));
  }
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  Value table = ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef(entries)));
  return DynamicSliceOp::create(builder, loc, type.clone(sizes), table, starts, sizes);
}

Value GlobalToLocal::own(Location loc, ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return scalar(loc, builder.getI32Type(), values.front());
  return ReshapeOp::create(builder, loc, RankedTensorType::get({}, builder.getI32Type()), ownRow(loc, values, 1));
}

Value GlobalToLocal::scalar(Location loc, Type element, int64_t value) {
  auto type = RankedTensorType::get({}, element);
  auto attr = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, double(value)))
                                      : Attribute(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), uint64_t(value))));
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, attr));
}

Value GlobalToLocal::isFirst(Location loc, AxisRefs axes, sdy::MeshAttr mesh, Value like) {
  Value part = own(loc, MeshPositions(mesh).partOfDevice(axes));
  auto type = RankedTensorType::get({}, builder.getI1Type());
  Value first = CompareOp::create(builder, loc, type, part, scalar(loc, builder.getI32Type(), 0),
                                  ComparisonDirectionAttr::get(builder.getContext(), ComparisonDirection::EQ),
                                  ComparisonTypeAttr::get(builder.getContext(), ComparisonType::SIGNED));
  auto shape = type.clone(cast<RankedTensorType>(like.getType()).getShape());
  return shape == type ? first : BroadcastInDimOp::create(builder, loc, shape, first, ArrayRef<int64_t>()).getResult();
}

Value GlobalToLocal::ownPart(Location loc, Value whole, const Info &info) {
  RankedTensorType local = info.local();
  SmallVector<Value> starts;
  for (int64_t dim = 0; dim < local.getRank(); ++dim) {
    SmallVector<int64_t> offsets = MeshPositions(info.mesh).partOfDevice(info.axes(dim));
    for (int64_t &offset : offsets)
      offset *= local.getDimSize(dim);
    starts.push_back(own(loc, offsets));
  }
  return DynamicSliceOp::create(builder, loc, local, whole, starts, local.getShape());
}

//===-- Operations --------------------------------------------------------===//

LogicalResult GlobalToLocal::convertConstant(Operation *op, ElementsAttr value) {
  const Info &info = opInfos[op].results[0];
  if (!info.isSplit()) {
    if (!isa<sdy::ConstantOp>(op))
      return success();
    auto plain = ConstantOp::create(builder, op->getLoc(), info.type, value);
    plain->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replace(op, plain);
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat()) {
    auto part = ConstantOp::create(builder, op->getLoc(), info.local(), dense.resizeSplat(info.local()));
    part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replace(op, part);
    return success();
  }
  Value whole = ConstantOp::create(builder, op->getLoc(), info.type, value);
  replace(op, ownPart(op->getLoc(), whole, info));
  return success();
}

LogicalResult GlobalToLocal::convertIota(IotaOp op) {
  const Info &info = opInfos[op].results[0];
  int64_t dim = op.getIotaDimension();
  if (info.parts(dim) == 1)
    return success();
  Location loc = op.getLoc();
  RankedTensorType type = info.local();
  SmallVector<int64_t> offsets = MeshPositions(info.mesh).partOfDevice(info.axes(dim));
  for (int64_t &offset : offsets)
    offset *= type.getDimSize(dim);
  Value start = own(loc, offsets);
  auto element = RankedTensorType::get({}, type.getElementType());
  if (start.getType() != element)
    start = ConvertOp::create(builder, loc, element, start);
  Value shift = BroadcastInDimOp::create(builder, loc, type, start, ArrayRef<int64_t>());
  auto part = IotaOp::create(builder, loc, type, uint64_t(dim));
  replace(op, AddOp::create(builder, loc, type, part, shift));
  return success();
}

LogicalResult GlobalToLocal::convertSlice(SliceOp op) {
  const Info &from = opInfos[op].operands[0], &to = opInfos[op].results[0];
  SmallVector<int64_t> limits(op.getLimitIndices());
  for (int64_t dim = 0; dim < from.type.getRank(); ++dim) {
    if (from.parts(dim) == 1 && to.parts(dim) == 1)
      continue;
    int64_t size = from.type.getDimSize(dim), step = op.getStrides()[dim];
    // A dimension can be sliced in place if strides divide each shard.
    bool inPlace = from.axes(dim) == to.axes(dim) && op.getStartIndices()[dim] < step && from.localSize(dim) % step == 0 &&
                   to.type.getDimSize(dim) * step == size;
    if (!inPlace)
      return refuse(op, dim, "elements move to other devices");
    limits[dim] = op.getStartIndices()[dim] + (to.localSize(dim) - 1) * step + 1;
  }
  op.setLimitIndices(limits);
  return success();
}

/// Element g is at low + g * (interior + 1) of the result; each device sends its elements to the devices that hold these positions.
LogicalResult GlobalToLocal::convertPad(PadOp op) {
  const Info &from = opInfos[op].operands[0], &to = opInfos[op].results[0];
  SmallVector<int64_t> low(op.getEdgePaddingLow()), high(op.getEdgePaddingHigh());
  ArrayRef<int64_t> interior = op.getInteriorPadding();
  SmallVector<std::pair<int64_t, SmallVector<int64_t>>> shifted;
  for (int64_t dim = 0; dim < from.type.getRank(); ++dim) {
    if (from.parts(dim) == 1 && to.parts(dim) == 1)
      continue;
    if (from.axes(dim) != to.axes(dim))
      return refuse(op, dim, "operand and result are cut differently");
    int64_t step = interior[dim] + 1, size = from.localSize(dim), wanted = to.localSize(dim);
    int64_t span = (size - 1) * step + 1;
    SmallVector<int64_t> places = MeshPositions(from.mesh).partOfDevice(from.axes(dim));
    for (int64_t &place : places) {
      place = low[dim] + place * (size * step - wanted);
      if (place < 0 || place + span > wanted)
        return refuse(op, dim, "elements move to other devices");
    }
    int64_t most = *llvm::max_element(places), least = *llvm::min_element(places);
    low[dim] = most;
    high[dim] = wanted - least - span;
    if (most != least) {
      for (int64_t &place : places)
        place = most - place;
      shifted.push_back({dim, places});
    }
  }
  op.setEdgePaddingLow(low);
  op.setEdgePaddingHigh(high);
  if (shifted.empty())
    return success();
  builder.setInsertionPointAfter(op);
  SmallVector<int64_t> shape(to.local().getShape());
  SmallVector<Value> starts(shape.size());
  for (auto &[dim, places] : shifted)
    starts[dim] = own(op.getLoc(), places);
  SmallVector<int64_t> padded;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t before = cast<RankedTensorType>(op.getOperand().getType()).getDimSize(dim);
    padded.push_back(low[dim] + high[dim] + before + std::max<int64_t>(before - 1, 0) * interior[dim]);
    if (!starts[dim])
      starts[dim] = scalar(op.getLoc(), builder.getI32Type(), 0);
  }
  op.getResult().setType(to.type.clone(padded));
  auto part = DynamicSliceOp::create(builder, op.getLoc(), to.local(), op.getResult(), starts, shape);
  op.getResult().replaceAllUsesExcept(part.getResult(), part);
  return success();
}

LogicalResult GlobalToLocal::convertConvolution(ConvolutionOp op) {
  const OpInfo &info = opInfos[op];
  const Info &lhs = info.operands[0], &rhs = info.operands[1], &out = info.results[0];
  auto numbers = op.getDimensionNumbers();
  int64_t batchParts = lhs.parts(numbers.getInputBatchDimension()) / out.parts(numbers.getOutputBatchDimension());
  int64_t featureParts = lhs.parts(numbers.getInputFeatureDimension()) / rhs.parts(numbers.getKernelInputFeatureDimension());
  // The groups of a convolution are sharded on both sides; a sharding within a group makes a sum.
  auto divide = [&](int64_t groups, int64_t parts, StringRef what) -> FailureOr<int64_t> {
    if (parts < 1 || groups % parts)
      return op.emitOpError("cannot run on ") << parts << " parts of " << groups << " " << what << " groups";
    return groups / parts;
  };
  auto batches = divide(op.getBatchGroupCount(), batchParts, "batch");
  auto features = divide(op.getFeatureGroupCount(), featureParts, "feature");
  if (failed(batches) || failed(features))
    return failure();
  op.setBatchGroupCount(*batches);
  op.setFeatureGroupCount(*features);
  for (auto [spatial, l, r, o] : llvm::enumerate(numbers.getInputSpatialDimensions(), numbers.getKernelSpatialDimensions(),
                                                 numbers.getOutputSpatialDimensions())) {
    if (out.parts(o) > 1)
      return refuse(op, o, "windows reach into neighbours' parts; sdy-resolve-permutation-factors comes first");
    if (lhs.parts(l) == 1 && rhs.parts(r) == 1)
      continue;
    // One window that covers the whole input is a sum over shards.
    bool covers = lhs.axes(l) == rhs.axes(r) && out.type.getDimSize(o) == 1 && lhs.type.getDimSize(l) == rhs.type.getDimSize(r);
    for (int64_t side = 0; side < 2 && op.getPadding(); ++side)
      covers &= op.getPaddingAttr().getValues<int64_t>()[{uint64_t(spatial), uint64_t(side)}] == 0;
    if (!covers)
      return refuse(op, l, "windows reach into neighbours' parts; sdy-resolve-permutation-factors comes first");
  }
  return success();
}

LogicalResult GlobalToLocal::convertReduce(ReduceOp op) {
  size_t inputs = op.getInputs().size();
  const OpInfo &info = opInfos[op];
  SmallVector<sdy::AxisRefAttr> axes;
  sdy::MeshAttr mesh;
  for (int64_t dim : op.getDimensions()) {
    llvm::append_range(axes, info.operands[0].axes(dim));
    mesh = info.operands[0].mesh;
  }
  if (axes.empty())
    return success();
  Operation *combine = combinerOf(op);
  if (!combine || inputs != 1)
    return refuse(op, op.getDimensions().front(), "it is not known how devices' results are combined");
  Value init = op.getInitValues()[0];
  if (isNeutral(init, combine))
    return success();
  // The initial value is added once, not once per device.
  auto type = cast<RankedTensorType>(init.getType());
  Value neutral = ConstantOp::create(builder, op.getLoc(), type, neutralElement(combine, type));
  op->setOperand(inputs, SelectOp::create(builder, op.getLoc(), type, isFirst(op.getLoc(), axes, mesh, init), init, neutral));
  return success();
}

/// Converts random numbers, which are those of one device: all devices generate all of them and keep their shard.
LogicalResult GlobalToLocal::convertRandom(Operation *op) {
  builder.setInsertionPointAfter(op);
  for (auto [result, info] : llvm::zip_equal(op->getResults(), opInfos[op].results)) {
    if (!info.isSplit())
      continue;
    result.setType(info.type);
    Value part = ownPart(op->getLoc(), result, info);
    result.replaceAllUsesExcept(part, part.getDefiningOp());
  }
  return success();
}

LogicalResult GlobalToLocal::checkWindows(Operation *op, ArrayRef<int64_t> sizes, std::optional<ArrayRef<int64_t>> strides,
                                          DenseIntElementsAttr padding, const Info &windowed) {
  for (int64_t dim = 0; dim < windowed.type.getRank(); ++dim) {
    if (windowed.parts(dim) == 1)
      continue;
    int64_t size = sizes.empty() ? 1 : sizes[dim], stride = strides ? (*strides)[dim] : 1;
    bool apart = size <= stride && windowed.localSize(dim) % stride == 0;
    for (uint64_t side = 0; side < 2 && padding; ++side)
      apart &= padding.getValues<int64_t>()[{uint64_t(dim), side}] == 0;
    for (StringRef dilation : {"base_dilations", "window_dilations"})
      if (auto values = op->getAttrOfType<DenseI64ArrayAttr>(dilation))
        apart &= values[dim] == 1;
    if (!apart)
      return refuse(op, dim, "windows reach into neighbours' parts; sdy-resolve-permutation-factors comes first");
  }
  return success();
}

LogicalResult GlobalToLocal::expectWhole(Operation *op, ArrayRef<int64_t> dims, const Info &info, StringRef why) {
  for (int64_t dim : dims)
    if (info.parts(dim) > 1)
      return refuse(op, dim, why);
  return success();
}

} // namespace millrace::spmd
