// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalToLocal.cpp - sdy-convert-global-to-local --------------------===//
// Input:   func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { stablehlo.abs %a ... tensor<8xf32>
// Output:  func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { stablehlo.abs %a ... tensor<4xf32>
// Leaves alone functions in which nothing is split.
#include "passes/spmd/GlobalToLocal.h"
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/spmd/FunctionValues.h"
#include "passes/spmd/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_CONVERTGLOBALTOLOCALPASS
#include "passes/spmd/Passes.h.inc"

GlobalToLocal::GlobalToLocal(ModuleOp module, GlobalToLocalConfig config)
    : module(module), config(config), builder(module.getContext()) {
  module.walk([&](Operation *op) {
    if (auto handle = op->getAttrOfType<ChannelHandleAttr>("channel_handle"))
      channels = std::max<int64_t>(channels, handle.getHandle());
  });
}

RankedTensorType GlobalToLocal::Info::local() const {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    shape.push_back(type.isDynamicDim(dim) ? type.getDimSize(dim) : localSize(dim));
  return type.clone(shape);
}

bool GlobalToLocal::Info::isSplit() const {
  for (int64_t dim = 0; mesh && dim < type.getRank(); ++dim)
    if (parts(dim) > 1)
      return true;
  return false;
}

FailureOr<GlobalToLocal::Info> GlobalToLocal::infoOf(Value value) {
  if (auto known = infos.find(value); known != infos.end())
    return known->second;
  Info info{dyn_cast<RankedTensorType>(value.getType()), {}, {}};
  sdy::TensorShardingAttr sharding = info.type ? shardingInRegion(value) : sdy::TensorShardingAttr();
  Operation *user = isa<OpResult>(value) ? value.getDefiningOp() : cast<BlockArgument>(value).getOwner()->getParentOp();
  if (sharding && sharding.getRank() == info.type.getRank()) {
    info.sharding = sharding;
    info.mesh = sharding.getMesh(user);
    if (!info.mesh)
      return user->emitOpError("has a sharding of an unknown mesh: ") << sharding;
    for (int64_t dim = 0; dim < info.type.getRank(); ++dim) {
      int64_t size = info.type.getDimSize(dim), parts = info.parts(dim);
      if (parts > 1 && (ShapedType::isDynamic(size) || size % parts))
        return user->emitOpError("dimension ") << dim << " of " << info.type << " is cut into " << parts
                                               << " parts, which do not divide it; sdy-pad-for-divisibility comes first";
    }
  }
  infos[value] = info;
  return info;
}

LogicalResult GlobalToLocal::run(func::FuncOp function) {
  infos.clear();
  opInfos.clear();
  FunctionValues all(function);
  for (Value value : all.values)
    if (failed(infoOf(value)))
      return failure();
  for (Operation *op : all.ops) {
    OpInfo &here = opInfos[op];
    for (Value operand : op->getOperands())
      here.operands.push_back(infos[operand]);
    for (Value result : op->getResults())
      here.results.push_back(infos[result]);
  }
  // Shapes change first, so that handlers build operations on local values.
  for (Value value : all.values)
    if (const Info &info = infos[value]; info.isSplit())
      value.setType(info.local());
  SmallVector<Type> results = retypeSignature(function, [&](Type type, sdy::TensorShardingAttr sharding) {
    Info info{dyn_cast<RankedTensorType>(type), sharding, {}};
    if (info.type && info.sharding && info.sharding.getRank() == info.type.getRank())
      info.mesh = info.sharding.getMesh(function);
    return info.type && info.mesh ? Type(info.local()) : type;
  });
  for (Operation *op : all.ops)
    if (failed(convert(op)))
      return failure();
  return checkReturned(function, results, "on a device");
}

void GlobalToLocal::replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

LogicalResult GlobalToLocal::refuse(Operation *op, int64_t dim, StringRef why) {
  return op->emitOpError("cannot run on parts of dimension ") << dim << ": " << why;
}

void GlobalToLocal::inlineBody(Operation *op) {
  Block &body = op->getRegion(0).front();
  Operation *terminator = body.getTerminator();
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), op->getOperands()))
    argument.replaceAllUsesWith(operand);
  op->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->erase();
}

LogicalResult GlobalToLocal::convert(Operation *op) {
  builder.setInsertionPoint(op);
  const OpInfo &info = opInfos[op];
  using Result = LogicalResult;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<sdy::ManualComputationOp, sdy::NamedComputationOp>([&](auto each) { return inlineBody(each), success(); })
      .Case<sdy::ShardingConstraintOp, sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp, sdy::PropagationBarrierOp, sdy::ReshardOp>(
          [&](auto each) -> Result {
            if (each->getOperand(0).getType() != each->getResult(0).getType())
              return each->emitOpError("changes the sharding; sdy-reshard-to-collectives comes first");
            replace(each, each->getOperand(0));
            return success();
          })
      .Case([&](sdy::ShardingGroupOp each) { return each->erase(), success(); })
      .Case([&](sdy::ConstantOp each) { return convertConstant(each, each.getValue()); })
      .Case([&](ConstantOp each) { return convertConstant(each, each.getValue()); })
      .Case([&](IotaOp each) { return convertIota(each); })
      .Case([&](SliceOp each) { return convertSlice(each); })
      .Case([&](PadOp each) { return convertPad(each); })
      .Case([&](ConvolutionOp each) { return convertConvolution(each); })
      .Case([&](ReduceOp each) { return convertReduce(each); })
      .Case<RngOp, RngBitGeneratorOp>([&](auto each) { return convertRandom(each); })
      .Case([&](ReduceWindowOp each) {
        return checkWindows(each, each.getWindowDimensions(), each.getWindowStrides(), each.getPaddingAttr(), info.operands[0]);
      })
      .Case([&](SelectAndScatterOp each) {
        return checkWindows(each, each.getWindowDimensions().value_or(ArrayRef<int64_t>()), each.getWindowStrides(),
                            each.getPaddingAttr(), info.operands[0]);
      })
      .Case([&](ReverseOp each) {
        return expectWhole(each, each.getDimensions(), info.results[0], "elements change places");
      })
      .Case([&](ConcatenateOp each) {
        return expectWhole(each, {int64_t(each.getDimension())}, info.results[0], "operands are joined along it");
      })
      .Case([&](SortOp each) {
        int64_t dim = each.getDimension() < 0 ? each.getDimension() + info.results[0].type.getRank() : each.getDimension();
        return expectWhole(each, {dim}, info.results[0], "it is sorted");
      })
      .Case([&](FftOp each) {
        SmallVector<int64_t> dims;
        for (int64_t i = 1; i <= int64_t(each.getFftLength().size()); ++i)
          dims.push_back(info.operands[0].type.getRank() - i);
        return expectWhole(each, dims, info.operands[0], "it is transformed");
      })
      .Case([&](DynamicSliceOp each) { return convertDynamicSlice(each); })
      .Case([&](DynamicUpdateSliceOp each) { return convertUpdate(each); })
      .Case([&](GatherOp each) { return convertGather(each); })
      .Case([&](ScatterOp each) { return convertScatter(each); })
      .Case<sdy::AllGatherOp, sdy::AllSliceOp, sdy::AllToAllOp, sdy::CollectivePermuteOp, sdy::AllReduceOp, sdy::ReduceScatterOp,
            sdy::ReplicatedToUnreducedOp, sdy::ShardedToUnreducedOp>([&](auto each) { return convertCollective(each); })
      .Default([](Operation *) { return success(); });
}

namespace {
struct ConvertGlobalToLocal : impl::ConvertGlobalToLocalPassBase<ConvertGlobalToLocal> {
  using Base::Base;
  void runOnOperation() override {
    // Results that one device computes are broadcast to all.
    OpPassManager singles(ModuleOp::getOperationName());
    ResolveSingleDeviceShardingPassOptions counts;
    counts.replicaCount = replicaCount;
    counts.partitionCount = partitionCount;
    singles.addNestedPass<func::FuncOp>(createResolveSingleDeviceShardingPass(counts));
    if (failed(runPipeline(singles, getOperation())))
      return signalPassFailure();
    GlobalToLocalConfig config{.byReplica = replicaCount > 1 && partitionCount <= 1,
                               .gatherByDim = perDimAllGather || perDimAllGatherOld,
                               .scatterTogether = combineReduceScatter || combineReduceScatterOld,
                               .groupsAsAxes = meshAxesGroups};
    GlobalToLocal converter(getOperation(), config);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(converter.run(function)))
        return signalPassFailure();
  }
};
} // namespace

} // namespace millrace::spmd
