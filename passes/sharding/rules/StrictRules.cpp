// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StrictRules.cpp - Rules of operations that run on shards -----------===//
#include "passes/sharding/rules/StrictRules.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
namespace {

/// Returns the kind of all-reduce that corresponds to `combine`, the combiner of a reduction; none if there is no such kind.
std::optional<sdy::ReductionOp> kindOf(Operation *combine) {
  bool isBool = getElementTypeOrSelf(combine->getResult(0).getType()).isInteger(1);
  if (isa<stablehlo::AddOp>(combine) && !isBool)
    return sdy::ReductionOp::Sum;
  if (isa<stablehlo::MaxOp>(combine) || (isBool && isa<stablehlo::OrOp>(combine)))
    return sdy::ReductionOp::Max;
  if (isa<stablehlo::MinOp>(combine) || (isBool && isa<stablehlo::AndOp>(combine)))
    return sdy::ReductionOp::Min;
  return std::nullopt;
}

/// Returns true if `factor` is a window dimension of the convolution and there are several windows, or the window extends into the padding.
bool isWindow(stablehlo::ConvolutionOp op, const Rule &rule, int factor) {
  auto numbers = op.getDimensionNumbers();
  for (auto [i, lhs] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    if (!llvm::is_contained(rule.operands[0][lhs], factor))
      continue;
    bool covers = shapeOf(op.getLhs())[lhs] == shapeOf(op.getRhs())[numbers.getKernelSpatialDimensions()[i]] &&
                  shapeOf(op.getResult())[numbers.getOutputSpatialDimensions()[i]] == 1;
    for (uint64_t side = 0; side < 2 && op.getPadding(); ++side)
      covers &= op.getPaddingAttr().getValues<int64_t>()[{uint64_t(i), side}] == 0;
    return !covers;
  }
  return false;
}

/// Returns true if elements move along the dimension although it keeps its size.
bool isShifted(Operation *op, int64_t dim) {
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return pad.getEdgePaddingLow()[dim] != 0 || pad.getEdgePaddingHigh()[dim] != 0 || pad.getInteriorPadding()[dim] != 0;
  auto isLarge = [&](std::optional<ArrayRef<int64_t>> sizes) { return sizes && !sizes->empty() && (*sizes)[dim] != 1; };
  auto isPadded = [&](DenseIntElementsAttr padding) {
    return padding && (padding.getValues<int64_t>()[{uint64_t(dim), 0}] != 0 || padding.getValues<int64_t>()[{uint64_t(dim), 1}] != 0);
  };
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
    return isLarge(window.getWindowDimensions()) || isLarge(window.getWindowStrides()) || isLarge(window.getBaseDilations()) ||
           isLarge(window.getWindowDilations()) || isPadded(window.getPaddingAttr());
  if (auto scatter = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    return isLarge(scatter.getWindowDimensions()) || isLarge(scatter.getWindowStrides()) || isPadded(scatter.getPaddingAttr());
  return false;
}

int countWith(ArrayRef<TensorFactors> tensors, int factor) {
  return llvm::count_if(tensors, [&](const TensorFactors &dims) {
    return llvm::any_of(dims, [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
  });
}

} // namespace

std::optional<sdy::ReductionOp> reductionOf(Operation *op) {
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  auto scatter = dyn_cast<stablehlo::ScatterOp>(op);
  if (!reduce && !scatter)
    return sdy::ReductionOp::Sum;
  Operation *combine = stablehlo::combinerOf(reduce ? reduce.getBody() : scatter.getUpdateComputation());
  return combine ? kindOf(combine) : std::nullopt;
}

std::optional<Rule> strictRuleOf(Operation *op) {
  auto rule = ruleOf(op);
  if (!rule || rule->custom)
    return rule;
  std::optional<sdy::ReductionOp> kind = reductionOf(op);
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
  bool isReshape = isa<stablehlo::ReshapeOp>(op);
  for (auto [number, factor] : llvm::enumerate(rule->factors)) {
    bool isSum = factor.kind == FactorKind::Reduction;
    if (isSum && (!kind || (convolution && isWindow(convolution, *rule, number))))
      factor.kind = FactorKind::NeedReplication;
    int before = countWith(rule->operands, number), after = countWith(rule->results, number);
    // A unit dimension that a single tensor has cannot be sharded.
    if ((isReshape && (!before || !after)) || (factor.size == 1 && before + after == 1))
      factor.kind = FactorKind::NeedReplication;
  }
  // A dimension that is larger than the product of its factors depends on elements that the rule does not describe.
  auto keepWhole = [&](ValueRange values, ArrayRef<TensorFactors> tensors) {
    for (auto [value, dims] : llvm::zip_equal(values, tensors))
      for (auto [size, factors] : llvm::zip(shapeOf(value), dims)) {
        int64_t product = 1;
        for (int factor : factors)
          product *= rule->factors[factor].size;
        for (int factor : factors)
          if (product != size && rule->factors[factor].kind != FactorKind::Permutation)
            rule->factors[factor].kind = FactorKind::NeedReplication;
      }
  };
  keepWhole(op->getOperands(), rule->operands);
  keepWhole(op->getResults(), rule->results);
  if (isa<stablehlo::PadOp, stablehlo::ReduceWindowOp, stablehlo::SelectAndScatterOp>(op))
    for (auto [dim, factors] : llvm::enumerate(rule->operands[0]))
      for (int factor : factors)
        if (rule->factors[factor].kind == FactorKind::PassThrough && isShifted(op, dim))
          rule->factors[factor].kind = FactorKind::Permutation;
  return rule;
}

} // namespace millrace::sharding
