// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpRules.h - The rule of every operation ----------------------------===//
// One table, for propagation and for partitioning.
#pragma once

#include "dialects/sdy/Ops.h"
#include "passes/sharding/rules/Rule.h"

#include "mlir/IR/Operation.h"
#include <optional>

namespace millrace::stablehlo {
class SelectAndScatterOp;
}

namespace millrace::sharding {

/// The rule of `op`: the user's (`sdy.sharding_rule`) if there is one. None for operations whose values are not tied by
/// dimension (constants, iota, control flow, unknown custom calls) and for shapes that are not static.
/// `conservative`: no factor where splitting needs an exchange between neighbours.
std::optional<Rule> ruleOf(mlir::Operation *op, bool conservative = false);

/// select_and_scatter split by windows, in operand, source and result alike: where neighbours exchange both.
Rule windowsRule(stablehlo::SelectAndScatterOp op);

/// Returns true if the operation has no rule because none is implemented, not because none exists.
bool isUnknown(mlir::Operation *op);

sdy::OpShardingRuleAttr toAttr(const Rule &rule, mlir::MLIRContext *context);
Rule fromAttr(sdy::OpShardingRuleAttr attr);

/// The static shape, or nothing for values without dimensions.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

namespace detail {
// By family.
std::optional<Rule> dataMovementRule(mlir::Operation *op, bool conservative);
std::optional<Rule> contractionRule(mlir::Operation *op, bool conservative);
std::optional<Rule> reductionRule(mlir::Operation *op, bool conservative);
std::optional<Rule> indexingRule(mlir::Operation *op);
std::optional<Rule> customCallRule(mlir::Operation *op);
/// With the ranks of the operation's values.
RuleBuilder builderFor(mlir::Operation *op);
} // namespace detail

} // namespace millrace::sharding
