// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attention.h - Find softmax(q k^T) v in a block ---------------------===//
#pragma once

#include "passes/fusion/FusionPlan.h"

namespace millrace::fusion {

/// The operations of each attention in the block that pays as one kernel: a product, what turns its rows into weights, the product of
/// those, and the transpose and conversion behind it. No operation but the last has users outside its cluster. Masks that several of
/// them share are cloned, so that each cluster has its own.
std::vector<Cluster> findAttention(mlir::Block &block);

} // namespace millrace::fusion
