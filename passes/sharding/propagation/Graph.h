// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.h - Propagation through a program ----------------------------===//
// A program as propagation sees it: tensors, and nodes that connect them by a rule. Nodes are operations, edges along which values enter and leave
// regions, and the results of functions.
#pragma once

#include "passes/sharding/mesh/AxisEdges.h"
#include "passes/sharding/propagation/Step.h"

#include "llvm/ADT/DenseMap.h"
#include <climits>
#include <vector>

namespace millrace::sharding {

/// How an axis came to a tensor.
struct Cause {
  AxisEdge edge;
  int step;   ///< earlier ones have smaller numbers
  int node;   ///< the node it came through; -1 - i: boundary i
  int source; ///< the tensor it came from
};
/// Fact: a mark instead of a node's number: `source` is a member of the same group.
constexpr int kThroughGroup = INT_MIN;

struct GraphTensor {
  int mesh = -1; ///< -1 as long as there is no sharding
  std::optional<TensorSharding> sharding;
  bool changed = false;
  std::vector<Cause> causes; ///< if Graph::recordsSteps, in order
  /// Nodes to visit again after a change, in this order.
  llvm::SmallVector<int, 4> touched;
  int group = -1; ///< tensors of a group are sharded alike
};

/// How a node sees a tensor. Inside a manual computation tensors lack the manual axes that they have outside.
struct View {
  int tensor = -1; ///< -1: not a tensor that can be sharded
  enum class Manual { Keep, Add, Remove } manual = Manual::Keep;
  int manualAxes = -1; ///< index into Graph::manual
};

/// Manual axes by dimension, and those that replicate.
struct ManualAxes {
  llvm::SmallVector<Axes, 4> dims;
  Axes replicated;
};

struct GraphNode {
  Rule rule;
  llvm::SmallVector<View, 3> operands, results;
  /// The conditions of operation priorities.
  bool passThrough = false, dynamicSlice = false, broadcast = false, singleUse = true;
  bool elementwise = false;
  /// Set for barriers: this direction, whatever the priority.
  std::optional<Direction> only;
};

/// The effect of one visit of a node.
struct GraphStep {
  int number;
  int node; ///< -1 - i: boundary i
  int mesh;
  llvm::SmallVector<AxisEdge, 2> edges;
};

/// All of them in the order of the program.
struct Graph {
  std::vector<MeshSizes> meshes;
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
  std::vector<ManualAxes> manual;
  /// Ties of returned values to results of functions; visited before and after everything else.
  std::vector<GraphNode> boundaries;
  std::vector<llvm::SmallVector<int>> groups;
  bool recordsSteps = false; ///< steps, and the causes of every tensor
  std::vector<GraphStep> steps;
  int stepCount = 0;
};

enum class Strategy { Basic, Aggressive, BasicThenAggressive };

struct PropagationOptions {
  Strategy strategy = Strategy::Aggressive;
  bool conservative = false;
  bool opPriority = true;   ///< operations in rounds: pass-through ones first
  bool userPriority = true; ///< annotations in rounds, by their priority
};

/// Propagates to a fixed point.
void propagate(Graph &graph, const PropagationOptions &options);

/// The tensor's sharding as the node sees it; none if there is none.
std::optional<TensorSharding> seenBy(const Graph &graph, const View &view);
/// All tensors of a node, factor by factor.
Projection projectionOf(const Graph &graph, const GraphNode &node);
/// The one mesh of all shardings of the node; -1 if there are several or none. A mesh without axes says nothing.
int meshOf(const Graph &graph, const GraphNode &node);

/// In which direction the node propagates along the factor in round `round` (0 to 4) of operation priorities.
Direction directionInRound(const GraphNode &node, int factor, int round);
/// Fact: priorities of operations in propagation, as Shardy has them: rounds over the program, each with more kinds of operations.
constexpr int kOpPriorityRounds = 5;

} // namespace millrace::sharding
