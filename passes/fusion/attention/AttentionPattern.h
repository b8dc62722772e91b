// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionPattern.h - Find softmax(q k^T) v in a block --------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPlan.h"
#include "passes/fusion/Passes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace millrace::fusion {

/// Returns the operations of each attention in the block that pays as one kernel and passes the check: a product, the computation of weights from its
/// rows, the product with those, and a following transpose and conversion; and backward passes, which compute the weights again. Users of a cluster's
/// results come after its root: operations of backward passes move for that. Masks that several clusters share are cloned, so that each has its own.
std::vector<Cluster> findAttention(mlir::Block &block, const KernelCheck &isAttention);

namespace attention {

using Members = llvm::SetVector<mlir::Operation *>;

/// A cluster with more operations between its products is not looked at as attention. Unit: operations. Source: judgement, not measured alone; commit
/// a1f431d has the figures of the whole change.
inline constexpr unsigned kMaxAttentionOps = 64;
/// Fewer queries than this are not worth packing keys and values for. Unit: rows. Source: judgement, not measured alone; commit a1f431d has the
/// figures of the whole change.
inline constexpr int64_t kMinQueryRows = 16;
/// Fewer keys than this do not fill a vector of scores. Unit: keys. Source: judgement, not measured alone; commit a1f431d has the figures of the
/// whole change.
inline constexpr int64_t kMinKeys = 16;
/// A wider head's row of sums does not stay in registers and the nearest cache beside the scores. Unit: elements of a head. Source: judgement, not
/// measured alone; commit a1f431d has the figures of the whole change.
inline constexpr int64_t kMaxHeadElements = 512;

/// Copies of operations that a cluster shares with other users.
class Copies {
public:
  mlir::Operation *make(mlir::Operation *op, mlir::OpBuilder &builder);
  /// Erases the copies and restores the uses of the originals.
  void undo();

private:
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> made; ///< original, copy
};

/// Returns true for operations that may stand between the two contractions: they work on rows of the scores.
bool isRowOperation(mlir::Operation *op);

/// Returns true for a splat constant and for a broadcast of a tensor of one element.
bool isSplat(mlir::Value value);

/// Returns the bits of the accumulator of a contraction of floats; 0 for other types.
unsigned sumsIn(stablehlo::DotGeneralOp dot);

/// Returns the dimensions of the left, or right, operand that are neither batching nor contracting dimensions.
llvm::SmallVector<int64_t> freeDimensions(stablehlo::DotGeneralOp dot, bool isLhs);
/// Returns the number of elements along these dimensions.
int64_t freeElements(stablehlo::DotGeneralOp dot, bool isLhs);

/// Returns true if the scores have so many queries and keys that computing them a tile at a time pays, and `product`, a contraction of what is computed
/// from them, sums in the same type.
bool haveTiles(stablehlo::DotGeneralOp scores, stablehlo::DotGeneralOp product);

/// Adds operations that cost less than reading their results, such as masks; copies of those that have other users, too. Operands of contractions
/// (`isProduct`) are read from memory.
void joinMasks(Members &members, llvm::function_ref<bool(mlir::Operation *)> isProduct, Copies &copies, unsigned mostOps);

/// Adds a transpose or conversion that is the only user of the result of `last`.
void joinFollowers(Members &members, mlir::Operation *last);

/// Returns the cluster of these operations, in block order, if it passes the check.
std::optional<Cluster> checkedCluster(const Members &members, const KernelCheck &isAttention);

/// Finds backward passes. `taken` are the operations of the clusters in `found`.
void findGradients(mlir::Block &block, const KernelCheck &isAttention, std::vector<Cluster> &found, llvm::DenseSet<mlir::Operation *> &taken);

} // namespace attention
} // namespace millrace::fusion
