// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CostModel.h - Seconds and bytes of a strategy -----------------------===//
#pragma once

#include "dialects/sdy/Ops.h"
#include "passes/autosharding/Machine.h"
#include "passes/autosharding/Strategies.h"
#include "passes/spmd/ReshardPlan.h"

#include "mlir/IR/Operation.h"
#include <map>

namespace millrace::autosharding {

/// The cost of a collective for one device.
struct Transfer {
  double seconds = 0, bytes = 0; ///< bytes that the device receives
};

class CostModel {
public:
  CostModel(const Machine &machine, sdy::MeshAttr mesh, bool sumsShareMessages);

  llvm::ArrayRef<int64_t> mesh() const { return sizes; }
  const Machine &machine() const { return description; }
  /// Returns true if all_reduces that no contraction waits for may be combined; otherwise each has a message of its own.
  bool doSumsShareMessages() const { return sharesMessages; }

  /// Returns the seconds in which a device computes its shard, limited by arithmetic or by memory, whichever takes longer. Operations that fusion
  /// merges into their readers' or writers' kernels count only what they write, or nothing.
  double secondsOf(mlir::Operation *op, const Strategy &strategy) const;
  /// Returns the seconds of one message for each set of axes over which sums can go: the most that a step takes longer if sums are planned to share
  /// messages and too few of them do.
  double secondsOfSharedMessages() const;
  /// Returns the cost of the all_reduce or reduce_scatter of results that are partial sums. The partitioner combines all_reduces of which no reader
  /// follows soon (xla-spmd-combine-collectives), so that each pays a share of a message's latency: its part of the most bytes of a message, and at
  /// least `leastShare`, because all combined sums together pay for one message even if they are small. 1: the sum has a message of its own.
  Transfer reductionOf(mlir::Operation *op, const Strategy &strategy, double leastShare) const;
  /// Returns the cost of the partitioner's own plan (passes/spmd/ReshardPlan.h) on the links.
  Transfer reshard(mlir::Type type, const sharding::TensorSharding &from, const sharding::TensorSharding &to);

private:
  struct Move {
    int64_t elements, messages; ///< elements that a device receives, and the number of messages
    int64_t operand, result;    ///< elements on a device before and after
  };
  spmd::Placement placementOf(const sharding::TensorSharding &sharding) const;

  Machine description;
  sdy::MeshAttr meshAttr;
  sharding::MeshSizes sizes;
  bool sharesMessages;
  spmd::Scope scope;
  std::map<std::string, llvm::SmallVector<Move, 2>> plans;
};

} // namespace millrace::autosharding
