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

/// Without a channel the devices of a collective are replicas.
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

Value GlobalToLocal::allGather(Location loc, Value value, int64_t dim, AxisRefs axes, sdy::MeshAttr mesh) {
  MeshPositions positions(mesh);
  return AllGatherOp::create(builder, loc, TypeRange{scaled(value, dim, positions.partsAlong(axes), 1)}, ValueRange{value},
                             uint64_t(dim), groupsAttr(builder, positions.groupsAlong(axes)), channel(),
                             /*use_global_device_ids=*/!config.byReplica)
      ->getResult(0);
}

LogicalResult GlobalToLocal::convertCollective(Operation *op) {
  const Info &from = opInfos[op].operands[0], &to = opInfos[op].results[0];
  Location loc = op->getLoc();
  Value value = op->getOperand(0);
  auto type = cast<RankedTensorType>(value.getType());
  sdy::MeshAttr mesh = to.mesh;
  MeshPositions positions(mesh);
  auto perDim = [&](ArrayRef<sdy::AxisRefListAttr> lists, auto &&each) {
    for (auto [dim, list] : llvm::enumerate(lists))
      if (positions.partsAlong(list.getValue()) > 1)
        value = each(int64_t(dim), list.getValue());
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](sdy::AllGatherOp each) {
        perDim(each.getGatheringAxes(), [&](int64_t dim, AxisRefs axes) { return allGather(loc, value, dim, axes, mesh); });
      })
      .Case([&](sdy::AllSliceOp each) {
        SmallVector<Value> starts;
        for (auto [dim, list] : llvm::enumerate(each.getSlicingAxes())) {
          SmallVector<int64_t> offsets = positions.partOfDevice(list.getValue());
          for (int64_t &offset : offsets)
            offset *= to.localSize(dim);
          starts.push_back(own(loc, offsets));
        }
        value = DynamicSliceOp::create(builder, loc, to.local(), value, starts, to.local().getShape());
      })
      .Case([&](sdy::AllToAllOp each) {
        for (sdy::AllToAllParamAttr param : each.getParams()) {
          int64_t count = positions.partsAlong(param.getAxes());
          RankedTensorType moved = scaled(value, param.getSrcDim(), count, 1);
          SmallVector<int64_t> shape(moved.getShape());
          shape[param.getTgtDim()] /= count;
          value = AllToAllOp::create(builder, loc, TypeRange{type.clone(shape)}, ValueRange{value}, uint64_t(param.getTgtDim()),
                                     uint64_t(param.getSrcDim()), uint64_t(count),
                                     groupsAttr(builder, positions.groupsAlong(param.getAxes())), channel())
                      ->getResult(0);
        }
      })
      .Case([&](sdy::CollectivePermuteOp) {
        // Whoever holds a part sends it to whoever shall; of several that hold the same one, each serves one.
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
                                       groupsAttr(builder, positions.groupsAlong(each.getReductionAxes())), channel(),
                                       /*use_global_device_ids=*/!config.byReplica);
        fillReducer(sum->getRegion(0), type.getElementType(), each.getKind(), loc);
        value = sum->getResult(0);
      })
      .Case([&](sdy::ReduceScatterOp each) {
        perDim(each.getReduceScatterAxes(), [&](int64_t dim, AxisRefs axes) {
          auto sum = ReduceScatterOp::create(builder, loc, scaled(value, dim, 1, positions.partsAlong(axes)), value, uint64_t(dim),
                                             groupsAttr(builder, positions.groupsAlong(axes)), channel(),
                                             /*use_global_device_ids=*/!config.byReplica);
          fillReducer(sum->getRegion(0), type.getElementType(), each.getKind(), loc);
          return sum->getResult(0);
        });
      })
      .Case([&](sdy::ReplicatedToUnreducedOp each) {
        // The greatest and the least of equals is what they are; of a sum one device has all.
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
