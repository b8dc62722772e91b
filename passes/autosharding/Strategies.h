// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strategies.h - The ways in which devices can share an operation ----===//
// Plain data.
#pragma once

#include "passes/sharding/mesh/Axes.h"
#include "passes/sharding/rules/Rule.h"

#include <vector>

namespace millrace::autosharding {

/// One way: each axis of the mesh splits one factor, or none.
struct Strategy {
  std::vector<sharding::TensorSharding> operands, results; ///< closed
  /// The axes along which results are sums of summands that the devices have: they are all-reduced.
  sharding::Axes summed;
  /// How the results are kept: as `results`, or split along the axes of `summed`, too, which makes the all_reduce a reduce_scatter.
  std::vector<sharding::TensorSharding> kept;
  double share = 1; ///< of the work, that the busiest device does: more than one of as many parts where these are not equal
};

/// What can be split of an operation: the rule, and for each factor whether that is possible, and whether into unequal parts.
struct Splittable {
  const sharding::Rule &rule;
  llvm::ArrayRef<bool> factors, uneven;
};

/// All of them; the first one leaves everything whole. Factors of kind NeedReplication and Permutation stay whole.
std::vector<Strategy> strategiesOf(const Splittable &splittable, llvm::ArrayRef<int64_t> mesh);

/// The ways to split a tensor whose parts are of one size, the whole one first: each axis splits one dimension, or none.
std::vector<sharding::TensorSharding> shardingsOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> mesh);

/// Whether a user who wrote `wanted` is content with `sharding`: closed dimensions as written, open ones with further axes at the end.
bool agrees(const sharding::TensorSharding &sharding, const sharding::TensorSharding &wanted);

/// Elements of the largest part.
int64_t elementsOf(llvm::ArrayRef<int64_t> shape, const sharding::TensorSharding &sharding);

} // namespace millrace::autosharding
