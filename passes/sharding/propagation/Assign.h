// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Assign.h - One choice of axes for every factor of an operation -----===//
#pragma once

#include "passes/sharding/propagation/Projection.h"

namespace millrace::sharding {

/// Axes for every factor, such that no axis serves two factors: with all tensors split that way the operation runs on parts.
/// Greedy: of the axes that tensors have, those go first that keep the most elements in place (the sizes of all tensors that
/// have them there already), pass-through factors before others. Factors that need replication get none.
/// `elements`: of every operand and result, where that is not the product of its factors.
llvm::SmallVector<Axes> assignFactors(const Projection &projection, llvm::ArrayRef<Factor> factors,
                                      llvm::ArrayRef<int64_t> elements = {});

/// Axes that all tensors have on a factor that must be whole split the first factors instead that they divide.
void moveToWholeFactors(const Projection &projection, llvm::ArrayRef<Factor> factors, llvm::MutableArrayRef<Axes> assigned);

/// The tensor with the assigned axes in all its factors; overflowing axes are gone.
TensorSharding shardingOf(const TensorFactors &dims, llvm::ArrayRef<Factor> factors, llvm::ArrayRef<Axes> assigned);

} // namespace millrace::sharding
