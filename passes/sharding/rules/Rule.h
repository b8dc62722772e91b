// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rule.h - Which dimensions of an operation belong together ----------===//
// A dimension is a product of factors; the same factor in several tensors is the same index of the computation. `a @ b` is
// ([i, k], [k, j]) -> [i, j], with k a reduction; merging dimensions of 2 and 4 into 8 is [i, j] -> [ij].
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace millrace::sharding {

enum class FactorKind {
  PassThrough,     ///< split everywhere alike, nothing to communicate
  Reduction,       ///< split operands give partial results: an all-reduce
  NeedReplication, ///< must be whole where the operation runs
  Permutation      ///< neighbours exchange parts
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::PassThrough;
  bool blocked = false; ///< shardings do not propagate along it
  bool operator==(const Factor &) const = default;
};

/// Factors of a dimension, major to minor.
using DimFactors = llvm::SmallVector<int, 2>;
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

struct Rule {
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<TensorFactors, 2> operands, results;
  bool custom = false; ///< the user's
  bool operator==(const Rule &) const = default;
};

/// Fact: a mark: no dimension.
constexpr int64_t kNoDim = -1;

/// Collects factors one by one; factor numbers are in order of the calls. Dimensions that get none receive a factor of size 1
/// in build().
class RuleBuilder {
public:
  RuleBuilder(llvm::ArrayRef<int64_t> operandRanks, llvm::ArrayRef<int64_t> resultRanks);

  using Kinds = llvm::function_ref<FactorKind(int64_t dim)>;

  /// A factor at `operandDims[i]` of operand i and `resultDims[i]` of result i; later factors of a dimension are minor.
  RuleBuilder &add(llvm::ArrayRef<int64_t> operandDims, llvm::ArrayRef<int64_t> resultDims, int64_t size,
                   FactorKind kind = FactorKind::PassThrough, bool blocked = false);
  /// A factor at dimension `dim` of all tensors that have dimensions.
  RuleBuilder &addEverywhere(int64_t dim, int64_t size, FactorKind kind = FactorKind::PassThrough, bool blocked = false);
  /// addEverywhere for every dimension of `shape`.
  RuleBuilder &addPointwise(llvm::ArrayRef<int64_t> shape, Kinds kind = [](int64_t) { return FactorKind::PassThrough; },
                            bool blocked = false);
  /// The same, but a dimension whose size differs in `other` is of `kind`. Sizes are those of `shape`.
  RuleBuilder &addPointwiseUnlessDifferent(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> other, FactorKind kind,
                                           bool blocked = false);
  Rule build();

private:
  Rule rule;
};

/// All tensors have the shape, and are sharded alike.
Rule identityRule(llvm::ArrayRef<int64_t> shape, size_t operands, size_t results);

} // namespace millrace::sharding
