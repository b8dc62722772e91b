// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionRules.cpp - Rules of products, convolutions, solvers, transforms -===//
#include "passes/sharding/rules/OpRules.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
namespace {

Rule dotRule(Operation *op, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContracting,
             ArrayRef<int64_t> rhsContracting) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> lhs = shapeOf(op->getOperand(0)), rhs = shapeOf(op->getOperand(1));
  int64_t next = 0;
  for (auto [l, r] : llvm::zip_equal(lhsBatch, rhsBatch))
    builder.add({l, r}, {next++}, lhs[l]);
  auto isFree = [](int64_t dim, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
    return !llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim);
  };
  for (auto [dim, size] : llvm::enumerate(lhs))
    if (isFree(dim, lhsBatch, lhsContracting))
      builder.add({int64_t(dim), kNoDim}, {next++}, size);
  for (auto [dim, size] : llvm::enumerate(rhs))
    if (isFree(dim, rhsBatch, rhsContracting))
      builder.add({kNoDim, int64_t(dim)}, {next++}, size);
  for (auto [l, r] : llvm::zip_equal(lhsContracting, rhsContracting))
    builder.add({l, r}, {kNoDim}, lhs[l], FactorKind::Reduction);
  return builder.build();
}

Rule convolutionRule(ConvolutionOp op, bool conservative) {
  RuleBuilder builder = detail::builderFor(op);
  auto numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()), out = shapeOf(op.getResult());
  int64_t batchGroups = op.getBatchGroupCount(), featureGroups = op.getFeatureGroupCount();
  int64_t outFeature = numbers.getOutputFeatureDimension(), kernelOut = numbers.getKernelOutputFeatureDimension();
  int64_t kernelIn = numbers.getKernelInputFeatureDimension();
  if (batchGroups > 1)
    builder.add({numbers.getInputBatchDimension(), kernelOut}, {outFeature}, batchGroups);
  // A dimension that groups use up has no second factor of one element: (C3) of rules.
  int64_t outBatch = numbers.getOutputBatchDimension();
  builder.add({batchGroups > 1 && out[outBatch] == 1 ? kNoDim : numbers.getInputBatchDimension(), kNoDim}, {outBatch}, out[outBatch]);
  if (!conservative)
    for (auto [l, r, o] : llvm::zip_equal(numbers.getInputSpatialDimensions(), numbers.getKernelSpatialDimensions(),
                                          numbers.getOutputSpatialDimensions())) {
      // The input can be split by windows, as the output is, or inside of windows, as the kernel is; the larger comes first.
      int64_t left = lhs[l];
      auto add = [&, l = l, r = r, o = o](bool byWindow) {
        int64_t size = std::min(left, byWindow ? out[o] : rhs[r]);
        if (size <= 1)
          return;
        if (byWindow)
          builder.add({l, kNoDim}, {o}, size, FactorKind::Permutation);
        else
          builder.add({l, r}, {kNoDim}, size, FactorKind::Reduction);
        left /= size;
      };
      bool windowsFirst = out[o] >= rhs[r];
      add(windowsFirst);
      add(!windowsFirst);
    }
  if (featureGroups > 1)
    builder.add({numbers.getInputFeatureDimension(), kernelOut}, {outFeature}, featureGroups);
  builder.add({featureGroups > 1 && rhs[kernelIn] == 1 ? kNoDim : numbers.getInputFeatureDimension(), kernelIn}, {kNoDim}, rhs[kernelIn],
              FactorKind::Reduction);
  if (int64_t features = out[outFeature] / (batchGroups * featureGroups); features > 1)
    builder.add({kNoDim, kernelOut}, {outFeature}, features);
  return builder.build();
}

Rule triangularSolveRule(TriangularSolveOp op) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> a = shapeOf(op.getA()), b = shapeOf(op.getB());
  builder.addPointwise(a.drop_back(2));
  int64_t rows = a.size() - 2, columns = a.size() - 1;
  bool transposed = op.getTransposeA() != Transpose::NO_TRANSPOSE;
  constexpr FactorKind whole = FactorKind::NeedReplication;
  if (op.getLeftSide()) { // op(a) @ x = b
    int64_t free = transposed ? columns : rows, contracting = transposed ? rows : columns;
    builder.add({free, rows}, {kNoDim}, a[free], whole);
    builder.add({kNoDim, columns}, {columns}, b[columns], whole);
    builder.add({contracting, kNoDim}, {rows}, a[contracting], whole);
  } else { // x @ op(a) = b
    int64_t free = transposed ? rows : columns, contracting = transposed ? columns : rows;
    builder.add({kNoDim, rows}, {rows}, b[rows], whole);
    builder.add({free, columns}, {kNoDim}, a[free], whole);
    builder.add({contracting, kNoDim}, {columns}, a[contracting], whole);
  }
  return builder.build();
}

} // namespace

std::optional<Rule> detail::contractionRule(Operation *op, bool conservative) {
  return llvm::TypeSwitch<Operation *, std::optional<Rule>>(op)
      .Case([](DotGeneralOp each) {
        auto numbers = each.getDotDimensionNumbers();
        return dotRule(each, numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
                       numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions());
      })
      .Case([](DotOp each) {
        int64_t contracting = int64_t(shapeOf(each.getLhs()).size()) - 1;
        return dotRule(each, {}, {}, {contracting}, {0});
      })
      .Case([&](ConvolutionOp each) { return convolutionRule(each, conservative); })
      .Case([](TriangularSolveOp each) { return triangularSolveRule(each); })
      .Case([](CholeskyOp each) {
        ArrayRef<int64_t> shape = shapeOf(each->getResult(0));
        return builderFor(each)
            .addPointwise(shape,
                          [&](int64_t dim) {
                            return dim + 2 < int64_t(shape.size()) ? FactorKind::PassThrough : FactorKind::NeedReplication;
                          })
            .build();
      })
      .Case([](FftOp each) {
        RuleBuilder builder = builderFor(each);
        ArrayRef<int64_t> from = shapeOf(each.getOperand()), to = shapeOf(each.getResult());
        int64_t batch = from.size() - each.getFftLength().size(), last = int64_t(from.size()) - 1;
        for (auto [dim, size] : llvm::enumerate(from)) {
          if (int64_t(dim) < batch)
            builder.addEverywhere(dim, size);
          else // a last dimension that changes its size is tied to nothing
            builder.addEverywhere(dim, size, FactorKind::NeedReplication, int64_t(dim) == last && from.back() != to.back());
        }
        return builder.build();
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace millrace::sharding
