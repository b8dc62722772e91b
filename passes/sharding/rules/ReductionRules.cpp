// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionRules.cpp - Rules of reductions, windows, sorts, random bits -===//
#include "passes/sharding/rules/OpRules.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
namespace {

Rule reduceRule(ReduceOp op) {
  RuleBuilder builder = detail::builderFor(op);
  size_t inputs = op.getInputs().size();
  int64_t next = 0;
  // Inputs, then as many initial values, which have no dimensions.
  SmallVector<int64_t> in(2 * inputs, kNoDim);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    std::fill_n(in.begin(), inputs, int64_t(dim));
    bool reduced = llvm::is_contained(op.getDimensions(), int64_t(dim));
    SmallVector<int64_t> out(inputs, reduced ? kNoDim : next);
    next += !reduced;
    builder.add(in, out, size, reduced ? FactorKind::Reduction : FactorKind::PassThrough);
  }
  return builder.build();
}

Rule sortRule(SortOp op) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  int64_t sorted = op.getDimension() < 0 ? op.getDimension() + int64_t(shape.size()) : op.getDimension();
  // With another dimension the cut can move there.
  bool alone = true;
  for (auto [dim, size] : llvm::enumerate(shape))
    alone &= int64_t(dim) == sorted || size == 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (int64_t(dim) == sorted)
      builder.addEverywhere(dim, size, FactorKind::NeedReplication, alone);
    else
      builder.addEverywhere(dim, size);
  }
  return builder.build();
}

/// Batches and positions are summed over, features are apart. Operands and results are tensors like the first operand or
/// lists of one value per feature.
Rule batchNormRule(Operation *op, int64_t feature, bool reduces) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  for (auto [dim, size] : llvm::enumerate(shape)) {
    auto place = [&, dim = int64_t(dim)](ValueRange values) {
      return llvm::map_to_vector(values, [&](Value value) {
        if (shapeOf(value).size() == shape.size() && shape.size() > 1)
          return dim;
        return dim == feature ? int64_t(0) : kNoDim;
      });
    };
    // Sums over the reduced dimensions are operands of the large result again.
    bool whole = reduces && int64_t(dim) != feature;
    builder.add(place(op->getOperands()), place(op->getResults()), size,
                whole ? FactorKind::NeedReplication : FactorKind::PassThrough);
  }
  return builder.build();
}

/// Windows of one element side by side: the dimension is as before.
template <typename Op> bool isPlainWindow(Op op, int64_t dim) {
  auto isOne = [&](std::optional<ArrayRef<int64_t>> list) { return !list || (*list)[dim] == 1; };
  if (DenseIntElementsAttr padding = op.getPaddingAttr())
    for (uint64_t side : {0, 1})
      if (padding.getValues<int64_t>()[{uint64_t(dim), side}] != 0)
        return false;
  return isOne(op.getWindowDimensions()) && isOne(op.getWindowStrides());
}

/// Split by windows.
Rule reduceWindowRule(ReduceWindowOp op, bool conservative) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> from = shapeOf(op.getInputs()[0]), to = shapeOf(op->getResult(0));
  for (auto [dim, size] : llvm::enumerate(to)) {
    bool plain = isPlainWindow(op, dim) && size == from[dim];
    builder.addEverywhere(dim, size, plain ? FactorKind::PassThrough : FactorKind::Permutation, !plain && conservative);
  }
  return builder.build();
}

/// Neighbours exchange parts of the operand, all of them need all of the source.
Rule selectAndScatterRule(SelectAndScatterOp op, bool conservative) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> source = shapeOf(op.getSource());
  for (auto [i, size] : llvm::enumerate(shapeOf(op.getOperand()))) {
    int64_t dim = i;
    if (isPlainWindow(op, dim)) {
      builder.addEverywhere(dim, size);
      continue;
    }
    builder.add({kNoDim, dim, kNoDim}, {kNoDim}, source[dim], FactorKind::NeedReplication, conservative);
    builder.add({dim, kNoDim, kNoDim}, {dim}, size, FactorKind::Permutation, conservative);
  }
  return builder.build();
}

} // namespace

Rule windowsRule(SelectAndScatterOp op) {
  return detail::builderFor(op)
      .addPointwise(shapeOf(op.getSource()),
                    [&](int64_t dim) { return isPlainWindow(op, dim) ? FactorKind::PassThrough : FactorKind::Permutation; })
      .build();
}

std::optional<Rule> detail::reductionRule(Operation *op, bool conservative) {
  return llvm::TypeSwitch<Operation *, std::optional<Rule>>(op)
      .Case([](ReduceOp each) { return reduceRule(each); })
      .Case([](SortOp each) { return sortRule(each); })
      .Case([&](ReduceWindowOp each) { return reduceWindowRule(each, conservative); })
      .Case([&](SelectAndScatterOp each) { return selectAndScatterRule(each, conservative); })
      .Case([](RngBitGeneratorOp each) {
        RuleBuilder builder = builderFor(each);
        // Everybody needs the whole state; the bits of one part of the output can be made alone.
        for (auto [dim, size] : llvm::enumerate(shapeOf(each.getOperand())))
          builder.add({int64_t(dim)}, {int64_t(dim), kNoDim}, size, FactorKind::NeedReplication, /*blocked=*/true);
        for (auto [dim, size] : llvm::enumerate(shapeOf(each->getResult(1))))
          builder.add({kNoDim}, {kNoDim, int64_t(dim)}, size);
        return builder.build();
      })
      .Case([](BatchNormInferenceOp each) { return batchNormRule(each, each.getFeatureIndex(), false); })
      .Case([](BatchNormTrainingOp each) { return batchNormRule(each, each.getFeatureIndex(), true); })
      .Case([](BatchNormGradOp each) { return batchNormRule(each, each.getFeatureIndex(), true); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace millrace::sharding
