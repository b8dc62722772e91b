// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.cpp - Rounds of priorities around a worklist of nodes --------===//
#include "passes/sharding/propagation/Graph.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <set>

using namespace llvm;

namespace millrace::sharding {

Direction directionInRound(const GraphNode &node, int factor, int round) {
  if (node.rule.factors[factor].blocked)
    return Direction::None;
  if (node.only)
    return *node.only;
  // Rounds add up; the last allows everything.
  bool usesAllowed = node.singleUse || round >= 1;
  Direction result = Direction::None;
  if (node.passThrough && usesAllowed)
    result = result | Direction::Both;
  if (node.dynamicSlice && usesAllowed)
    result = result | Direction::Forward;
  if (round >= 2 && node.rule.factors[factor].kind == FactorKind::PassThrough)
    result = result | (node.broadcast ? Direction::Backward : Direction::Both);
  if (round >= 3)
    result = result | (node.broadcast ? Direction::Backward : Direction::Both);
  if (round >= 4)
    result = Direction::Both;
  return result;
}

std::optional<TensorSharding> seenBy(const Graph &graph, const View &view) {
  if (view.tensor < 0)
    return std::nullopt;
  std::optional<TensorSharding> sharding = graph.tensors[view.tensor].sharding;
  if (!sharding || view.manual == View::Manual::Keep)
    return sharding;
  const ManualAxes &manual = graph.manual[view.manualAxes];
  for (auto [dim, axes] : zip_equal(sharding->dims, manual.dims)) {
    if (view.manual == View::Manual::Add) {
      Axes all = axes;
      all.append(dim.axes.begin(), dim.axes.end());
      dim.axes = all;
    } else {
      dim.axes.erase(dim.axes.begin(), dim.axes.begin() + std::min(axes.size(), dim.axes.size()));
    }
  }
  if (view.manual == View::Manual::Add) {
    append_range(sharding->replicated, manual.replicated);
    llvm::sort(sharding->replicated);
  } else {
    erase_if(sharding->replicated, [&](const Axis &axis) { return is_contained(manual.replicated, axis); });
  }
  return sharding;
}

int meshOf(const Graph &graph, const GraphNode &node) {
  int mesh = -1;
  for (auto *views : {&node.operands, &node.results})
    for (const View &view : *views) {
      if (view.tensor < 0 || !graph.tensors[view.tensor].sharding)
        continue;
      int here = graph.tensors[view.tensor].mesh;
      if (graph.meshes[here].empty() || here == mesh)
        continue;
      if (mesh >= 0)
        return -1;
      mesh = here;
    }
  return mesh;
}

Projection projectionOf(const Graph &graph, const GraphNode &node) {
  Projection projection;
  auto fill = [&](ArrayRef<View> views, ArrayRef<TensorFactors> dims, SmallVectorImpl<ProjectedTensor> &tensors) {
    for (auto [view, tensor] : zip_equal(views, dims)) {
      std::optional<TensorSharding> sharding = seenBy(graph, view);
      // A rank that is not the rule's: maximal shardings have none.
      bool fits = sharding && sharding->dims.size() == tensor.size();
      tensors.push_back(view.tensor < 0 ? ProjectedTensor() : project(fits ? &*sharding : nullptr, tensor, node.rule.factors));
    }
  };
  fill(node.operands, node.rule.operands, projection.operands);
  fill(node.results, node.rule.results, projection.results);
  return projection;
}

namespace {

using Directions = function_ref<Direction(const GraphNode &, int factor)>;

/// The tensor's own sharding if the node sees `seen`.
TensorSharding ownOf(const Graph &graph, const View &view, TensorSharding seen) {
  if (view.manual == View::Manual::Keep)
    return seen;
  const ManualAxes &manual = graph.manual[view.manualAxes];
  for (auto [dim, axes] : zip_equal(seen.dims, manual.dims)) {
    if (view.manual == View::Manual::Add) {
      dim.axes.erase(dim.axes.begin(), dim.axes.begin() + std::min(axes.size(), dim.axes.size()));
    } else {
      Axes all = axes;
      all.append(dim.axes.begin(), dim.axes.end());
      dim.axes = all;
    }
  }
  if (view.manual == View::Manual::Add) {
    erase_if(seen.replicated, [&](const Axis &axis) { return is_contained(manual.replicated, axis); });
  } else {
    append_range(seen.replicated, manual.replicated);
    llvm::sort(seen.replicated);
  }
  return seen;
}

class Run {
public:
  Run(Graph &graph, const StepOptions &options, Directions directions)
      : graph(graph), options(options), directions(directions), queued(graph.nodes.size()) {}

  void run() {
    visitBoundaries();
    // Everything is visited anyway, in the order of the program.
    stack.clear();
    queued.reset();
    // The order is a stack's: what a change touches is visited before what comes later in the program.
    bool changed = true;
    while (changed) {
      changed = false;
      for (int i = int(graph.nodes.size()) - 1; i >= 0; --i)
        push(i);
      while (!stack.empty()) {
        int node = stack.pop_back_val();
        queued.reset(node);
        bool didChange = visit(graph.nodes[node], node);
        graph.stepCount += didChange;
        changed |= didChange;
      }
    }
    visitBoundaries();
  }

private:
  void visitBoundaries() {
    for (auto [i, node] : enumerate(graph.boundaries))
      graph.stepCount += visit(node, -1 - int(i));
  }

  void push(int node) {
    if (queued.test(node))
      return;
    queued.set(node);
    stack.push_back(node);
  }

  void notify(int tensor) {
    for (int node : graph.tensors[tensor].touched)
      push(node);
  }

  bool visit(const GraphNode &node, int number) {
    int mesh = meshOf(graph, node);
    if (mesh < 0)
      return false;
    ArrayRef<Factor> factors = node.rule.factors;
    SmallVector<Direction> allowed;
    for (size_t factor = 0; factor < factors.size(); ++factor)
      allowed.push_back(directions(node, factor));
    if (all_of(allowed, [](Direction each) { return each == Direction::None; }))
      return false;
    Projection projection = projectionOf(graph, node), before;
    if (graph.recordsSteps)
      before = projection;
    StepOptions step = options;
    step.elementwise = node.elementwise;
    // A returned value is the result itself.
    step.conservative &= number >= 0;
    SmallVector<Added> added = propagate(projection, allowed, factors, graph.meshes[mesh], step);
    bool changed = false;
    // Operands first, whatever was added first: what they touch is visited in that order.
    std::set<int> updated;
    for (const Added &each : added)
      updated.insert(each.tensor);
    size_t operands = node.operands.size();
    for (int place : updated) {
      bool isOperand = size_t(place) < operands;
      size_t index = isOperand ? place : place - operands;
      const View &view = isOperand ? node.operands[index] : node.results[index];
      const TensorFactors &dims = isOperand ? node.rule.operands[index] : node.rule.results[index];
      const ProjectedTensor &projected = isOperand ? projection.operands[index] : projection.results[index];
      changed |= update(view, ownOf(graph, view, unproject(projected, dims, factors)), mesh);
    }
    if (changed && graph.recordsSteps)
      record(node, {graph.stepCount, number, mesh, axisEdges(node.rule, before, projection)});
    return changed;
  }

  void record(const GraphNode &node, GraphStep step) {
    auto tensorAt = [&](int place) {
      size_t operands = node.operands.size();
      return size_t(place) < operands ? node.operands[place].tensor : node.results[place - operands].tensor;
    };
    for (const AxisEdge &edge : step.edges) {
      int target = tensorAt(edge.target);
      graph.tensors[target].causes.push_back({edge, step.number, step.node, tensorAt(edge.source)});
      forOthersOfGroup(target, [&](int member) {
        graph.tensors[member].causes.push_back({edge, step.number, kThroughGroup, target});
      });
    }
    graph.steps.push_back(std::move(step));
  }

  void forOthersOfGroup(int tensor, function_ref<void(int)> callback) {
    if (int group = graph.tensors[tensor].group; group >= 0)
      for (int member : graph.groups[group])
        if (member != tensor)
          callback(member);
  }

  bool update(const View &view, const TensorSharding &sharding, int mesh) {
    GraphTensor &tensor = graph.tensors[view.tensor];
    if (tensor.sharding ? *tensor.sharding == sharding : sharding.isEmpty())
      return false;
    set(view.tensor, sharding, mesh);
    forOthersOfGroup(view.tensor, [&](int member) { set(member, sharding, mesh); });
    return true;
  }

  void set(int index, const TensorSharding &sharding, int mesh) {
    GraphTensor &tensor = graph.tensors[index];
    tensor.sharding = sharding;
    tensor.mesh = mesh;
    tensor.changed = true;
    notify(index);
  }

  Graph &graph;
  StepOptions options;
  Directions directions;
  BitVector queued;
  SmallVector<int> stack;
};

void runStrategies(Graph &graph, const PropagationOptions &options, Directions directions) {
  SmallVector<bool> aggressive;
  if (options.strategy != Strategy::Aggressive)
    aggressive.push_back(false);
  if (options.strategy != Strategy::Basic)
    aggressive.push_back(true);
  for (bool each : aggressive)
    Run(graph, {each, options.conservative, false}, directions).run();
}

void runOpPriorities(Graph &graph, const PropagationOptions &options) {
  for (int round = options.opPriority ? 0 : kOpPriorityRounds - 1; round < kOpPriorityRounds; ++round)
    runStrategies(graph, options,
                  [&](const GraphNode &node, int factor) { return directionInRound(node, factor, round); });
}

/// The dimensions of later priorities become closed and empty, and their axes are kept from other dimensions.
TensorSharding firstRound(const TensorSharding &original) {
  TensorSharding result = original;
  for (DimSharding &dim : result.dims) {
    if (dim.priority == 0)
      continue;
    append_range(result.replicated, dim.axes);
    dim = {{}, true, 0};
  }
  llvm::sort(result.replicated);
  return result;
}

/// Gives the dimensions of `priority` back what they were annotated with.
void restore(TensorSharding &sharding, const TensorSharding &original, int64_t priority) {
  for (auto [dim, before] : zip_equal(sharding.dims, original.dims)) {
    if (before.priority != priority)
      continue;
    dim = {before.axes, before.closed, 0};
    erase_if(sharding.replicated, [&, &before = before](const Axis &axis) { return is_contained(before.axes, axis); });
  }
}

} // namespace

void propagate(Graph &graph, const PropagationOptions &options) {
  if (!options.userPriority) {
    runOpPriorities(graph, options);
    return;
  }
  std::set<int64_t> priorities;
  std::vector<std::pair<int, TensorSharding>> annotated;
  for (auto [i, tensor] : enumerate(graph.tensors)) {
    if (!tensor.sharding || none_of(tensor.sharding->dims, [](const DimSharding &dim) { return dim.priority > 0; }))
      continue;
    for (const DimSharding &dim : tensor.sharding->dims)
      if (dim.priority > 0)
        priorities.insert(dim.priority);
    annotated.push_back({int(i), *tensor.sharding});
    tensor.sharding = firstRound(*tensor.sharding);
    tensor.changed = true;
  }
  runOpPriorities(graph, options);
  for (int64_t priority : priorities) {
    for (auto &[index, original] : annotated)
      restore(*graph.tensors[index].sharding, original, priority);
    runOpPriorities(graph, options);
  }
}

} // namespace millrace::sharding
