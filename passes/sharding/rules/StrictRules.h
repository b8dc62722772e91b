// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StrictRules.h - Rules for running on parts -------------------------===//
#pragma once

#include "passes/sharding/rules/OpRules.h"

namespace millrace::sharding {

/// ruleOf, as far as devices can keep to it without looking at each other's parts: along which shardings may propagate, an
/// operation cannot always run. Dimensions of one size into which something is shifted are permutations; sums that devices
/// cannot combine, windows that are more than one sum, and what only one side of a reshape has need replication.
std::optional<Rule> strictRuleOf(mlir::Operation *op);

/// How devices combine their results of an operation whose reduction factors are split; none if there is no such way.
std::optional<sdy::ReductionOp> reductionOf(mlir::Operation *op);

} // namespace millrace::sharding
