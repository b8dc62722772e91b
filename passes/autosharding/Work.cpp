// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Work.cpp - Arithmetic and traffic of one operation -----------------===//
#include "passes/autosharding/Work.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/spmd/Communication.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace millrace::stablehlo;
using millrace::sharding::shapeOf;

namespace millrace::autosharding {

int64_t elementBytes(Type type) {
  return spmd::bytesOf(RankedTensorType::get({}, cast<RankedTensorType>(type).getElementType()));
}

double flopsOf(Operation *op) {
  if (!isa<DotGeneralOp, ConvolutionOp>(op))
    return 0;
  auto elements = [](Value value) { return double(cast<RankedTensorType>(value.getType()).getNumElements()); };
  double result = elements(op->getResult(0)), depth = 1;
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions())
      depth *= double(shapeOf(dot.getLhs())[dim]);
  } else {
    auto convolution = cast<ConvolutionOp>(op);
    int64_t features = shapeOf(convolution.getRhs())[convolution.getDimensionNumbers().getKernelOutputFeatureDimension()];
    depth = elements(convolution.getRhs()) / double(std::max<int64_t>(1, features));
  }
  return 2 * result * depth;
}

bool movesNothing(Operation *op) {
  return isa<ReshapeOp, BroadcastInDimOp, BroadcastOp, stablehlo::ConstantOp, IotaOp, PartitionIdOp, ReplicaIdOp, OptimizationBarrierOp, sdy::ConstantOp,
             sdy::DataFlowEdgeOp, sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op);
}

/// Returns true if the operation is computed in the kernels of its readers or writers: elementwise operations are, and slices of which no reader is a
/// collective or the end of a function, which want them in memory.
static bool isPartOfOtherKernels(Operation *op) {
  if (isElementwise(op))
    return true;
  auto wantsMemory = [](Operation *reader) { return reader->hasTrait<OpTrait::IsTerminator>() || spmd::communicationOf(reader); };
  return isa<SliceOp, DynamicSliceOp>(op) && !op->use_empty() && llvm::none_of(op->getUsers(), wantsMemory);
}

double bytesMoved(Operation *op, ArrayRef<double> operands, ArrayRef<double> results) {
  if (movesNothing(op))
    return 0;
  double made = std::accumulate(results.begin(), results.end(), 0.0);
  if (isElementwise(op))
    return made;
  if (isa<SliceOp, DynamicSliceOp, GatherOp>(op))
    return 2 * made;
  if (isa<DynamicUpdateSliceOp>(op))
    return 2 * operands[1];
  return std::accumulate(operands.begin(), operands.end(), made);
}

double secondsOfWork(const Machine &machine, Operation *op, double flops, double bytes) {
  auto type = op->getNumOperands() ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  double rate = type && elementBytes(type) <= 2 ? machine.narrowFlopsPerSecond : machine.flopsPerSecond;
  double launch = bytes > 0 && !isPartOfOtherKernels(op) ? machine.kernelSeconds : 0;
  return launch + std::max(flops / rate, machine.secondsOfMemory(bytes));
}

} // namespace millrace::autosharding
