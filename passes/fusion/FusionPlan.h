// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPlan.h - Which operations of a block share a kernel ----------===//
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace millrace::fusion {

/// Operations that become one kernel, in block order. The kernel runs at the position of the last one, the root.
struct Cluster {
  llvm::SmallVector<mlir::Operation *> ops;
  bool isAttention = false;
  mlir::Operation *root() const { return ops.back(); }
};

/// Why a producer stayed outside the kernel of its earliest consumer.
struct MissedFusion {
  mlir::Operation *producer;
  mlir::Operation *consumerRoot;
  std::string why;
};

struct FusionPlan {
  std::vector<Cluster> clusters; ///< in order of their roots
  std::vector<MissedFusion> missed;
};

/// Plans the kernels of one block. Operations of role TopLevel and Duplicated are in no cluster.
///
/// One scan from the last operation to the first: an operation joins the kernel of its *earliest* consumer if the
/// policy agrees, else it is the root of a kernel. All other consumers run later than that kernel, therefore every
/// edge between kernels points forward and no cycle can arise; a value with later consumers becomes a further
/// output. Linear in the number of uses.
/// `settled`: clusters that stay as they are; users of their results come after their roots.
FusionPlan planFusion(mlir::Block &block, llvm::ArrayRef<Cluster> settled);

/// Gives each of several kernels its own copy of what is cheaper to compute than to write and read. Before planFusion. Leaves alone
/// what `settled` clusters hold and read.
void repeatCheapOperations(mlir::Block &block, llvm::ArrayRef<Cluster> settled);

/// Lets concatenations of parts of concatenations read what these were made of. Before planFusion.
void composePieces(mlir::Block &block);

/// Computes of stacked values part by part what others take apart again (SplitStacks.cpp). Before composePieces.
void splitStacks(mlir::Block &block);

/// Gives scale and shift of a normalization its shape (BehindReshapes.cpp). Before planFusion.
void moveBehindReshapes(mlir::Block &block);

/// Computes of joined values part by part what is computed of them, and joins the results (ComputedJoins.cpp): kernels that are settled. Leaves alone
/// what `settled` clusters hold.
std::vector<Cluster> splitJoins(mlir::Block &block, llvm::ArrayRef<Cluster> settled);

/// Adds up products with a matrix that is computed of fewer bytes while it is computed (ComputedFactors.cpp). Before splitReductions.
void sumComputedFactors(mlir::Block &block);

/// Makes two reductions of one of many elements to a single number, the first of which threads can share. Before planFusion.
void splitReductions(mlir::Block &block);
/// Gives images with few channels their borders row by row (MergePads.cpp).
void mergePads(mlir::Block &block);
/// Which narrow numbers the target multiplies in tiles.
struct MatrixUnit {
  bool bf16 = false, int8 = false;
};
/// Gives sums of products lengths that the matrix unit takes (PadSums.cpp). Leaves alone what `settled` clusters hold.
void padSums(mlir::Block &block, llvm::ArrayRef<Cluster> settled, const MatrixUnit &unit);

/// Scatters of much to little in parts (SplitScatters.cpp).
void splitScatters(mlir::Block &block);

} // namespace millrace::fusion
