// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResolvePermutationFactors.cpp - Neighbours exchange what moves, or it is kept whole ------===//
// Input:   %1 = stablehlo.slice %0 [1:4] {[{"x"}]}                                 // %0 is [{"x"}] : tensor<4xf32>
// Output:  %a = sdy.manual_computation(%0) in_shardings=[[{"x"}]] out_shardings=[[{"x"}]] manual_axes={"x"} (...) {
//            stablehlo.collective_permute ...                                      // tensor<2xf32>, and so is what is returned
//          } : (tensor<4xf32>) -> tensor<4xf32>
//          %1 = stablehlo.slice %a [0:3] {[{"x"}]}
// or, with enable-halo-exchange=false
//          %a = sdy.reshard %0 <@mesh, [{}]> ; %b = stablehlo.slice %a [1:4] {[{}]} ; %1 = sdy.reshard %b <@mesh, [{"x"}]>
// Leaves alone operations without such factors, or whose dimensions with them are whole.
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/propagation/Projection.h"
#include "passes/sharding/rules/StrictRules.h"
#include "passes/spmd/GlobalToLocal.h"
#include "passes/spmd/Partitioner.h"
#include "passes/spmd/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace millrace::spmd {
#define GEN_PASS_DEF_RESOLVEPERMUTATIONFACTORSPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// Returns the sharding without the axes of permutation factors and of factors that must be replicated; null if there are none.
sdy::TensorShardingAttr inPlace(sdy::TensorShardingAttr sharding, const sharding::TensorFactors &dims, const sharding::Rule &rule,
                                Operation *user) {
  sdy::MeshAttr mesh = sharding ? sharding.getMesh(user) : sdy::MeshAttr();
  if (!mesh || mesh.isMaximal() || sharding.getRank() != int64_t(dims.size()))
    return {};
  sharding::TensorSharding before = sharding::fromAttr(sharding, mesh);
  sharding::ProjectedTensor tensor = sharding::project(&before, dims, rule.factors);
  bool changes = false;
  for (sharding::FactorAxes &each : tensor.factors) {
    const sharding::Factor &factor = rule.factors[each.factor];
    bool stays = factor.kind != sharding::FactorKind::Permutation && factor.kind != sharding::FactorKind::NeedReplication;
    if (stays || (each.axes.empty() && each.overflow.empty()))
      continue;
    each.axes.clear();
    each.overflow.clear();
    changes = true;
  }
  if (!changes)
    return {};
  return sharding::toAttr(sharding::unproject(tensor, dims, rule.factors), sharding.getMeshOrRef(), mesh, sharding.getReductionOp());
}

/// Returns the type padded to a multiple of its number of shards.
RankedTensorType filledUp(RankedTensorType type, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.getDimShardings()))
    size = llvm::alignTo(size, dim.getShardedSize(mesh));
  return type.clone(shape);
}

class Resolver {
public:
  Resolver(ModuleOp module, bool exchanges, bool byReplica)
      : module(module), builder(module.getContext()), exchanges(exchanges), byReplica(byReplica) {
    module.walk([&](Operation *op) {
      if (auto handle = op->getAttrOfType<stablehlo::ChannelHandleAttr>(kChannel))
        channels = std::max<int64_t>(channels, handle.getHandle());
    });
  }

  void resolve(Operation *op) {
    auto rule = sharding::strictRuleOf(op);
    if (!rule || isa<sdy::ReshardOp>(op))
      return;
    if (!exchanges || !isExchanged(op, *rule) || failed(exchange(op, *rule)))
      gather(op, *rule);
  }

private:
  static constexpr llvm::StringLiteral kChannel = "channel_handle";

  /// Returns the sharding of a value with all dimensions closed; replicated if there is none.
  sdy::TensorShardingAttr closed(sdy::TensorShardingAttr sharding, int64_t rank, Attribute mesh) {
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      dims.push_back(sdy::DimensionShardingAttr::get(module.getContext(),
                                                     sharding ? sharding.getDimShardings()[dim].getAxes() : ArrayRef<sdy::AxisRefAttr>(),
                                                     true, std::nullopt));
    return sdy::TensorShardingAttr::get(module.getContext(), mesh, dims);
  }

  static bool isExchanged(Operation *op, const sharding::Rule &rule) {
    if (!isa<stablehlo::SliceOp, stablehlo::PadOp, stablehlo::ReverseOp, stablehlo::ConcatenateOp, stablehlo::ReduceWindowOp,
             stablehlo::ConvolutionOp, stablehlo::SelectAndScatterOp>(op) ||
        op->getParentOfType<sdy::ManualComputationOp>())
      return false;
    auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
    bool moves = false;
    for (auto [operand, dims] : llvm::zip_equal(op->getOperands(), rule.operands))
      moves |= bool(inPlace(shardingInRegion(operand), dims, rule, op));
    for (auto [i, dims] : llvm::enumerate(rule.results))
      moves |= list && inPlace(list.getShardings()[i], dims, rule, op);
    return moves;
  }

  LogicalResult exchange(Operation *op, const sharding::Rule &rule);
  void gather(Operation *op, const sharding::Rule &rule);

  ModuleOp module;
  OpBuilder builder;
  bool exchanges, byReplica;
  int64_t channels = 0;
};

/// Returns the axes along which devices hold summands of the results.
sharding::Axes summedAxes(Operation *op, const sharding::Rule &rule, ArrayRef<sdy::TensorShardingAttr> operands, sdy::MeshAttr mesh) {
  sharding::Axes axes;
  for (auto [attr, dims] : llvm::zip_equal(operands, rule.operands)) {
    sharding::TensorSharding sharding = sharding::fromAttr(attr, mesh);
    for (const sharding::FactorAxes &each : sharding::project(&sharding, dims, rule.factors).factors)
      if (rule.factors[each.factor].kind == sharding::FactorKind::Reduction)
        for (const sharding::Axis &axis : each.axes)
          if (!llvm::is_contained(axes, axis))
            axes.push_back(axis);
  }
  llvm::sort(axes);
  return axes;
}

/// Partitions the operation as a program of its own, whose body is the computation of each device. Sums over devices stay pending for a later pass.
LogicalResult Resolver::exchange(Operation *op, const sharding::Rule &rule) {
  Location loc = op->getLoc();
  MLIRContext *context = op->getContext();
  Attribute name;
  sdy::MeshAttr mesh;
  SmallVector<sdy::TensorShardingAttr> given;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults()))) {
    sdy::TensorShardingAttr sharding = shardingInRegion(value);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    given.push_back(sharding);
    if (!type || !type.hasStaticShape())
      return failure();
    if (!sharding)
      continue;
    sdy::MeshAttr here = sharding.getMesh(op);
    if (!here || here.isMaximal() || (mesh && mesh != here) || sharding.getRank() != type.getRank() ||
        !sharding.getUnreducedAxes().empty())
      return failure();
    mesh = here;
    name = sharding.getMeshOrRef();
  }
  size_t operands = op->getNumOperands();
  for (auto [i, sharding] : llvm::enumerate(given)) {
    Value value = i < operands ? op->getOperand(i) : Value(op->getResult(i - operands));
    sharding = closed(sharding, cast<RankedTensorType>(value.getType()).getRank(), name);
  }
  ArrayRef<sdy::TensorShardingAttr> in = ArrayRef(given).take_front(operands), out = ArrayRef(given).drop_front(operands);

  SmallVector<sdy::TensorShardingAttr> apart(out);
  if (sharding::Axes summed = summedAxes(op, rule, in, mesh); !summed.empty())
    for (sdy::TensorShardingAttr &attr : apart) {
      sharding::TensorSharding sharding = sharding::fromAttr(attr, mesh);
      sharding.unreduced = summed;
      attr = sharding::toAttr(sharding, name, mesh);
    }

  OwningOpRef<ModuleOp> alone = ModuleOp::create(loc);
  (*alone)->setAttr("mhlo.num_partitions", builder.getI32IntegerAttr(mesh.getTotalSize()));
  builder.setInsertionPointToStart(alone->getBody());
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
    sdy::MeshOp::create(builder, loc, symbol.getValue(), mesh);
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  Block *body = function.addEntryBlock();
  for (auto [i, sharding] : llvm::enumerate(in))
    function.setArgAttr(i, sdy::shardingAttrName, sharding);
  for (auto [i, sharding] : llvm::enumerate(apart))
    function.setResultAttr(i, sdy::shardingAttrName, sharding);
  builder.setInsertionPointToStart(body);
  Operation *copy = builder.clone(*op);
  copy->setOperands(body->getArguments());
  copy->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(context, apart));
  func::ReturnOp::create(builder, loc, copy->getResults());
  {
    // Operations that the partitioner does not support are gathered, without a diagnostic.
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    if (failed(Partitioner(*alone, mesh.getTotalSize(), {}).run(function)))
      return failure();
  }
  function.walk([&](Operation *inner) {
    if (!inner->hasAttr(kChannel))
      return;
    if (byReplica) {
      inner->removeAttr(kChannel);
      inner->removeAttr("use_global_device_ids");
      return;
    }
    auto handle = inner->getAttrOfType<stablehlo::ChannelHandleAttr>(kChannel);
    inner->setAttr(kChannel, stablehlo::ChannelHandleAttr::get(context, ++channels, handle.getType()));
  });
  if (byReplica)
    for (auto id : llvm::make_early_inc_range(function.getBody().front().getOps<stablehlo::PartitionIdOp>())) {
      builder.setInsertionPoint(id);
      id.replaceAllUsesWith(stablehlo::ReplicaIdOp::create(builder, loc).getResult());
      id.erase();
    }

  builder.setInsertionPoint(op);
  auto marked = [&](Operation *made, sdy::TensorShardingAttr sharding) {
    made->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(context, {sharding}));
    return made->getResult(0);
  };
  SmallVector<Value> inputs;
  for (auto [operand, sharding] : llvm::zip_equal(op->getOperands(), in)) {
    auto type = cast<RankedTensorType>(operand.getType()), whole = filledUp(type, sharding, mesh);
    Value value = operand;
    if (whole != type) {
      SmallVector<int64_t> none(type.getRank(), 0), high;
      for (auto [size, filled] : llvm::zip_equal(type.getShape(), whole.getShape()))
        high.push_back(filled - size);
      Value zero = zeroOf(builder, loc, operand);
      value = marked(stablehlo::PadOp::create(builder, loc, whole, operand, zero, none, high, none), sharding);
    }
    inputs.push_back(value);
  }
  SmallVector<Type> types;
  for (auto [result, sharding] : llvm::zip_equal(op->getResults(), out))
    types.push_back(filledUp(cast<RankedTensorType>(result.getType()), sharding, mesh));
  SmallVector<StringAttr> axes;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    axes.push_back(builder.getStringAttr(axis.getName()));
  auto manual = sdy::ManualComputationOp::create(builder, loc, types, inputs, sdy::TensorShardingPerValueAttr::get(context, in),
                                                 sdy::TensorShardingPerValueAttr::get(context, out),
                                                 sdy::ManualAxesAttr::get(context, axes));
  manual.getBody().takeBody(function.getBody());
  Operation *last = manual.getBody().front().getTerminator();
  OpBuilder atEnd(last);
  sdy::ReturnOp::create(atEnd, loc, last->getOperands());
  last->erase();
  for (auto [result, made, sharding] : llvm::zip_equal(op->getResults(), manual.getResults(), out)) {
    auto type = cast<RankedTensorType>(result.getType());
    Value value = made;
    if (made.getType() != type) {
      SmallVector<int64_t> none(type.getRank(), 0), ones(type.getRank(), 1);
      value = marked(stablehlo::SliceOp::create(builder, loc, type, made, none, type.getShape(), ones), sharding);
    }
    result.replaceAllUsesWith(value);
  }
  op->erase();
  return success();
}

void Resolver::gather(Operation *op, const sharding::Rule &rule) {
  builder.setInsertionPoint(op);
  for (auto [operand, dims] : llvm::zip_equal(op->getOpOperands(), rule.operands))
    if (auto kept = inPlace(shardingInRegion(operand.get()), dims, rule, op))
      operand.set(sdy::ReshardOp::create(builder, op->getLoc(), operand.get().getType(), operand.get(), kept));
  auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
  if (!list)
    return;
  SmallVector<sdy::TensorShardingAttr> shardings(list.getShardings());
  builder.setInsertionPointAfter(op);
  for (auto [result, dims, sharding] : llvm::zip_equal(op->getResults(), rule.results, shardings)) {
    auto kept = inPlace(sharding, dims, rule, op);
    if (!kept)
      continue;
    Value back = sdy::ReshardOp::create(builder, op->getLoc(), result.getType(), result, sharding);
    result.replaceAllUsesExcept(back, back.getDefiningOp());
    sharding = kept;
  }
  op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(op->getContext(), shardings));
}

struct ResolvePermutationFactors : impl::ResolvePermutationFactorsPassBase<ResolvePermutationFactors> {
  using Base::Base;
  void runOnOperation() override {
    if (unsafeRandom) {
      getOperation().emitError("rng-bit-generator-unsafe is not supported: random bits are those of one device, whatever their sharding");
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() > 0)
        ops.push_back(op);
    });
    Resolver resolver(getOperation(), haloExchange, replicaCount > 1 && partitionCount <= 1);
    for (Operation *op : ops)
      resolver.resolve(op);
  }
};

} // namespace
} // namespace millrace::spmd
