// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyUnreducedAxes.cpp - Nobody forgets that a value is a summand ---===//
// Input:   %1 = stablehlo.add %0, %0    // %0 unreduced={"y"}, %1 not
// Output:  error: 'stablehlo.add' op dropped unreduced axis 'y' ...
// Leaves alone what reduces on purpose (reshards, constraints, collectives), values on different meshes, and results without shardings.
#include "passes/sharding/Passes.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_VERIFYUNREDUCEDAXESPASS
#include "passes/sharding/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kTransition =
    " without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.";

ArrayRef<sdy::AxisRefAttr> unreducedOf(sdy::TensorShardingAttr sharding) {
  return sharding ? sharding.getUnreducedAxes() : ArrayRef<sdy::AxisRefAttr>();
}

std::string nameOf(sdy::AxisRefAttr axis) { return axis.getSubAxisInfo() ? axis.toString() : axis.getName().str(); }

/// The reduction that the computation does; nothing if it is none that axes can be unreduced by.
std::optional<sdy::ReductionOp> reductionOf(Region &computation) {
  if (!computation.hasOneBlock() || computation.front().empty())
    return std::nullopt;
  Operation &first = computation.front().front();
  if (isa<stablehlo::AddOp>(first))
    return sdy::ReductionOp::Sum;
  if (isa<stablehlo::MaxOp>(first))
    return sdy::ReductionOp::Max;
  if (isa<stablehlo::MinOp>(first))
    return sdy::ReductionOp::Min;
  return std::nullopt;
}

/// Returns the reduction with which the operation sums over shards, if it can yield unreduced values.
std::optional<sdy::ReductionOp> introducedBy(Operation *op) {
  if (isa<stablehlo::DotOp, stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
    return sdy::ReductionOp::Sum;
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  return reduce ? reductionOf(reduce.getBody()) : std::nullopt;
}

LogicalResult sameKind(Operation *op, sdy::TensorShardingAttr before, sdy::TensorShardingAttr after) {
  bool keeps = llvm::any_of(unreducedOf(before), [&](sdy::AxisRefAttr axis) { return llvm::is_contained(unreducedOf(after), axis); });
  if (!keeps || before.getReductionOp() == after.getReductionOp())
    return success();
  return op->emitOpError("cannot change the reduction operator of kept unreduced axes from ")
         << stringifyReductionOp(before.getReductionOp()) << " to " << stringifyReductionOp(after.getReductionOp()) << ".";
}

/// From an operand's sharding to the result's, of an operation that does not reduce on purpose.
LogicalResult keepsAll(Operation *op, sdy::TensorShardingAttr before, sdy::TensorShardingAttr after) {
  if (!before || !after || before.getMeshOrRef() != after.getMeshOrRef())
    return success();
  for (sdy::AxisRefAttr axis : unreducedOf(before))
    if (!llvm::is_contained(unreducedOf(after), axis))
      return op->emitOpError("dropped unreduced axis '") << nameOf(axis) << "'" << kTransition;
  return sameKind(op, before, after);
}

/// Verifies that both sides of a boundary without computation have the same axes.
LogicalResult sameAxes(Operation *op, sdy::TensorShardingAttr a, sdy::TensorShardingAttr b, const Twine &where) {
  if (a && b && a.getMeshOrRef() != b.getMeshOrRef())
    return success();
  for (auto [from, to] : {std::pair(a, b), std::pair(b, a)})
    for (sdy::AxisRefAttr axis : unreducedOf(from))
      if (!llvm::is_contained(unreducedOf(to), axis))
        return op->emitOpError("has unreduced axes mismatch for '") << nameOf(axis) << "' at " << where;
  return success();
}

LogicalResult expectsKind(Operation *op, StringRef verb, sdy::ReductionOp have, sdy::ReductionOp want) {
  if (have == want)
    return success();
  return op->emitOpError("cannot ") << verb << " '" << stringifyReductionOp(have) << "' unreduced axes. Expected '"
                                    << stringifyReductionOp(want) << "'.";
}

LogicalResult verifyReturn(func::ReturnOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    if (failed(sameAxes(op, sdy::getSharding(operand), function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName),
                        "return value " + Twine(i) + kTransition)))
      return failure();
  return success();
}

LogicalResult verifyCall(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return success();
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    if (failed(sameAxes(op, sdy::getSharding(operand), callee.getArgAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName),
                        "call argument " + Twine(i) + ".")))
      return failure();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (failed(sameAxes(op, sdy::getSharding(result), callee.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName),
                        "call result " + Twine(i) + ".")))
      return failure();
  return success();
}

/// Verifies that a manual computation with unreduced operands has unreduced results: the sum inside of it is not visible outside.
LogicalResult verifyManual(sdy::ManualComputationOp op) {
  ArrayRef<sdy::TensorShardingAttr> in = op.getInShardings().getShardings(), out = op.getOutShardings().getShardings();
  for (auto [operand, sharding] : llvm::zip(op->getOperands(), in)) {
    if (failed(keepsAll(op, sdy::getSharding(operand), sharding)))
      return failure();
    for (sdy::AxisRefAttr axis : unreducedOf(sharding)) {
      bool isKept = out.empty() || llvm::any_of(out, [&](sdy::TensorShardingAttr each) { return llvm::is_contained(unreducedOf(each), axis); });
      if (!isKept)
        return op.emitOpError("dropped unreduced axis '") << nameOf(axis) << "'" << kTransition;
    }
  }
  return success();
}

LogicalResult verifySum(Operation *op, Value operand, std::optional<sdy::ReductionOp> kind, bool mustBeSharded) {
  sdy::TensorShardingAttr before = sdy::getSharding(operand);
  if (!before)
    return mustBeSharded ? op->emitOpError("operand must be sharded.") : success();
  return before.getUnreducedAxes().empty() || !kind ? success() : expectsKind(op, "reduce", before.getReductionOp(), *kind);
}

LogicalResult verifyResults(Operation *op) {
  // Operand i flows into result i; elsewhere each operand into all of them.
  bool oneByOne = isa<stablehlo::WhileOp, stablehlo::OptimizationBarrierOp>(op);
  auto kind = introducedBy(op);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    sdy::TensorShardingAttr after = sdy::getSharding(result);
    bool isNew = !unreducedOf(after).empty();
    for (auto [j, operand] : llvm::enumerate(op->getOperands())) {
      if (oneByOne && i != j)
        continue;
      sdy::TensorShardingAttr before = sdy::getSharding(operand);
      if (failed(keepsAll(op, before, after)))
        return failure();
      isNew &= unreducedOf(before).empty();
    }
    if (isNew && kind && failed(expectsKind(op, "introduce", after.getReductionOp(), *kind)))
      return failure();
  }
  return success();
}

LogicalResult verify(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return verifyCall(call);
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return verifyManual(manual);
  if (auto terminator = dyn_cast<func::ReturnOp>(op))
    return verifyReturn(terminator);
  if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op))
    return success(); // Their own verifier compares the reductions.
  if (auto sum = dyn_cast<sdy::AllReduceOp>(op))
    return verifySum(op, sum.getTensor(), sum.getKind(), /*mustBeSharded=*/true);
  if (auto sum = dyn_cast<stablehlo::AllReduceOp>(op)) {
    for (Value operand : op->getOperands())
      if (failed(verifySum(op, operand, reductionOf(sum.getComputation()), /*mustBeSharded=*/false)))
        return failure();
    return success();
  }
  // Other operations of sdy say themselves what becomes of unreduced axes; so do other collectives.
  if (isa<sdy::SdyDialect>(op->getDialect()) || isa<stablehlo::ReduceScatterOp, stablehlo::CollectiveReduceOp>(op))
    return success();
  return verifyResults(op);
}

struct VerifyUnreducedAxes : impl::VerifyUnreducedAxesPassBase<VerifyUnreducedAxes> {
  void runOnOperation() override {
    bool isRight = true;
    getOperation().walk([&](Operation *op) { isRight &= succeeded(verify(op)); });
    if (!isRight)
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::sharding
