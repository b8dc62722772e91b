// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Projection.h - From axes of dimensions to axes of factors and back -===//
#pragma once

#include "passes/sharding/mesh/Axes.h"
#include "passes/sharding/rules/Rule.h"

namespace millrace::sharding {

/// The axes that split one factor of one tensor.
struct FactorAxes {
  int factor = 0;
  Axes axes;
  /// Axes of the dimension after `axes` which no whole number of parts of the factor fits: they stay where they are, and
  /// nothing can be added behind.
  Axes overflow;
  bool closed = false;
  bool minorMost = false; ///< the last factor of its dimension: may be split unevenly
};

/// One tensor of an operation, factor by factor.
struct ProjectedTensor {
  llvm::SmallVector<FactorAxes, 4> factors;
  Axes replicated, unreduced;

  FactorAxes *find(int factor);
  const FactorAxes *find(int factor) const { return const_cast<ProjectedTensor *>(this)->find(factor); }
};

struct Projection {
  llvm::SmallVector<ProjectedTensor, 2> operands, results;
};

/// Hands the axes of each dimension to its factors, major to minor, splitting axes where a factor ends. Null: open and not
/// split.
ProjectedTensor project(const TensorSharding *sharding, const TensorFactors &dims, llvm::ArrayRef<Factor> factors);

/// The dimensions' axes again. A dimension ends at the first factor that is not split completely: what would follow is no
/// contiguous part.
TensorSharding unproject(const ProjectedTensor &tensor, const TensorFactors &dims, llvm::ArrayRef<Factor> factors);

} // namespace millrace::sharding
