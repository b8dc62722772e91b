// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Forest.h - Trees attached to the core of a cost graph ---------------===//
// Nodes of degree one (and those that become so when these are removed) form trees that are attached to the core or separate. For given prices of
// memory their best choices are a function of the choice of the node to which they are attached, so that only the core has to be searched. In the
// contest's problems three quarters of the nodes are in trees.
#pragma once

#include "passes/autosharding/solver/Model.h"

namespace millrace::autosharding {

/// The structure: the nodes in trees, in an order in which children precede their parents.
struct Forest {
  explicit Forest(const Model &model);

  /// Fact: marks nodes without a place.
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> order;      ///< nodes of trees
  std::vector<const EdgeEnd *> parent; ///< node -> link to its parent; null for roots of separate trees and for the core
  std::vector<uint32_t> core;       ///< the other nodes, ascending
  std::vector<uint32_t> place;      ///< node -> its position in `core`, kNone in trees
  std::vector<uint32_t> firstCoreLink; ///< place -> begin of its part of coreLinks; one more at the end
  std::vector<EdgeEnd> coreLinks;         ///< links between nodes of the core
  std::vector<uint32_t> firstChild, children; ///< node -> its children
  std::vector<size_t> firstBest;              ///< node of a tree -> begin of its part of FoldedForest::best
  size_t bestSize = 0;
};

/// The least costs of the trees for one price per choice, added to the costs of the core.
struct FoldedForest {
  std::vector<double> cost;   ///< choice -> own cost, price, and the least costs of the subtrees of the node
  std::vector<uint16_t> best; ///< node of a tree, choice of its parent -> own choice; one entry for a root
  double alone = 0;           ///< least costs of separate trees
};

/// `priced`: choice -> cost plus price.
void foldForest(const Model &model, const Forest &forest, const std::vector<double> &priced, FoldedForest &folded);

/// Gives every node in `forest.order` its best choice for the choices of the core.
void unfoldForest(const Forest &forest, const FoldedForest &folded, std::vector<uint32_t> &choices);

} // namespace millrace::autosharding
