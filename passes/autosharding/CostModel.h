// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CostModel.h - Seconds and bytes of a way to share an operation -----===//
#pragma once

#include "dialects/sdy/Ops.h"
#include "passes/autosharding/Machine.h"
#include "passes/autosharding/Strategies.h"
#include "passes/spmd/ReshardPlan.h"

#include "mlir/IR/Operation.h"
#include <map>

namespace millrace::autosharding {

/// What a collective costs one device.
struct Transfer {
  double seconds = 0, bytes = 0; ///< bytes that come from other devices
};

class CostModel {
public:
  CostModel(const Machine &machine, sdy::MeshAttr mesh);

  llvm::ArrayRef<int64_t> mesh() const { return sizes; }
  const Machine &machine() const { return description; }

  /// Seconds in which a device does its part, limited by arithmetic or by memory, whichever takes longer. Operations that fusion makes part of
  /// their readers' or writers' kernels count what they write, or nothing.
  double secondsOf(mlir::Operation *op, const Strategy &strategy) const;
  /// The all_reduce or reduce_scatter of results that are sums. `canWait`: nobody needs them soon, so that the partitioner sends several in a
  /// message (xla-spmd-combine-collectives), of whose latency each has a share.
  Transfer reductionOf(mlir::Operation *op, const Strategy &strategy, bool canWait) const;
  /// The partitioner's own plan (passes/spmd/ReshardPlan.h), priced by the links.
  Transfer reshard(mlir::Type type, const sharding::TensorSharding &from, const sharding::TensorSharding &to);

private:
  struct Move {
    int64_t elements, messages; ///< that come to a device from others, and in which they come
    int64_t operand, result;    ///< elements on a device before and afterwards
  };
  spmd::Placement placementOf(const sharding::TensorSharding &sharding) const;

  Machine description;
  sdy::MeshAttr meshAttr;
  sharding::MeshSizes sizes;
  spmd::Scope scope;
  std::map<std::string, llvm::SmallVector<Move, 2>> plans;
};

} // namespace millrace::autosharding
