// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPolicy.h - What may and what should share a kernel -----------===//
//
// The decisions of kernel fusion, apart from the graph algorithm (FusionPlan) and the mechanics (FuseKernels.cpp).
// Everything here looks at one operation, or at one operation and the summary of a cluster.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace millrace::fusion {

/// How an operation takes part in fusion.
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

/// True if every value in and around `op` has at most a few hundred elements and its loops are short: such an
/// operation costs less than the launch of a kernel, so that any mix of them shares one.
bool isTiny(mlir::Operation *op);

/// Where the elements of `op`, a static slice, begin in its operand, counted in elements, if they lie side by side there; else none.
std::optional<int64_t> wholeRange(mlir::Operation *op);

/// True if the operation only renames bytes: the program builder gives its result the operand's buffer.
bool isAlias(mlir::Operation *op);

/// Static shapes, and numbers that vectors hold.
bool hasPlainNumbers(mlir::Operation *op);

/// Erases `value`'s operation and what it alone needs, if nobody needs them.
void eraseUnused(mlir::Value value);

/// What the policy needs to know of a growing cluster.
struct ClusterSummary {
  bool tiny = true;
  bool closed = false;             ///< an Alone root: takes no producers unless tiny
  mlir::Operation *contraction = nullptr;
  mlir::Operation *transpose = nullptr; ///< the root
  bool joinsPieces = false;        ///< a concatenation: pieces of other values are read where they lie
  bool columnReduction = false;    ///< the root reduces leading dimensions: only its own producers may join
  llvm::SmallVector<int64_t> domain; ///< iteration space; mlir::ShapedType::kDynamic for unknown sizes
  bool domainKnown = false;
  int64_t rowRank = -1;            ///< dimensions [0, rowRank) of the domain index rows; -1 while there is no reduction
  mlir::Operation *reduction = nullptr; ///< one of more than a few elements
  unsigned numOps = 0;
  int64_t functions = 0;           ///< numbers that functions of dozens of operations give, before there is a reduction

  /// Starts the summary with the root operation.
  void start(mlir::Operation *root);
  /// Accounts for a producer that `shouldJoin` accepted.
  void add(mlir::Operation *producer);
};

/// Whether `producer`, whose earliest consumer is in the cluster, should be computed there too. `isReadFromMemory`:
/// one of its in-cluster users is the cluster's contraction, a slice, or a gather whose table it is. On refusal `why` says so in one phrase.
bool shouldJoin(mlir::Operation *producer, const ClusterSummary &cluster, bool isReadFromMemory, llvm::StringRef &why);

} // namespace millrace::fusion
