// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduction.cpp - Reductions, windows, sort, map, batch norm as HLO --===//
// Input:   %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : ...
// Output:  reduce.1 = f32[4]{0} reduce(a, z), dimensions={1}, to_apply=region.1
// Operands whose elements the computation promotes are converted first: HLO has no promotion.
#include "lowering/hlo/Literals.h"
#include "lowering/hlo/Windows.h"
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

/// Inputs and initial values in the element types of the results.
static SmallVector<std::string> promoted(Operation *op, OperandRange inputs, OperandRange initials, Computation &to) {
  SmallVector<std::string> operands;
  for (OperandRange values : {inputs, initials})
    for (auto [value, result] : llvm::zip(values, op->getResults()))
      operands.push_back(to.convertedTo(value, cast<RankedTensorType>(result.getType()).getElementType()));
  return operands;
}

static LogicalResult reduce(shlo::ReduceOp op, Computation &to) {
  FailureOr<std::string> body = to.module.region(op.getBody());
  if (failed(body))
    return failure();
  return to.result(op, "reduce", promoted(op, op.getInputs(), op.getInitValues(), to),
                   Attributes().list("dimensions", op.getDimensions()).add("to_apply", *body));
}

static LogicalResult reduceWindow(shlo::ReduceWindowOp op, Computation &to) {
  FailureOr<std::string> body = to.module.region(op.getBody());
  if (failed(body))
    return failure();
  Window window;
  window.sizes.assign(op.getWindowDimensions().begin(), op.getWindowDimensions().end());
  window.strides = op.getWindowStrides();
  window.padding = op.getPadding();
  window.operandDilations = op.getBaseDilations();
  window.windowDilations = op.getWindowDilations();
  return to.result(op, "reduce-window", promoted(op, op.getInputs(), op.getInitValues(), to),
                   Attributes().add("window", window.text()).add("to_apply", *body));
}

static LogicalResult selectAndScatter(shlo::SelectAndScatterOp op, Computation &to) {
  FailureOr<std::string> select = to.module.region(op.getSelect()), scatter = to.module.region(op.getScatter());
  if (failed(select) || failed(scatter))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  Window window;
  if (auto sizes = op.getWindowDimensions())
    window.sizes.assign(sizes->begin(), sizes->end());
  else
    window.sizes.assign(type.getRank(), 1);
  window.strides = op.getWindowStrides();
  window.padding = op.getPadding();
  Type element = type.getElementType();
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(to.convertedTo(operand, element));
  return to.result(op, "select-and-scatter", operands,
                   Attributes().add("window", window.text()).add("select", *select).add("scatter", *scatter));
}

static LogicalResult sort(shlo::SortOp op, Computation &to) {
  FailureOr<std::string> comparator = to.module.region(op.getComparator());
  if (failed(comparator))
    return failure();
  int64_t rank = cast<RankedTensorType>(op.getInputs().front().getType()).getRank(), dimension = op.getDimension();
  Attributes attributes;
  attributes.list("dimensions", dimension < 0 ? dimension + rank : dimension).flag("is_stable", op.getIsStable());
  return to.result(op, "sort", attributes.add("to_apply", *comparator));
}

static LogicalResult map(shlo::MapOp op, Computation &to) {
  FailureOr<std::string> computation = to.module.region(op.getComputation());
  if (failed(computation))
    return failure();
  return to.result(op, "map", Attributes().list("dimensions", op.getDimensions()).add("to_apply", *computation));
}

template <typename Op> static LogicalResult batchNorm(Op op, StringRef opcode, Computation &to) {
  return to.result(op, opcode, Attributes().add("epsilon", floatText(op.getEpsilon()))
                                   .add("feature_index", Twine(op.getFeatureIndex())));
}

Visit visitReduction(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::ReduceOp>([&](auto op) { return reduce(op, to); })
      .Case<shlo::ReduceWindowOp>([&](auto op) { return reduceWindow(op, to); })
      .Case<shlo::SelectAndScatterOp>([&](auto op) { return selectAndScatter(op, to); })
      .Case<shlo::SortOp>([&](auto op) { return sort(op, to); })
      .Case<shlo::MapOp>([&](auto op) { return map(op, to); })
      .Case<shlo::BatchNormTrainingOp>([&](auto op) { return batchNorm(op, "batch-norm-training", to); })
      .Case<shlo::BatchNormInferenceOp>([&](auto op) { return batchNorm(op, "batch-norm-inference", to); })
      .Case<shlo::BatchNormGradOp>([&](auto op) { return batchNorm(op, "batch-norm-grad", to); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
