// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpRules.h - Which factors of an operation can be computed in parts -===//
// The rules are those of propagation (passes/sharding/rules/OpRules.h). Propagation may choose axes with which an operation needs communication;
// these rules say where the operation on tiles of its operands yields tiles of its result.
#pragma once

#include "passes/sharding/rules/OpRules.h"
#include "passes/spmd/Placement.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace millrace::spmd {

/// A rule, and for each factor whether splitting it is possible, whether into tiles that do not divide it, and whether
/// elements move along it (PartitionMoved.cpp): then dimensions that have it differ in size.
struct SplitRule {
  sharding::Rule rule;
  llvm::SmallVector<bool> splittable, canFillUp, moving;

  bool isReduced(int factor) const { return rule.factors[factor].kind == sharding::FactorKind::Reduction; }
};

/// All dimensions whole if nothing is known about the operation.
SplitRule splitRuleOf(mlir::Operation *op);

/// Dimensions of operand 0 along which the operation moves elements.
llvm::SmallVector<int64_t> movingDims(mlir::Operation *op);

/// Returns the tiles of every factor of one tensor, as far as tiles of its dimensions consist of whole factors.
llvm::SmallVector<std::pair<int, Tiles>> tilesOfFactors(const Placement &placement, const sharding::TensorFactors &dims,
                                                        llvm::ArrayRef<sharding::Factor> factors);

/// The dimensions' tiles, given those of factors. Nothing if a factor is cut behind one that is not cut into single elements:
/// what a device would hold is no contiguous part.
std::optional<Placement> placementOfFactors(const sharding::TensorFactors &dims, llvm::ArrayRef<sharding::Factor> factors,
                                            llvm::ArrayRef<const Tiles *> assigned);

/// Attributes of `local`, a copy of an operation with local types, that name sizes of split dimensions.
void localizeAttributes(mlir::Operation *local);

} // namespace millrace::spmd
