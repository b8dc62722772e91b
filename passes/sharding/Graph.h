// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.h - Propagation through a program ----------------------------===//
// A program as propagation sees it: tensors, and nodes that tie them by a rule. Nodes stand for operations, for edges along
// which values flow into and out of regions, and for the results of functions.
#pragma once

#include "passes/sharding/Step.h"

#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace millrace::sharding {

/// Why a tensor has axes that no annotation gave it.
struct Cause {
  int dim;
  Axes axes;  ///< all of the dimension's axes afterwards
  int node;   ///< the node it came through
  int source; ///< the tensor it came from, -1 if unknown
};

struct GraphTensor {
  int mesh = -1; ///< -1 as long as there is no sharding
  std::optional<TensorSharding> sharding;
  bool changed = false;
  std::vector<Cause> causes;
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
  /// What operation priorities ask.
  bool passThrough = false, dynamicSlice = false, broadcast = false, singleUse = true;
  bool elementwise = false;
  /// Set for barriers: this direction, whatever the priority.
  std::optional<Direction> only;
};

/// What one visit of a node did. Places are operands, then results.
struct GraphStep {
  struct Edge {
    Axis axis;
    int source;
    llvm::SmallVector<int, 2> targets;
  };
  int number;
  int node; ///< -1 - i: boundary i
  int mesh;
  llvm::SmallVector<Edge, 2> edges;
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
  /// Filled if wanted.
  bool recordsSteps = false;
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

/// In which direction the node propagates along the factor in round `round` (0 to 4) of operation priorities.
Direction directionInRound(const GraphNode &node, int factor, int round);
constexpr int kOpPriorityRounds = 5;

} // namespace millrace::sharding
