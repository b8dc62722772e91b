// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Forest.h - What hangs on the core of a cost graph ------------------===//
// Nodes of degree one (and those that become so when these are gone) make up trees that hang on the core, or stand alone. For given prices of
// memory their best choices are a function of the choice they hang on, so that the core alone is left to be searched. In the contest's
// problems three quarters of the nodes are in trees.
#pragma once

#include "passes/autosharding/solver/Model.h"

namespace millrace::autosharding {

/// The shape: which nodes are in trees, in an order in which children come before their parents.
struct Forest {
  explicit Forest(const Model &model);

  /// Fact: a mark: no place.
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> order;      ///< nodes of trees
  std::vector<const Link *> parent; ///< node -> how it hangs on its parent; null for roots of trees that stand alone and for the core
  std::vector<uint32_t> core;       ///< the other nodes, ascending
  std::vector<uint32_t> place;      ///< node -> its position in `core`, kNone in trees
  std::vector<uint32_t> firstCoreLink; ///< place -> its part of coreLinks; one more at the end
  std::vector<Link> coreLinks;         ///< links between nodes of the core
  std::vector<uint32_t> firstChild, children; ///< node -> nodes that hang on it
  std::vector<size_t> firstBest;              ///< node of a tree -> its part of FoldedForest::best
  size_t bestSize = 0;
};

/// The trees' least costs for one price per choice, as additions to the costs of the core.
struct FoldedForest {
  std::vector<double> cost;   ///< choice -> own cost, price, and the least costs of what hangs on the node
  std::vector<uint16_t> best; ///< node of a tree, choice of its parent -> own choice; one entry for a root
  double alone = 0;           ///< least costs of trees that stand alone
};

/// `priced`: choice -> cost plus price.
void foldForest(const Model &model, const Forest &forest, const std::vector<double> &priced, FoldedForest &folded);

/// Gives every node in `forest.order` its best choice for the choices of the core.
void unfoldForest(const Forest &forest, const FoldedForest &folded, std::vector<uint32_t> &choices);

} // namespace millrace::autosharding
