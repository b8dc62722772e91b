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

/// Copies of operations that a cluster needs for itself.
class Copies {
public:
  mlir::Operation *make(mlir::Operation *op, mlir::OpBuilder &builder);
  /// Everything as it was.
  void undo();

private:
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> made; ///< original, copy
};

/// Between the products: what works on rows of the scores.
bool isRowOperation(mlir::Operation *op);

/// A splat constant or a broadcast of one number.
bool isOneNumber(mlir::Value value);

/// The width of the numbers in which a product of floats is summed up, else 0.
unsigned sumsIn(stablehlo::DotGeneralOp dot);

/// Masks: what costs less to compute than to read joins, as a copy if others need it, too. `products`: whose operands are read from memory.
void joinMasks(Members &members, llvm::function_ref<bool(mlir::Operation *)> isProduct, Copies &copies, unsigned mostOps);

/// A transpose or conversion that alone uses the result joins.
void joinFollowers(Members &members, mlir::Operation *last);

/// The operations in block order, if they pass the check.
std::optional<Cluster> checkedCluster(const Members &members, const KernelCheck &isAttention);

/// Backward passes; `taken`: the operations of the clusters found.
void findGradients(mlir::Block &block, const KernelCheck &isAttention, std::vector<Cluster> &found, llvm::DenseSet<mlir::Operation *> &taken);

} // namespace attention
} // namespace millrace::fusion
