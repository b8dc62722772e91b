// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ManualReductions.cpp - Pending sums for partitioners that know none -===//
// Input:   %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{"y"}, {}]>          // %0: [{"y"}, {}], unreduced={"x"}
// Output:  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"y"}, {}], unreduced={"x"}>] out_shardings=[...]
//            manual_axes={"x", "y"} (%a) { "stablehlo.all_reduce"(%a) ... sdy.return }
// Leaves alone an all_reduce whose operand says nothing of sums: its partitioner makes that itself.
#include "passes/sharding/mesh/MeshPositions.h"
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/exchange/RoundTrip.h"
#include "passes/sharding/ShardingWalk.h"

#include "mlir/IR/Iterators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
#define GEN_PASS_DEF_EXPORTMANUALREDUCTIONCOLLECTIVESPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

sdy::TensorShardingAttr withUnreduced(sdy::TensorShardingAttr sharding, ArrayRef<sdy::AxisRefAttr> axes) {
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), sharding.getDimShardings(),
                                      sharding.getReplicatedAxes(), axes, sharding.getReductionOp());
}

bool isPending(sdy::TensorShardingAttr sharding) { return sharding && !sharding.getUnreducedAxes().empty(); }

/// The same axes in mesh order, parts that meet joined.
SmallVector<sdy::AxisRefAttr> inMeshOrder(ArrayRef<sdy::AxisRefAttr> list, sdy::MeshAttr mesh) {
  Axes axes = fromAttr(list, mesh), joined;
  llvm::sort(axes);
  for (const Axis &axis : axes)
    append(joined, axis);
  return toAttr(joined, mesh);
}

/// The type of a device's part; null where parts do not divide a dimension.
RankedTensorType localType(RankedTensorType type, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip(shape, sharding.getDimShardings())) {
    int64_t parts = dim.getShardedSize(mesh);
    if (size % parts != 0)
      return {};
    size /= parts;
  }
  return type.clone(shape);
}

void addReducer(Region &region, Type element, sdy::ReductionOp kind, Location loc) {
  OpBuilder builder(region.getContext());
  auto type = RankedTensorType::get({}, element);
  Block *block = builder.createBlock(&region, {}, {type, type}, {loc, loc});
  Value a = block->getArgument(0), b = block->getArgument(1);
  Value combined = kind == sdy::ReductionOp::Sum   ? Value(AddOp::create(builder, loc, type, a, b))
                   : kind == sdy::ReductionOp::Max ? Value(MaxOp::create(builder, loc, type, a, b))
                                                   : Value(MinOp::create(builder, loc, type, a, b));
  ReturnOp::create(builder, loc, combined);
}

/// A scalar of every device: where it is along each axis of the mesh.
class Coordinates {
public:
  Coordinates(OpBuilder &builder, Location loc, sdy::MeshAttr mesh) : builder(builder), loc(loc) {
    auto type = RankedTensorType::get({}, builder.getI32Type());
    Value rest = ConvertOp::create(builder, loc, type, PartitionIdOp::create(builder, loc));
    for (sdy::MeshAxisAttr axis : llvm::reverse(mesh.getAxes())) {
      Value size = constant(axis.getSize());
      of[axis.getName()] = RemOp::create(builder, loc, rest, size);
      rest = DivOp::create(builder, loc, rest, size);
    }
  }
  Value constant(int64_t value) {
    auto type = RankedTensorType::get({}, builder.getI32Type());
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, APInt(32, value)));
  }
  Value along(sdy::AxisRefAttr axis) { return of.lookup(axis.getName()); }

private:
  OpBuilder &builder;
  Location loc;
  llvm::StringMap<Value> of;
};

struct ExportManualReductions : impl::ExportManualReductionCollectivesPassBase<ExportManualReductions> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](sdy::ConstantOp constant) { makeConstantPending(constant); });
    // Operations that only move elements forward pending sums, users first.
    module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<TransposeOp, ReshapeOp>(op))
        passOnBackwards(op);
    });
    module.walk([&](Operation *op) {
      if (auto channel = op->getAttrOfType<ChannelHandleAttr>("channel_handle"))
        channels = std::max(channels, channel.getHandle());
    });
    bool worked = !module
                       .walk([&](Operation *op) {
                         bool done = llvm::TypeSwitch<Operation *, bool>(op)
                                         .Case<sdy::AllReduceOp, sdy::ReduceScatterOp, sdy::ShardedToUnreducedOp, sdy::ReplicatedToUnreducedOp>(
                                             [&](auto each) { return succeeded(convert(each)); })
                                         .Default([](Operation *) { return true; });
                         return done ? WalkResult::advance() : WalkResult::interrupt();
                       })
                       .wasInterrupted();
    if (!worked)
      signalPassFailure();
  }

  static void makeConstantPending(sdy::ConstantOp constant) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(constant.getResult());
    if (!isPending(sharding))
      return;
    setSharding(constant.getResult(), withUnreduced(sharding, {}));
    OpBuilder builder(constant);
    builder.setInsertionPointAfter(constant);
    auto pending = sdy::ReplicatedToUnreducedOp::create(builder, constant.getLoc(), constant.getType(), constant.getResult(),
                                                        sdy::AxisRefListAttr::get(builder.getContext(), sharding.getUnreducedAxes()), sharding);
    constant.getResult().replaceAllUsesExcept(pending.getResult(), pending);
  }

  static void passOnBackwards(Operation *op) {
    Value input = op->getOperand(0);
    sdy::TensorShardingAttr out = sdy::getSharding(op->getResult(0));
    if (!input.getDefiningOp() || !isPending(out))
      return;
    sdy::TensorShardingAttr in = sdy::getSharding(input);
    sdy::MeshAttr mesh = out.getMesh(op);
    if (!in) {
      auto closed = sdy::DimensionShardingAttr::get(op->getContext(), {}, /*is_closed=*/true, std::nullopt);
      SmallVector<sdy::DimensionShardingAttr> dims(cast<ShapedType>(input.getType()).getRank(), closed);
      in = sdy::TensorShardingAttr::get(op->getContext(), out.getMeshOrRef(), dims);
    }
    if (!mesh || in.getMesh(op) != mesh || in.getUnreducedAxes() == out.getUnreducedAxes())
      return;
    bool overlaps = false;
    auto check = [&](ArrayRef<sdy::AxisRefAttr> axes) {
      for (const Axis &axis : fromAttr(axes, mesh))
        for (const Axis &pending : fromAttr(out.getUnreducedAxes(), mesh))
          overlaps |= axis.overlaps(pending);
    };
    for (sdy::DimensionShardingAttr dim : in.getDimShardings())
      check(dim.getAxes());
    check(in.getReplicatedAxes());
    if (overlaps) {
      op->emitWarning("its result is to be summed along axes that split its operand");
      return;
    }
    setSharding(input, withUnreduced(in, out.getUnreducedAxes()));
  }

  /// The operation as a region in which all axes are manual; `fill` makes the local result of the local operand.
  template <typename Op> LogicalResult replace(Op op, sdy::TensorShardingAttr in, function_ref<Value(OpBuilder &, Value)> fill) {
    sdy::TensorShardingAttr out = op.getOutSharding();
    sdy::MeshAttr mesh = out.getMesh(op);
    auto type = dyn_cast<RankedTensorType>(op.getType());
    RankedTensorType local = type && mesh ? localType(type, in, mesh) : RankedTensorType();
    if (!local || !localType(type, out, mesh))
      return op.emitOpError("expects parts that divide dimensions where something is to be summed, but got ") << in << " and " << out << " for " << op.getType();
    OpBuilder builder(op);
    MLIRContext *context = op.getContext();
    SmallVector<StringAttr> axes;
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      axes.push_back(StringAttr::get(context, axis.getName()));
    auto manual = sdy::ManualComputationOp::create(builder, op.getLoc(), TypeRange{op.getType()}, ValueRange{op.getTensor()},
                                                   sdy::TensorShardingPerValueAttr::get(context, in),
                                                   sdy::TensorShardingPerValueAttr::get(context, out), sdy::ManualAxesAttr::get(context, axes));
    Block *body = builder.createBlock(&manual.getBody(), {}, {local}, {op.getTensor().getLoc()});
    Value made = fill(builder, body->getArgument(0));
    sdy::ReturnOp::create(builder, op.getLoc(), made);
    op.replaceAllUsesWith(manual.getResult(0));
    op.erase();
    return success();
  }

  sdy::TensorShardingAttr operandSharding(Value value, sdy::TensorShardingAttr out) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(value);
    return sharding ? sharding : fullyOpen(out.getMeshOrRef(), out.getRank());
  }

  ChannelHandleAttr nextChannel() { return ChannelHandleAttr::get(&getContext(), ++channels, /*type=*/1); }

  static DenseIntElementsAttr groupsAlong(AxisRefs axes, sdy::MeshAttr mesh, OpBuilder &builder) {
    auto groups = MeshPositions(mesh).groupsAlong(axes);
    SmallVector<int64_t> flat;
    for (const auto &group : groups)
      llvm::append_range(flat, group);
    int64_t rows = groups.size(), columns = groups.front().size();
    return DenseIntElementsAttr::get(RankedTensorType::get({rows, columns}, builder.getI64Type()), flat);
  }

  LogicalResult convert(sdy::AllReduceOp op) {
    sdy::TensorShardingAttr in = sdy::getSharding(op.getTensor());
    if (!isPending(in))
      return success();
    sdy::MeshAttr mesh = op.getOutSharding().getMesh(op);
    return replace(op, in, [&](OpBuilder &builder, Value value) -> Value {
      auto made = AllReduceOp::create(builder, op.getLoc(), TypeRange{value.getType()}, ValueRange{value},
                                      groupsAlong(op.getReductionAxes(), mesh, builder), nextChannel(), /*use_global_device_ids=*/true);
      addReducer(made.getComputation(), cast<ShapedType>(value.getType()).getElementType(), op.getKind(), op.getLoc());
      return made->getResult(0);
    });
  }

  LogicalResult convert(sdy::ReduceScatterOp op) {
    sdy::TensorShardingAttr in = operandSharding(op.getTensor(), op.getOutSharding());
    sdy::MeshAttr mesh = op.getOutSharding().getMesh(op);
    if (!isPending(in)) {
      if (!allReduceScatter || !mesh)
        return success();
      SmallVector<sdy::AxisRefAttr> axes;
      for (sdy::AxisRefListAttr list : op.getReduceScatterAxes())
        llvm::append_range(axes, list.getValue());
      in = withUnreduced(in, inMeshOrder(axes, mesh));
    }
    return replace(op, in, [&](OpBuilder &builder, Value value) {
      for (auto [dim, list] : llvm::enumerate(op.getReduceScatterAxes())) {
        if (list.getValue().empty())
          continue;
        auto type = cast<RankedTensorType>(value.getType());
        SmallVector<int64_t> shape(type.getShape());
        shape[dim] /= MeshPositions(mesh).partsAlong(list.getValue());
        auto made = ReduceScatterOp::create(builder, op.getLoc(), type.clone(shape), value, dim,
                                            groupsAlong(list.getValue(), mesh, builder), nextChannel(), /*use_global_device_ids=*/true);
        addReducer(made.getComputation(), type.getElementType(), op.getKind(), op.getLoc());
        value = made.getResult();
      }
      return value;
    });
  }

  /// Device numbers are positions in these axes only.
  LogicalResult checkWholeAxesInOrder(Operation *op, AxisRefs axes, sdy::MeshAttr mesh) {
    if (mesh && mesh.getDeviceIds().empty() && llvm::none_of(axes, [](sdy::AxisRefAttr axis) { return bool(axis.getSubAxisInfo()); }))
      return success();
    return op->emitOpError("expects whole axes of a mesh without a list of devices");
  }

  /// Devices that have nothing to add hold this.
  static Value startOf(OpBuilder &builder, Location loc, RankedTensorType type) {
    Value zero = ConstantOp::create(builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                                                                                         builder.getZeroAttr(type.getElementType()))));
    return BroadcastOp::create(builder, loc, type, zero, type.getShape());
  }

  LogicalResult convert(sdy::ShardedToUnreducedOp op) {
    sdy::TensorShardingAttr out = op.getOutSharding();
    sdy::MeshAttr mesh = out.getMesh(op);
    SmallVector<sdy::AxisRefAttr> all;
    for (sdy::AxisRefListAttr list : op.getAxes())
      llvm::append_range(all, list.getValue());
    if (out.getReductionOp() != sdy::ReductionOp::Sum)
      return op.emitOpError("expects a sum: zeros stand for what other devices hold");
    if (failed(checkWholeAxesInOrder(op, all, mesh)))
      return failure();
    return replace(op, operandSharding(op.getTensor(), out), [&](OpBuilder &builder, Value value) -> Value {
      Location loc = op.getLoc();
      RankedTensorType type = localType(cast<RankedTensorType>(op.getType()), out, mesh);
      Value start = startOf(builder, loc, type);
      Coordinates coordinates(builder, loc, mesh);
      Value zero = coordinates.constant(0);
      SmallVector<Value> offsets;
      for (auto [dim, list] : llvm::enumerate(op.getAxes())) {
        Value offset;
        for (sdy::AxisRefAttr axis : list.getValue()) {
          Value at = coordinates.along(axis);
          offset = offset ? Value(AddOp::create(builder, loc, MulOp::create(builder, loc, offset, coordinates.constant(axis.getSize(mesh))), at)) : at;
        }
        int64_t length = cast<RankedTensorType>(value.getType()).getDimSize(dim);
        offsets.push_back(offset ? Value(MulOp::create(builder, loc, offset, coordinates.constant(length))) : zero);
      }
      return DynamicUpdateSliceOp::create(builder, loc, type, start, value, offsets);
    });
  }

  LogicalResult convert(sdy::ReplicatedToUnreducedOp op) {
    sdy::TensorShardingAttr out = op.getOutSharding();
    sdy::MeshAttr mesh = out.getMesh(op);
    if (out.getReductionOp() != sdy::ReductionOp::Sum)
      return op.emitOpError("expects a sum: zeros stand for what other devices hold");
    if (failed(checkWholeAxesInOrder(op, op.getAxes(), mesh)))
      return failure();
    return replace(op, operandSharding(op.getTensor(), out), [&](OpBuilder &builder, Value value) -> Value {
      Location loc = op.getLoc();
      auto type = cast<RankedTensorType>(value.getType());
      Coordinates coordinates(builder, loc, mesh);
      Value zero = coordinates.constant(0), isFirst;
      for (sdy::AxisRefAttr axis : op.getAxes()) {
        Value here = CompareOp::create(builder, loc, coordinates.along(axis), zero, ComparisonDirection::EQ);
        isFirst = isFirst ? Value(AndOp::create(builder, loc, isFirst, here)) : here;
      }
      return SelectOp::create(builder, loc, type, isFirst, value, startOf(builder, loc, type));
    });
  }

  int64_t channels = 0;
};

} // namespace
} // namespace millrace::sharding
