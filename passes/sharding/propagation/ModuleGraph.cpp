// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleGraph.cpp - A module as the graph that propagation works on --===//
#include "passes/sharding/propagation/ModuleGraph.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/rules/OpRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {

//===-- Attributes --------------------------------------------------------===//

Axes fromAttr(ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh) {
  Axes result;
  for (sdy::AxisRefAttr axis : axes)
    result.push_back({int32_t(mesh.getAxisPosition(axis.getName())), axis.getPreSize(), axis.getSize(mesh)});
  return result;
}

SmallVector<sdy::AxisRefAttr> toAttr(AxesRef axes, sdy::MeshAttr mesh) {
  return llvm::map_to_vector(axes, [&](const Axis &axis) {
    sdy::MeshAxisAttr whole = mesh.getAxes()[axis.axis];
    auto part = axis.size == whole.getSize() ? sdy::SubAxisInfoAttr()
                                             : sdy::SubAxisInfoAttr::get(mesh.getContext(), axis.pre, axis.size);
    return sdy::AxisRefAttr::get(mesh.getContext(), whole.getName(), part);
  });
}

TensorSharding fromAttr(sdy::TensorShardingAttr attr, sdy::MeshAttr mesh) {
  TensorSharding result;
  for (sdy::DimensionShardingAttr dim : attr.getDimShardings())
    result.dims.push_back({fromAttr(dim.getAxes(), mesh), dim.getIsClosed(), dim.getPriority().value_or(0)});
  result.replicated = fromAttr(attr.getReplicatedAxes(), mesh);
  result.unreduced = fromAttr(attr.getUnreducedAxes(), mesh);
  return result;
}

sdy::TensorShardingAttr toAttr(const TensorSharding &sharding, Attribute meshOrRef, sdy::MeshAttr mesh,
                               sdy::ReductionOp reduction) {
  MLIRContext *context = mesh.getContext();
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (const DimSharding &dim : sharding.dims)
    dims.push_back(sdy::DimensionShardingAttr::get(context, toAttr(dim.axes, mesh), dim.closed,
                                                   dim.priority ? std::optional(dim.priority) : std::nullopt));
  return sdy::TensorShardingAttr::get(context, meshOrRef, dims, toAttr(sharding.replicated, mesh),
                                      toAttr(sharding.unreduced, mesh), reduction);
}

sdy::TensorShardingAttr fullyOpen(Attribute meshOrRef, int64_t rank) {
  auto open = sdy::DimensionShardingAttr::get(meshOrRef.getContext(), {}, false, std::nullopt);
  return sdy::TensorShardingAttr::get(meshOrRef.getContext(), meshOrRef,
                                      SmallVector<sdy::DimensionShardingAttr>(rank, open));
}

void setSharding(Value value, sdy::TensorShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    function.setArgAttr(argument.getArgNumber(), sdy::shardingAttrName, sharding);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::DataFlowEdgeOp>(op)) {
    op->setAttr("sharding", sharding);
    return;
  }
  bool isRegion = isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op);
  StringRef name = isRegion ? StringRef("out_shardings") : StringRef(sdy::shardingAttrName);
  if (isa<sdy::SdyDialect>(op->getDialect()) && op->hasAttr("out_sharding")) {
    op->setAttr("out_sharding", sharding);
    return;
  }
  SmallVector<sdy::TensorShardingAttr> all;
  if (auto before = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(name))
    all.assign(before.getShardings().begin(), before.getShardings().end());
  if (all.size() != op->getNumResults()) {
    all.clear();
    for (Value result : op->getResults())
      all.push_back(fullyOpen(sharding.getMeshOrRef(), shapeOf(result).size()));
  }
  all[cast<OpResult>(value).getResultNumber()] = sharding;
  op->setAttr(name, sdy::TensorShardingPerValueAttr::get(op->getContext(), all));
}

//===-- Tensors -----------------------------------------------------------===//

int ModuleGraph::tensorOf(Value value) const {
  // Without an edge values inside of a loop are still those that it carries.
  if (Value owner = edgeOwner(value)) {
    sdy::DataFlowEdgeOp edge = edgeOp(owner);
    value = edge ? edge.getResult() : owner;
  }
  auto found = values.find(value);
  return found == values.end() ? -1 : found->second;
}

int ModuleGraph::resultOf(func::FuncOp function, unsigned result) const {
  auto found = functionResults.find({function, result});
  return found == functionResults.end() ? -1 : found->second;
}

sdy::TensorShardingAttr ModuleGraph::attrOf(int tensor) const {
  const GraphTensor &state = graph.tensors[tensor];
  if (!state.sharding)
    return {};
  return toAttr(*state.sharding, meshes[state.mesh].first, meshes[state.mesh].second, reductions[tensor]);
}

int ModuleGraph::meshOf(sdy::TensorShardingAttr sharding, Operation *user) {
  sdy::MeshAttr mesh = sharding.getMesh(user);
  if (!mesh)
    return -1;
  for (auto [i, known] : llvm::enumerate(meshes))
    if (known.second == mesh)
      return i;
  MeshSizes sizes;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    sizes.push_back(axis.getSize());
  if (mesh.isMaximal())
    sizes.push_back(1); // a place like no other
  meshes.push_back({sharding.getMeshOrRef(), mesh});
  graph.meshes.push_back(sizes);
  return meshes.size() - 1;
}

LogicalResult ModuleGraph::addTensor(Place place, Type type, sdy::TensorShardingAttr sharding, Operation *user) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return success();
  if (!shaped.hasStaticShape())
    return user->emitError("sharding propagation expects static shapes, but got ") << type;
  int number = places.size();
  places.push_back(place);
  GraphTensor &tensor = graph.tensors.emplace_back();
  reductions.push_back(sdy::ReductionOp::Sum);
  if (sharding) {
    tensor.mesh = meshOf(sharding, user);
    if (tensor.mesh < 0)
      return user->emitError("unknown mesh: ") << sharding.getMeshOrRef();
    tensor.sharding = fromAttr(sharding, meshes[tensor.mesh].second);
    reductions.back() = sharding.getReductionOp();
  }
  if (place.value)
    values[place.value] = number;
  else
    functionResults[{place.function, place.result}] = number;
  return success();
}

LogicalResult ModuleGraph::addValues(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (failed(addTensor({argument, {}}, argument.getType(), sdy::getSharding(argument), function)))
      return failure();
  bool failed = false;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults()) {
      // The edge represents the value.
      if (Value owner = edgeOwner(result); owner && edgeOp(owner))
        continue;
      failed |= mlir::failed(addTensor({result, {}}, result.getType(), sdy::getSharding(result), op));
    }
  });
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto sharding = function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
    if (mlir::failed(addTensor({Value(), function, unsigned(i)}, type, sharding, function)))
      return failure();
  }
  return success(!failed);
}

//===-- Nodes -------------------------------------------------------------===//

static bool isScalar(Value value) { return shapeOf(value).empty(); }

/// An operand with other users pulls shardings apart; scalars have none.
static bool isSingleUse(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) { return operand.hasOneUse() || isScalar(operand); });
}

static bool isPassThrough(Operation *op) {
  auto call = dyn_cast<CustomCallOp>(op);
  return isElementwise(op) || isa<ReshapeOp, TransposeOp, sdy::ShardingConstraintOp>(op) ||
         (call && llvm::is_contained({"MoveToDevice", "MoveToHost"}, call.getCallTargetName()));
}

void ModuleGraph::addEdge(sdy::DataFlowEdgeOp edge) {
  Value owner = edge.getInput();
  SmallVector<OpOperand *> sources = edgeSources(owner);
  GraphNode node;
  node.rule = identityRule(cast<ShapedType>(edge.getType()).getShape(), sources.size(), 1);
  node.passThrough = true;
  for (OpOperand *source : sources)
    node.operands.push_back(viewOf(source->get()));
  View target = viewOf(edge.getResult());
  bool enters = isa<BlockArgument>(owner);
  Operation *parent = enters ? cast<BlockArgument>(owner).getOwner()->getParentOp() : owner.getDefiningOp();
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(parent)) {
    // Values outside of the manual computation are sharded by its axes, values inside are not.
    unsigned number = enters ? cast<BlockArgument>(owner).getArgNumber() : cast<OpResult>(owner).getResultNumber();
    auto shardings = (enters ? manual.getInShardings() : manual.getOutShardings()).getShardings();
    auto isManual = [&](sdy::AxisRefAttr axis) {
      return llvm::any_of(manual.getManualAxes(), [&](StringAttr name) { return name.getValue() == axis.getName(); });
    };
    sdy::TensorShardingAttr sharding = shardings[number];
    sdy::MeshAttr mesh = sharding.getMesh(manual);
    ManualAxes axes;
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
      axes.dims.push_back(fromAttr(dim.getAxes().take_while(isManual), mesh));
    axes.replicated = fromAttr(SmallVector<sdy::AxisRefAttr>(llvm::make_filter_range(sharding.getReplicatedAxes(), isManual)), mesh);
    target.manual = enters ? View::Manual::Add : View::Manual::Remove;
    target.manualAxes = graph.manual.size();
    graph.manual.push_back(axes);
  }
  node.results.push_back(target);
  graph.nodes.push_back(std::move(node));
  operations.push_back(edge);
}

void ModuleGraph::addNodes(func::FuncOp function, bool conservative) {
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
      if (isa<ShapedType>(edge.getType()))
        addEdge(edge);
      return;
    }
    GraphNode node;
    if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op)) {
      node.rule = identityRule(shapeOf(barrier.getResult()), 1, 1);
      node.only = Direction(int(barrier.getAllowedDirection()));
    } else if (auto rule = ruleOf(op, conservative)) {
      node.rule = std::move(*rule);
    } else {
      return;
    }
    for (Value operand : op->getOperands())
      node.operands.push_back(viewOf(operand));
    for (Value result : op->getResults())
      node.results.push_back(viewOf(result));
    node.elementwise = isElementwise(op) || isa<sdy::ShardingConstraintOp>(op);
    node.passThrough = isPassThrough(op);
    node.dynamicSlice = isa<DynamicSliceOp, DynamicUpdateSliceOp>(op);
    node.broadcast = isa<BroadcastInDimOp>(op);
    node.singleUse = isSingleUse(op);
    graph.nodes.push_back(std::move(node));
    operations.push_back(op);
  });
  // Results of other functions are what their callers make of them.
  if (function.getName() != "main" && module.lookupSymbol<func::FuncOp>("main"))
    return;
  Operation *terminator = function.getBody().back().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto shaped = dyn_cast<ShapedType>(value.getType());
    if (!shaped)
      continue;
    GraphNode node;
    node.rule = identityRule(shaped.getShape(), 1, 1);
    node.operands.push_back(viewOf(value));
    node.results.push_back({resultOf(function, i)});
    node.only = Direction::Both;
    graph.boundaries.push_back(std::move(node));
  }
}

void ModuleGraph::addGroups() {
  llvm::MapVector<int64_t, llvm::SmallSetVector<int, 4>> members;
  module.walk([&](sdy::ShardingGroupOp op) {
    if (int tensor = tensorOf(op.getInput()); tensor >= 0)
      members[op.getGroupId()].insert(tensor);
  });
  for (auto &[id, tensors] : members) {
    for (int tensor : tensors)
      graph.tensors[tensor].group = graph.groups.size();
    graph.groups.emplace_back(tensors.begin(), tensors.end());
  }
}

/// After a change of a tensor: the definition first, users last, so that users are visited next.
void ModuleGraph::connect() {
  DenseMap<Operation *, int> nodeOf;
  for (auto [i, op] : llvm::enumerate(operations))
    nodeOf[op] = i;
  for (auto [number, place] : llvm::enumerate(places)) {
    SmallVector<int, 4> &touched = graph.tensors[number].touched;
    auto touch = [&](Operation *op) {
      if (auto found = nodeOf.find(op); found != nodeOf.end())
        touched.push_back(found->second);
    };
    auto touchUsers = [&](Value value) {
      for (OpOperand &use : value.getUses()) {
        Value owner = edgeOwner(use);
        if (sdy::DataFlowEdgeOp edge = owner ? edgeOp(owner) : sdy::DataFlowEdgeOp())
          touch(edge);
        else
          touch(use.getOwner());
      }
    };
    if (!place.value)
      continue;
    auto edge = place.value.getDefiningOp<sdy::DataFlowEdgeOp>();
    for (Value target : otherTargets(edge ? edge.getInput() : place.value))
      touchUsers(target);
    if (Operation *definition = place.value.getDefiningOp())
      touch(definition);
    touchUsers(place.value);
  }
}

LogicalResult ModuleGraph::build(bool conservative) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && failed(addValues(function)))
      return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      addNodes(function, conservative);
  addGroups();
  connect();
  return success();
}

void ModuleGraph::writeBack() {
  for (auto [number, place] : llvm::enumerate(places)) {
    if (!graph.tensors[number].changed)
      continue;
    if (place.value)
      setSharding(place.value, attrOf(number));
    else
      place.function.setResultAttr(place.result, sdy::shardingAttrName, attrOf(number));
  }
}

} // namespace millrace::sharding
