// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origins.cpp - Shardy's debugging attributes ------------------------===//
#include "passes/sharding/explain/Origins.h"

#include "passes/sharding/propagation/DataFlow.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace millrace::sharding {

std::string describePlace(const ModuleGraph &graph, int tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ModuleGraph::Place place = graph.place(tensor);
  if (!place.value) {
    os << "result " << place.result << " of @" << place.function.getName();
    return text;
  }
  if (auto argument = dyn_cast<BlockArgument>(place.value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    os << "argument " << argument.getArgNumber() << " of ";
    if (function)
      os << "@" << function.getName();
    else
      os << argument.getOwner()->getParentOp()->getName();
    return text;
  }
  Operation *op = place.value.getDefiningOp();
  if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
    if (auto argument = dyn_cast<BlockArgument>(edge.getInput())) {
      os << "argument " << argument.getArgNumber() << " of " << argument.getOwner()->getParentOp()->getName();
      return text;
    }
    place.value = edge.getInput();
    op = edge.getInput().getDefiningOp();
  }
  os << op->getName();
  if (op->getNumResults() > 1)
    os << " result " << cast<OpResult>(place.value).getResultNumber();
  return text;
}

namespace {

constexpr llvm::StringLiteral kOrigins = "sdy.sharding_origins";

/// Entry `index` of a list with one dictionary per value.
void setEntry(Operation *op, StringRef name, size_t size, size_t index, DictionaryAttr entry) {
  SmallVector<Attribute> all(size, DictionaryAttr::get(op->getContext()));
  if (auto before = op->getAttrOfType<ArrayAttr>(name); before && before.size() == size)
    all.assign(before.begin(), before.end());
  all[index] = entry;
  op->setAttr(name, ArrayAttr::get(op->getContext(), all));
}

void attachTo(Value value, DictionaryAttr all) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      function.setArgAttr(argument.getArgNumber(), kOrigins, all);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<sdy::ShardingConstraintOp, sdy::DataFlowEdgeOp>(op))
    op->setAttr(kOrigins, all);
  else
    setEntry(op, kOrigins, op->getNumResults(), cast<OpResult>(value).getResultNumber(), all);
}

/// Where a function returns the value.
OpOperand *returnOf(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      return &use;
  return nullptr;
}

} // namespace

Origins::Origins(ModuleGraph &graph)
    : graph(graph), entries(graph.graph.tensors.size()), selves(graph.graph.tensors.size()) {
  int constraints = 0, manuals = 0;
  auto isSelf = [&](Value value, const std::string &from) {
    if (int tensor = graph.tensorOf(value); tensor >= 0)
      selves[tensor] = from;
  };
  graph.getModule().walk([&](sdy::ShardingConstraintOp op) {
    std::string name = "constraint_" + std::to_string(constraints++);
    names.push_back({op, name});
    annotate(op.getResult(), op.getSharding(), op, name);
    isSelf(op.getResult(), name);
    if (int input = graph.tensorOf(op.getInput()); input >= 0)
      annotate(op.getInput(), graph.attrOf(input), op, name);
  });
  graph.getModule().walk([&](sdy::ManualComputationOp op) {
    std::string name = "mc_" + std::to_string(manuals++);
    names.push_back({op, name});
    for (auto [i, sharding] : llvm::enumerate(op.getInShardings().getShardings())) {
      std::string from = name + "_input: " + std::to_string(i);
      annotate(op.getRegion().getArgument(i), sharding, op, from);
      isSelf(op.getRegion().getArgument(i), from);
      if (int input = graph.tensorOf(op->getOperand(i)); input >= 0)
        annotate(op->getOperand(i), graph.attrOf(input), op, from);
    }
    for (auto [i, sharding] : llvm::enumerate(op.getOutShardings().getShardings())) {
      std::string from = name + "_output: " + std::to_string(i);
      annotate(op->getResult(i), sharding, op, from);
      isSelf(op->getResult(i), from);
    }
  });
  for (auto function : graph.getModule().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments()) {
      std::string from = "input: " + std::to_string(argument.getArgNumber());
      annotate(argument, sdy::getSharding(argument), function, from);
      isSelf(argument, from);
    }
    for (auto [i, value] : llvm::enumerate(function.getBody().back().getTerminator()->getOperands()))
      annotate(value, function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName), function,
               "output: " + std::to_string(i));
  }
  // Operations with shardings of their own, which Shardy has no names for.
  for (int tensor = 0; tensor < int(entries.size()); ++tensor)
    if (Value value = graph.place(tensor).value; value && isa<OpResult>(value) && entries[tensor].empty())
      annotate(value, graph.attrOf(tensor), value.getDefiningOp(), describePlace(graph, tensor));
}

void Origins::annotate(Value value, sdy::TensorShardingAttr sharding, Operation *user, const std::string &from) {
  int tensor = graph.tensorOf(value);
  sdy::MeshAttr mesh = sharding ? sharding.getMesh(user) : sdy::MeshAttr();
  if (tensor < 0 || !mesh)
    return;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    for (auto [axis, name] : llvm::zip_equal(fromAttr(dim.getAxes(), mesh), dim.getAxes()))
      add(tensor, axis, name, from);
}

void Origins::add(int tensor, const Axis &axis, sdy::AxisRefAttr name, const std::string &from) {
  if (llvm::none_of(entries[tensor], [&](const Entry &entry) { return entry.name == name; }))
    entries[tensor].push_back({axis, name, from});
}

/// Of the axis, else of one that it is a part of or that is a part of it.
std::string Origins::find(int tensor, const Axis &axis) const {
  for (const Entry &entry : entries[tensor])
    if (entry.axis == axis)
      return entry.from;
  for (const Entry &entry : entries[tensor])
    if (entry.axis.contains(axis) || axis.contains(entry.axis))
      return entry.from;
  return describePlace(graph, tensor);
}

/// From step to step.
void Origins::follow() {
  for (const GraphStep &step : graph.graph.steps) {
    if (step.node < 0)
      continue; // the returned value is both
    const GraphNode &node = graph.graph.nodes[step.node];
    auto tensorAt = [&](int place) {
      size_t operands = node.operands.size();
      return size_t(place) < operands ? node.operands[place].tensor : node.results[place - operands].tensor;
    };
    for (const AxisEdge &edge : step.edges) {
      int target = tensorAt(edge.target);
      sdy::AxisRefAttr name = graph.nameOf(edge.axis, step.mesh);
      std::string from = find(tensorAt(edge.source), edge.axis);
      add(target, edge.axis, name, from);
      if (int group = graph.graph.tensors[target].group; group >= 0)
        for (int member : graph.graph.groups[group])
          add(member, edge.axis, name, from);
    }
  }
}

void Origins::attach() {
  follow();
  for (auto &[op, name] : names)
    op->setAttr("sdy.sharding_origin_name", StringAttr::get(op->getContext(), name));
  for (auto [tensor, list] : llvm::enumerate(entries)) {
    Value value = graph.place(tensor).value;
    if (list.empty() || !value)
      continue;
    auto dictionary = [&, &list = list](const std::string &self) {
      NamedAttrList all;
      for (const Entry &entry : list) {
        // An ordinary operation's own annotation goes without saying.
        if (self.empty() && entry.from == describePlace(graph, tensor))
          continue;
        std::string key = entry.name.getName().str();
        if (sdy::SubAxisInfoAttr sub = entry.name.getSubAxisInfo())
          key += ":(" + std::to_string(sub.getPreSize()) + ")" + std::to_string(sub.getSize());
        all.set(key, StringAttr::get(value.getContext(), entry.from == self ? "self" : entry.from));
      }
      return all.getDictionary(value.getContext());
    };
    if (DictionaryAttr all = dictionary(selves[tensor]); !all.empty())
      attachTo(value, all);
    if (OpOperand *returned = returnOf(value))
      cast<func::FuncOp>(returned->getOwner()->getParentOp())
          .setResultAttr(returned->getOperandNumber(), kOrigins,
                         dictionary("output: " + std::to_string(returned->getOperandNumber())));
  }
}

void attachSteps(ModuleGraph &graph) {
  // The steps of every operation; those at the results of a function are recorded at the first one.
  llvm::MapVector<Operation *, SmallVector<sdy::PropagationOneStepAttr>> steps;
  llvm::SmallPtrSet<Operation *, 4> functions;
  // Constraints that were applied before have written down the first steps.
  int64_t before = 0;
  graph.getModule().walk([&](Operation *op) {
    auto known = op->getAttrOfType<sdy::PropagationEdgesAttr>(sdy::propagationEdgesAttrName);
    for (sdy::PropagationOneStepAttr step : known ? known.getValue() : ArrayRef<sdy::PropagationOneStepAttr>()) {
      steps[op].push_back(step);
      before = std::max(before, step.getStepIndex() + 1);
    }
  });
  for (const GraphStep &step : graph.graph.steps) {
    Operation *op = graph.operation(step.node);
    size_t operands = 1;
    if (op) {
      operands = graph.graph.nodes[step.node].operands.size();
    } else {
      op = graph.place(graph.graph.boundaries[-1 - step.node].results[0].tensor).function;
      functions.insert(op);
    }
    MLIRContext *context = op->getContext();
    auto ref = [&](int place) {
      bool isOperand = size_t(place) < operands;
      return sdy::EdgeValueRefAttr::get(context, isOperand ? sdy::EdgeNodeType::Operand : sdy::EdgeNodeType::Result,
                                        isOperand ? place : place - operands);
    };
    auto &ofOp = steps[op];
    // An axis has one source in a step.
    llvm::MapVector<sdy::AxisRefAttr, std::pair<int, SmallVector<int>>> byAxis;
    for (const AxisEdge &edge : step.edges) {
      auto &[source, targets] = byAxis.try_emplace(graph.nameOf(edge.axis, step.mesh), edge.source, SmallVector<int>()).first->second;
      if (source == edge.source)
        targets.push_back(edge.target);
    }
    SmallVector<sdy::AxisToPropagationDetailsAttr> entries;
    for (auto &[axis, way] : byAxis) {
      auto entry = sdy::AxisToPropagationDetailsAttr::get(context, axis, ref(way.first), llvm::map_to_vector(way.second, ref));
      // Another result of the function, which is not told from the first.
      bool known = functions.contains(op) && llvm::any_of(ofOp, [&](sdy::PropagationOneStepAttr before) {
                     return llvm::is_contained(before.getAxisEntries(), entry);
                   });
      if (!known)
        entries.push_back(entry);
    }
    if (entries.empty())
      continue;
    llvm::sort(entries, [](auto a, auto b) {
      // Whole axes after their parts.
      auto key = [](sdy::AxisRefAttr axis) {
        sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
        return std::tuple(axis.getName(), axis.getPreSize(), part ? part.getSize() : INT64_MAX);
      };
      return key(a.getAxisName()) < key(b.getAxisName());
    });
    ofOp.push_back(sdy::PropagationOneStepAttr::get(context, before + step.number, entries));
  }
  for (auto &[op, list] : steps) {
    if (list.empty())
      continue;
    auto edges = sdy::PropagationEdgesAttr::get(op->getContext(), list);
    if (functions.contains(op))
      cast<func::FuncOp>(op).setResultAttr(0, sdy::propagationEdgesAttrName, edges);
    else
      op->setAttr(sdy::propagationEdgesAttrName, edges);
  }
}

} // namespace millrace::sharding
