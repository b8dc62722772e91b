// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strategies.h - Strategies for sharding an operation -----------------===//
// Plain data without IR.
#pragma once

#include "passes/sharding/mesh/Axes.h"
#include "passes/sharding/rules/Rule.h"

#include <vector>

namespace millrace::autosharding {

/// One strategy: each axis of the mesh shards one factor, or none.
struct Strategy {
  std::vector<sharding::TensorSharding> operands, results; ///< closed
  /// The axes along which the devices' results are partial sums, which are all-reduced.
  sharding::Axes summed;
  /// The shardings in which the results may be kept: `results`, or these sharded along the axes of `summed`, too, which makes the all_reduce a
  /// reduce_scatter.
  std::vector<sharding::TensorSharding> kept;
  double share = 1; ///< part of the work that the busiest device does; more than one divided by the number of shards if these are unequal
};

/// The factors of an operation: its rule, and for each factor whether it can be sharded, and whether into unequal shards.
struct Splittable {
  const sharding::Rule &rule;
  llvm::ArrayRef<bool> factors, uneven;
};

/// Returns all strategies; the first one shards nothing. Factors of kind NeedReplication and Permutation are not sharded.
std::vector<Strategy> strategiesOf(const Splittable &splittable, llvm::ArrayRef<int64_t> mesh);

/// Returns the shardings of a tensor with shards of one size, the replicated one first: each axis shards one dimension, or none.
std::vector<sharding::TensorSharding> shardingsOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> mesh);

/// Returns true if `sharding` satisfies the annotation `wanted`: closed dimensions are equal, open ones may have further axes at the end.
bool agrees(const sharding::TensorSharding &sharding, const sharding::TensorSharding &wanted);

/// Returns the elements of the largest shard.
int64_t elementsOf(llvm::ArrayRef<int64_t> shape, const sharding::TensorSharding &sharding);

} // namespace millrace::autosharding
