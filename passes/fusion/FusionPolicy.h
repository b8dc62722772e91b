// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPolicy.h - Legality and profit of fusing an operation --------===//
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

/// True if every value in and around `op` has at most a few hundred elements and its loops are short: such an
/// operation costs less than the launch of a kernel, so that any mix of them shares one.
bool isTiny(mlir::Operation *op);

/// Returns the first element of the static slice `op` in its operand, if the slice is contiguous there; else none.
std::optional<int64_t> wholeRange(mlir::Operation *op);

/// True if the operation only renames bytes: the program builder gives its result the operand's buffer.
bool isAlias(mlir::Operation *op);

/// Static shapes, and numbers that vectors hold.
bool hasPlainNumbers(mlir::Operation *op);

/// Erases the operation of `value`, and operands that only it uses, if the value is unused.
void eraseUnused(mlir::Value value);

/// The properties of a growing cluster that the policy reads.
struct ClusterSummary {
  bool tiny = true;
  bool closed = false;             ///< an Alone root: takes no producers unless tiny
  mlir::Operation *contraction = nullptr;
  mlir::Operation *transpose = nullptr; ///< the root
  bool joinsPieces = false;        ///< a concatenation, whose operands are read in place
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

/// Returns true if `producer`, whose earliest consumer is in the cluster, should be computed there. `isReadFromMemory`: one of its users in the
/// cluster is the cluster's contraction, a slice, or a gather whose table it is. On refusal `why` is set to the reason, one phrase.
bool shouldJoin(mlir::Operation *producer, const ClusterSummary &cluster, bool isReadFromMemory, llvm::StringRef &why);

} // namespace millrace::fusion
