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
FusionPlan planFusion(mlir::Block &block);

} // namespace millrace::fusion
