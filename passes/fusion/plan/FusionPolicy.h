// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPolicy.h - Legality and profit of fusing an operation --------===//
//
// The decisions of kernel fusion, apart from the graph algorithm (FusionPlan) and the mechanics (FuseKernels.cpp).
// Everything here looks at one operation, or at one operation and the summary of a cluster.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace millrace::fusion {

/// The role of an operation in fusion.
enum class OpRole {
  TopLevel,    ///< never inside a kernel: control flow, calls, collectives, custom calls, data constants, aliases
  Duplicated,  ///< cloned into each kernel that uses it: splat constants, iota, broadcasts of scalars
  Elementwise, ///< result[i] needs operand[i] only
  Broadcast,   ///< broadcast_in_dim of a non-scalar
  Reduction,   ///< stablehlo.reduce
  Contraction, ///< dot, dot_general, convolution
  Alone,       ///< a kernel of its own unless the whole cluster is tiny
};

OpRole classify(mlir::Operation *op);

/// Returns true if all operands and results of `op` have at most a few hundred elements and its loops are short. Such an operation costs less than
/// launching a kernel, so that any mix of them shares one.
bool isTiny(mlir::Operation *op);

/// Returns the first element of the static slice `op` in its operand, if the slice is contiguous there; else none.
std::optional<int64_t> wholeRange(mlir::Operation *op);

/// Returns the select_and_scatter whose result `op` slices, if the slice removes just the padding that a constant pad has added to the operand, and
/// nothing else uses the values between: the gradient of max pooling as JAX writes it. As one kernel it never stores the padding.
stablehlo::SelectAndScatterOp paddedScatterOf(mlir::Operation *op);

/// Returns true if the result is an alias of the operand: the program builder gives both one buffer.
bool isAlias(mlir::Operation *op);

/// Returns true if all types have static shapes and vectorizable element types.
bool hasVectorizableTypes(mlir::Operation *op);

/// Returns true for numbers that vectors hold, or that are widened to such from fewer bits than a byte has (each of them is a byte in memory).
bool hasNumbers(mlir::Operation *op);

/// Returns the bytes of a tensor of integers or floats in memory, where an element has a byte or more. None for other types and unknown sizes.
std::optional<int64_t> bytesOf(mlir::Type type);

/// Erases the operation of `value`, and operands that only it uses, if the value is unused.
void eraseUnused(mlir::Value value);

/// A shape of a kernel's iteration space. Reshapes inside the kernel (views) give it further ones, all of the same elements in the same row-major
/// order, so that a value's element at some position is the same in each of them.
struct Domain {
  llvm::SmallVector<int64_t> shape; ///< mlir::ShapedType::kDynamic for unknown sizes
  int64_t rowRank = kNoReduction;   ///< dimensions [0, rowRank) index rows

  /// Fact: `rowRank` of a kernel without a reduction.
  static constexpr int64_t kNoReduction = -1;
  /// Fact: `rowRank` if a row ends inside of a dimension.
  static constexpr int64_t kNoRowDimensions = -2;
  bool hasRows() const { return rowRank != kNoReduction; }
  /// Returns true if a value of this shape has one element per point of the domain, or one per row.
  bool fits(llvm::ArrayRef<int64_t> value) const;
};

/// The properties of a growing cluster that the policy reads.
struct ClusterSummary {
  bool tiny = true;
  bool closed = false;             ///< an Alone root: takes no producers unless tiny
  mlir::Operation *contraction = nullptr;
  mlir::Operation *transpose = nullptr; ///< the root
  stablehlo::SelectAndScatterOp scatter; ///< paddedScatterOf(root)
  bool isConcatenation = false;    ///< the root concatenates slices, which are read in place
  bool columnReduction = false;    ///< the root reduces leading dimensions: only its own producers may join
  llvm::SmallVector<Domain, 1> domains; ///< the root's, and those that views have given
  llvm::DenseMap<mlir::Operation *, unsigned> domainOf; ///< index of the domain in which a member's result is computed
  mlir::Operation *reduction = nullptr; ///< a reduction of more than a few elements
  unsigned numOps = 0;
  int64_t functions = 0;           ///< evaluations of transcendental functions, counted until a reduction or a contraction joins

  /// Starts the summary with the root operation.
  void start(mlir::Operation *root);
  /// Accounts for a producer that `shouldJoin` accepted, whose readers in the cluster read it in `domain`.
  void add(mlir::Operation *producer, const Domain &domain);
  /// Returns the domain in which the operand of `view` is read if its result is read in `domain`. None if no loop nest iterates over both, because the
  /// shapes of the view have no common refinement with the other domains.
  std::optional<Domain> behind(stablehlo::ReshapeOp view, const Domain &domain) const;
  /// Returns the domain of the root, in which operands are read unless a view is between.
  const Domain &rootDomain() const { return domains.front(); }

private:
  unsigned indexOf(const Domain &domain);
  void setRows(unsigned domain, int64_t rowRank);
};

/// How the readers in a cluster read a producer.
struct Reading {
  Domain domain;
  bool isThroughView = false; ///< some readers read a reshape of it
  bool isRegrouped = false;   ///< such a reshape does more than add or drop unit dimensions
  bool isFromMemory = false;  ///< one reader is the cluster's contraction, a slice, or a gather whose operand it is
};

/// Returns true for a reshape that costs nothing in a kernel that computes its operand.
bool isView(mlir::Operation *op);

/// Returns true if `producer`, whose earliest consumer is in the cluster, should be computed there. On refusal `why` is set to the reason, one
/// phrase.
bool shouldJoin(mlir::Operation *producer, const ClusterSummary &cluster, const Reading &reading, llvm::StringRef &why);

} // namespace millrace::fusion
