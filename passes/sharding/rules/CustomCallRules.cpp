// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCallRules.cpp - Rules of custom calls whose names are known --===//
#include "passes/sharding/rules/OpRules.h"

#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
namespace {

enum class Family { Unknown, Pointwise, Eigh, Qr, Householder, TopK, PartialTopK, Combine };

Family familyOf(StringRef target) {
  return llvm::StringSwitch<Family>(target)
      .Cases({"annotate_device_placement", "Cholesky", "CompactWyHelper", "InspectSharding",
              "InvertDiagBlocksLowerTriangular", "InvertDiagBlocksUpperTriangular", "LayoutConstraint"},
             Family::Pointwise)
      .Cases({"mhlo.erf", "MoveToDevice", "MoveToHost", "X64SplitHigh", "X64SplitLow", "xla.megascale.provide_metadata"},
             Family::Pointwise)
      .Case("Eigh", Family::Eigh)
      .Cases({"Qr", "QrDecompositionBlock"}, Family::Qr)
      .Case("ProductOfElementaryHouseholderReflectors", Family::Householder)
      .Case("mhlo.topk", Family::TopK)
      .Cases({"ApproxTopK", "PartialReduce"}, Family::PartialTopK)
      .Case("X64Combine", Family::Combine)
      .Default(Family::Unknown);
}

/// Batches of matrices; rows and columns of the first operand, where the other values have them.
std::optional<Rule> matrixRule(Operation *op, Family family) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  bool householder = family == Family::Householder;
  if (shape.size() < 2 || op->getNumOperands() != (householder ? 2 : 1) || op->getNumResults() != (householder ? 1 : 2))
    return std::nullopt;
  int64_t rows = shape.size() - 2, columns = shape.size() - 1;
  constexpr FactorKind whole = FactorKind::NeedReplication;
  RuleBuilder builder = detail::builderFor(op);
  builder.addPointwise(shape.drop_back(2));
  if (family == Family::Eigh) {
    builder.add({rows}, {rows, kNoDim}, shape[rows]);
    builder.add({columns}, {columns, rows}, shape[columns]);
  } else if (family == Family::Qr) {
    builder.add({rows}, {rows, kNoDim}, shape[rows], whole);
    builder.add({columns}, {columns, kNoDim}, shape[columns], whole);
    builder.add({kNoDim}, {kNoDim, rows}, shapeOf(op->getResult(1))[rows], whole);
  } else {
    builder.add({rows, kNoDim}, {rows}, shape[rows], whole);
    builder.add({columns, kNoDim}, {columns}, shape[columns], whole);
    builder.add({kNoDim, rows}, {kNoDim}, shapeOf(op->getOperand(1))[rows], whole);
  }
  return builder.build();
}

std::optional<Rule> topKRule(Operation *op) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  if (from.size() != to.size())
    return std::nullopt;
  return detail::builderFor(op).addPointwiseUnlessDifferent(from, to, FactorKind::NeedReplication, true).build();
}

/// Operands: values, their numbers, and two scalars.
std::optional<Rule> partialTopKRule(Operation *op) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  if (op->getNumOperands() != 4 || op->getNumResults() != 2 || from.size() != to.size())
    return std::nullopt;
  RuleBuilder builder = detail::builderFor(op);
  for (auto [i, size] : llvm::enumerate(from)) {
    int64_t dim = i;
    if (size == to[dim]) {
      builder.addEverywhere(dim, size);
      continue;
    }
    builder.add({dim, dim, kNoDim, kNoDim}, {kNoDim, kNoDim}, size);
    builder.add({kNoDim, kNoDim, kNoDim, kNoDim}, {dim, dim}, to[dim], FactorKind::NeedReplication, true);
  }
  return builder.build();
}

} // namespace

std::optional<Rule> detail::customCallRule(Operation *op) {
  if (isa<chlo::TopKOp>(op))
    return topKRule(op);
  auto call = dyn_cast<CustomCallOp>(op);
  if (!call || op->getNumOperands() == 0)
    return std::nullopt;
  switch (Family family = familyOf(call.getCallTargetName())) {
  case Family::Unknown:
    return std::nullopt;
  case Family::Pointwise:
    return builderFor(op).addPointwise(shapeOf(op->getResult(0))).build();
  case Family::TopK:
    return topKRule(op);
  case Family::PartialTopK:
    return partialTopKRule(op);
  case Family::Combine: {
    // The state of a generator must be whole and stay so.
    bool isState = llvm::any_of(op->getUsers(), [](Operation *user) { return isa<RngBitGeneratorOp>(user); });
    return builderFor(op)
        .addPointwise(shapeOf(op->getResult(0)), [](int64_t) { return FactorKind::PassThrough; }, isState)
        .build();
  }
  default:
    return matrixRule(op, family);
  }
}

} // namespace millrace::sharding
