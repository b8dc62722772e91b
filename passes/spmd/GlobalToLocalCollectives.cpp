// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalToLocalCollectives.cpp - sdy collectives in stablehlo's words -===//
#include "passes/spmd/GlobalToLocal.h"
#include "passes/spmd/Reshard.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

static DenseIntElementsAttr groupsAttr(OpBuilder &builder, const ReplicaGroups &groups) {
  SmallVector<int64_t> flat;
  for (const auto &group : groups)
    llvm::append_range(flat, group);
  int64_t rows = groups.size(), columns = groups.empty() ? 0 : groups[0].size();
  return DenseIntElementsAttr::get(RankedTensorType::get({rows, columns}, builder.getI64Type()), flat);
}

/// Returns the channel of collectives. Without a channel, their devices are replicas.
ChannelHandleAttr GlobalToLocal::channel() {
  return config.byReplica ? ChannelHandleAttr() : ChannelHandleAttr::get(builder.getContext(), ++channels, 1);
}

void GlobalToLocal::fillReducer(Region &region, Type element, sdy::ReductionOp kind, Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  auto type = RankedTensorType::get({}, element);
  Block *block = builder.createBlock(&region, {}, {type, type}, {loc, loc});
  Value a = block->getArgument(0), b = block->getArgument(1), combined;
  switch (kind) {
  case sdy::ReductionOp::Sum:
    combined = AddOp::create(builder, loc, type, a, b);
    break;
  case sdy::ReductionOp::Max:
    combined = MaxOp::create(builder, loc, type, a, b);
    break;
  case sdy::ReductionOp::Min:
    combined = MinOp::create(builder, loc, type, a, b);
    break;
  }
  ReturnOp::create(builder, loc, combined);
}

static RankedTensorType scaled(Value value, int64_t dim, int64_t times, int64_t parts) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = shape[dim] * times / parts;
  return type.clone(shape);
}

Attribute GlobalToLocal::groups(AxisRefs axes, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  if (!config.groupsAsAxes || !isa<FlatSymbolRefAttr>(sharding.getMeshOrRef()))
    return groupsAttr(builder, MeshPositions(mesh).groupsAlong(axes));
  return ReplicaGroupMeshAxesAttr::get(builder.getContext(), sharding.getMeshOrRef(),
                                       builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())));
}

static Value reshape(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, loc, cast<RankedTensorType>(value.getType()).clone(shape), value);
}

static Value transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return TransposeOp::create(builder, loc, type.clone(shape), value, order);
}

static SmallVector<int64_t> shapeOf(Value value) { return SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getShape()); }

Value GlobalToLocal::allGather(Location loc, Value value, int64_t dim, AxisRefs axes, sdy::TensorShardingAttr sharding,
                               sdy::MeshAttr mesh) {
  return AllGatherOp::create(builder, loc, TypeRange{scaled(value, dim, MeshPositions(mesh).partsAlong(axes), 1)}, ValueRange{value},
                             uint64_t(dim), groups(axes, sharding, mesh), channel(),
                             /*use_global_device_ids=*/!config.byReplica)
      ->getResult(0);
}

namespace {
/// The shards into which several dimensions are divided by the axes of all of them.
struct Cuts {
  SmallVector<int64_t> dims, counts;
  SmallVector<sdy::AxisRefAttr> axes;
  int64_t total = 1;

  void add(int64_t dim, int64_t count, AxisRefs list) {
    if (count == 1)
      return;
    dims.push_back(dim);
    counts.push_back(count);
    llvm::append_range(axes, list);
    total *= count;
  }
};
} // namespace

static Cuts cutsOf(ArrayRef<sdy::AxisRefListAttr> lists, const MeshPositions &positions) {
  Cuts cuts;
  for (auto [dim, list] : llvm::enumerate(lists))
    cuts.add(dim, positions.partsAlong(list.getValue()), list.getValue());
  return cuts;
}

/// Splits dimension `cuts.dims[i]` into `cuts.counts[i]` parts and puts those counts, as one dimension, in front.
static Value partsFirst(OpBuilder &builder, Location loc, Value value, const Cuts &cuts) {
  SmallVector<int64_t> shape, front, rest;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value))) {
    const auto *found = llvm::find(cuts.dims, int64_t(dim));
    if (found != cuts.dims.end()) {
      int64_t count = cuts.counts[found - cuts.dims.begin()];
      front.push_back(shape.size());
      shape.push_back(count);
      size /= count;
    }
    rest.push_back(shape.size());
    shape.push_back(size);
  }
  SmallVector<int64_t> order(front), local{cuts.total};
  llvm::append_range(order, rest);
  for (int64_t dim : rest)
    local.push_back(shape[dim]);
  return reshape(builder, loc, transpose(builder, loc, reshape(builder, loc, value, shape), order), local);
}

/// The inverse: moves the leading dimensions of shards in front of the dimensions `places[i]` and merges them.
static Value partsInPlace(OpBuilder &builder, Location loc, Value value, const Cuts &cuts, ArrayRef<int64_t> places) {
  SmallVector<int64_t> shape(cuts.counts), order, merged;
  ArrayRef<int64_t> rest = cast<RankedTensorType>(value.getType()).getShape().drop_front();
  llvm::append_range(shape, rest);
  for (auto [dim, size] : llvm::enumerate(rest)) {
    merged.push_back(size);
    for (auto [i, place] : llvm::enumerate(places))
      if (place == int64_t(dim)) {
        order.push_back(i);
        merged.back() *= cuts.counts[i];
      }
    order.push_back(cuts.counts.size() + dim);
  }
  return reshape(builder, loc, transpose(builder, loc, reshape(builder, loc, value, shape), order), merged);
}

Value GlobalToLocal::gather(Location loc, Value value, ArrayRef<sdy::AxisRefListAttr> axes, sdy::TensorShardingAttr sharding,
                            sdy::MeshAttr mesh) {
  MeshPositions positions(mesh);
  Cuts cuts = cutsOf(axes, positions);
  if (config.gatherByDim || cuts.dims.size() < 2) {
    for (int64_t dim : llvm::reverse(cuts.dims))
      value = allGather(loc, value, dim, axes[dim].getValue(), sharding, mesh);
    return value;
  }
  SmallVector<int64_t> shape = shapeOf(value);
  shape.insert(shape.begin(), 1);
  value = allGather(loc, reshape(builder, loc, value, shape), 0, cuts.axes, sharding, mesh);
  return partsInPlace(builder, loc, value, cuts, cuts.dims);
}

Value GlobalToLocal::allToAll(Location loc, Value value, sdy::AllToAllOp op, const Info &to) {
  MeshPositions positions(to.mesh);
  auto exchange = [&](Value value, AxisRefs axes, int64_t split, int64_t concat, int64_t count) {
    SmallVector<int64_t> shape = shapeOf(value);
    shape[concat] *= count;
    shape[split] /= count;
    auto type = cast<RankedTensorType>(value.getType()).clone(shape);
    return AllToAllOp::create(builder, loc, TypeRange{type}, ValueRange{value}, uint64_t(split), uint64_t(concat), uint64_t(count),
                              groups(axes, to.sharding, to.mesh), channel())
        ->getResult(0);
  };
  SmallVector<sdy::AllToAllParamAttr> params(op.getParams());
  llvm::sort(params, [](auto a, auto b) { return a.getTgtDim() < b.getTgtDim(); });
  Cuts cuts;
  SmallVector<int64_t> places, seen;
  for (sdy::AllToAllParamAttr param : params) {
    cuts.add(param.getTgtDim(), positions.partsAlong(param.getAxes()), param.getAxes());
    if (!cuts.dims.empty() && cuts.dims.back() == param.getTgtDim())
      places.push_back(param.getSrcDim());
    seen.append({param.getSrcDim(), param.getTgtDim()});
  }
  llvm::sort(seen);
  bool apart = std::adjacent_find(seen.begin(), seen.end()) == seen.end();
  if (cuts.dims.size() < 2 || !apart) {
    for (sdy::AllToAllParamAttr param : op.getParams())
      value = exchange(value, param.getAxes(), param.getTgtDim(), param.getSrcDim(), positions.partsAlong(param.getAxes()));
    return value;
  }
  value = exchange(partsFirst(builder, loc, value, cuts), cuts.axes, 0, 0, cuts.total);
  return partsInPlace(builder, loc, value, cuts, places);
}

Value GlobalToLocal::reduceScatter(Location loc, Value value, sdy::ReduceScatterOp op, const Info &to) {
  Cuts cuts = cutsOf(op.getReduceScatterAxes(), MeshPositions(to.mesh));
  auto scatter = [&](Value value, int64_t dim) {
    auto sum = ReduceScatterOp::create(builder, loc, scaled(value, dim, 1, cuts.total), value, uint64_t(dim),
                                       groups(cuts.axes, to.sharding, to.mesh), channel(), /*use_global_device_ids=*/!config.byReplica);
    fillReducer(sum->getRegion(0), to.type.getElementType(), op.getKind(), loc);
    return sum->getResult(0);
  };
  if (cuts.dims.empty())
    return value;
  if (cuts.dims.size() == 1)
    return scatter(value, cuts.dims[0]);
  if (config.scatterTogether)
    return reshape(builder, loc, scatter(partsFirst(builder, loc, value, cuts), 0), to.local().getShape());
  auto sum = AllReduceOp::create(builder, loc, TypeRange{value.getType()}, ValueRange{value}, groups(cuts.axes, to.sharding, to.mesh),
                                 channel(), /*use_global_device_ids=*/!config.byReplica);
  fillReducer(sum->getRegion(0), to.type.getElementType(), op.getKind(), loc);
  return slice(loc, sum->getResult(0), op.getReduceScatterAxes(), to);
}

Value GlobalToLocal::slice(Location loc, Value value, ArrayRef<sdy::AxisRefListAttr> axes, const Info &to) {
  MeshPositions positions(to.mesh);
  SmallVector<Value> starts;
  for (auto [dim, list] : llvm::enumerate(axes)) {
    SmallVector<int64_t> offsets = positions.partOfDevice(list.getValue());
    for (int64_t &offset : offsets)
      offset *= to.localSize(dim);
    starts.push_back(own(loc, offsets));
  }
  return DynamicSliceOp::create(builder, loc, to.local(), value, starts, to.local().getShape());
}

LogicalResult GlobalToLocal::convertCollective(Operation *op) {
  const Info &from = opInfos[op].operands[0], &to = opInfos[op].results[0];
  Location loc = op->getLoc();
  Value value = op->getOperand(0);
  auto type = cast<RankedTensorType>(value.getType());
  sdy::MeshAttr mesh = to.mesh;
  MeshPositions positions(mesh);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](sdy::AllGatherOp each) {
        value = gather(loc, value, each.getGatheringAxes(), to.sharding, mesh);
      })
      .Case([&](sdy::AllSliceOp each) { value = slice(loc, value, each.getSlicingAxes(), to); })
      .Case([&](sdy::AllToAllOp each) { value = allToAll(loc, value, each, to); })
      .Case([&](sdy::CollectivePermuteOp) {
        // A device that holds a shard sends it to one that needs it; among several holders of the same shard, each sends to one device.
        auto ordered = [&](const Info &info) {
          MeshPositions where(info.mesh);
          SmallVector<sdy::AxisRefAttr> all;
          for (int64_t dim = 0; dim < info.type.getRank(); ++dim)
            llvm::append_range(all, info.axes(dim));
          SmallVector<int64_t> part = where.partOfDevice(all), rest = where.restOfDevice(all), devices;
          for (int64_t device = 0; device < where.deviceCount(); ++device)
            devices.push_back(device);
          llvm::sort(devices, [&](int64_t a, int64_t b) { return std::pair(part[a], rest[a]) < std::pair(part[b], rest[b]); });
          return devices;
        };
        ReplicaGroups pairs;
        for (auto [source, target] : llvm::zip_equal(ordered(from), ordered(to)))
          pairs.push_back({source, target});
        llvm::sort(pairs);
        value = CollectivePermuteOp::create(builder, loc, type, value, groupsAttr(builder, pairs), channel());
      })
      .Case([&](sdy::AllReduceOp each) {
        auto sum = AllReduceOp::create(builder, loc, TypeRange{type}, ValueRange{value},
                                       groups(each.getReductionAxes(), to.sharding, mesh), channel(),
                                       /*use_global_device_ids=*/!config.byReplica);
        fillReducer(sum->getRegion(0), type.getElementType(), each.getKind(), loc);
        value = sum->getResult(0);
      })
      .Case([&](sdy::ReduceScatterOp each) { value = reduceScatter(loc, value, each, to); })
      .Case([&](sdy::ReplicatedToUnreducedOp each) {
        // The maximum or minimum of equal values is that value; of a sum, one device keeps the value.
        if (to.sharding.getReductionOp() != sdy::ReductionOp::Sum)
          return;
        Value zero = ConstantOp::create(builder, loc, type, zerosOf(type));
        value = SelectOp::create(builder, loc, type, isFirst(loc, each.getAxes(), mesh, value), value, zero);
      })
      .Case([&](sdy::ShardedToUnreducedOp each) {
        RankedTensorType whole = to.local();
        Value empty = ConstantOp::create(builder, loc, whole, zerosOf(whole));
        SmallVector<Value> starts;
        for (auto [dim, list] : llvm::enumerate(each.getAxes())) {
          SmallVector<int64_t> offsets = positions.partOfDevice(list.getValue());
          for (int64_t &offset : offsets)
            offset *= from.localSize(dim);
          starts.push_back(own(loc, offsets));
        }
        value = DynamicUpdateSliceOp::create(builder, loc, whole, empty, value, starts);
      });
  if (auto each = dyn_cast<sdy::ShardedToUnreducedOp>(op); each && to.sharding.getReductionOp() != sdy::ReductionOp::Sum)
    return each.emitOpError("UNIMPLEMENTED: parts of a maximum or minimum");
  replace(op, value);
  return success();
}

} // namespace millrace::spmd
