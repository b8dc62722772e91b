// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCost.cpp - Count a kernel's arithmetic and memory traffic ----===//
#include "lowering/program/KernelCost.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/layout/Layout.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace millrace::lowering {
namespace {

double elements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 0;
}

int64_t sizeOf(Value value, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.isDynamicDim(dim) ? type.getDimSize(dim) : 0;
}

bool isComplex(Value value) { return isa<ComplexType>(getElementTypeOrSelf(value.getType())); }

double bytes(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (auto complex = dyn_cast<ComplexType>(element))
    return elements(value) * 2 * complex.getElementType().getIntOrFloatBitWidth() / 8;
  // An element of a type smaller than a byte takes one byte in memory.
  return element.isIntOrFloat() ? elements(value) * std::max(1u, element.getIntOrFloatBitWidth() / 8) : 0;
}

/// Returns true for operations that move or create values without arithmetic.
bool isFree(Operation *op) {
  return isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp, stablehlo::ReshapeOp,
             stablehlo::DynamicReshapeOp, stablehlo::TransposeOp, stablehlo::SliceOp, stablehlo::DynamicSliceOp,
             stablehlo::DynamicUpdateSliceOp, stablehlo::RealDynamicSliceOp, stablehlo::ConcatenateOp, stablehlo::PadOp,
             stablehlo::DynamicPadOp, stablehlo::IotaOp, stablehlo::DynamicIotaOp, stablehlo::BitcastConvertOp,
             stablehlo::GatherOp, stablehlo::DynamicGatherOp, stablehlo::ReverseOp, stablehlo::ReturnOp, stablehlo::ComplexOp,
             stablehlo::RealOp, stablehlo::ImagOp, stablehlo::GetDimensionSizeOp, stablehlo::SetDimensionSizeOp,
             stablehlo::OptimizationBarrierOp>(op);
}

double flops(Operation &op);

double flops(Region &computation) {
  double sum = 0;
  for (Operation &op : computation.front())
    sum += flops(op);
  return sum;
}

double contraction(stablehlo::DotGeneralOp op) {
  double depth = 1;
  for (int64_t d : op.getDotDimensionNumbers().getLhsContractingDimensions())
    depth *= double(sizeOf(op.getLhs(), d));
  return elements(op.getResult()) * depth * (isComplex(op.getResult()) ? 8 : 2);
}

/// Returns the number of pairs of output and kernel positions along spatial dimension `d` that meet an element of the input.
double validPositions(stablehlo::ConvolutionOp op, size_t d) {
  auto numbers = op.getDimensionNumbers();
  int64_t in = sizeOf(op.getLhs(), numbers.getInputSpatialDimensions()[d]);
  int64_t window = sizeOf(op.getRhs(), numbers.getKernelSpatialDimensions()[d]);
  int64_t out = sizeOf(op.getResult(), numbers.getOutputSpatialDimensions()[d]);
  auto at = [&](std::optional<ArrayRef<int64_t>> values, int64_t otherwise) { return values ? (*values)[d] : otherwise; };
  int64_t stride = at(op.getWindowStrides(), 1), inDilation = at(op.getLhsDilation(), 1), dilation = at(op.getRhsDilation(), 1);
  int64_t low = op.getPadding() ? (*op.getPadding()).getValues<int64_t>()[{d, 0}] : 0;
  if (auto borders = op->getAttrOfType<DenseIntElementsAttr>(kBordersAttr)) {
    auto amounts = llvm::to_vector(borders.getValues<int64_t>());
    low += amounts[2 * d];
    in -= amounts[2 * d] + amounts[2 * d + 1];
  }
  double count = 0;
  for (int64_t k = 0; k < window; ++k)
    for (int64_t o = 0; o < out; ++o) {
      int64_t position = o * stride + k * dilation - low;
      count += position >= 0 && position % inDilation == 0 && position / inDilation < in;
    }
  return count;
}

double convolution(stablehlo::ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  // Every output feature is a sum over the input features of its group.
  double products = double(sizeOf(op.getResult(), numbers.getOutputBatchDimension())) *
                    double(sizeOf(op.getResult(), numbers.getOutputFeatureDimension())) *
                    double(sizeOf(op.getRhs(), numbers.getKernelInputFeatureDimension()));
  for (size_t d = 0; d < numbers.getInputSpatialDimensions().size(); ++d)
    products *= validPositions(op, d);
  return products * (isComplex(op.getResult()) ? 8 : 2);
}

double flops(Operation &op) {
  if (isFree(&op) || op.getNumResults() == 0)
    return 0;
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case([](stablehlo::DotGeneralOp dot) { return contraction(dot); })
      .Case([](stablehlo::ConvolutionOp conv) { return convolution(conv); })
      .Case([](stablehlo::ReduceOp reduce) {
        return (elements(reduce.getInputs()[0]) - elements(reduce.getResult(0))) * flops(reduce.getBody());
      })
      .Case([](stablehlo::ReduceWindowOp reduce) {
        double window = 1;
        for (int64_t size : reduce.getWindowDimensions())
          window *= double(size);
        return elements(reduce.getResult(0)) * (window - 1) * flops(reduce.getBody());
      })
      .Case([](stablehlo::SelectAndScatterOp op) {
        double window = 1;
        if (auto sizes = op.getWindowDimensions())
          for (int64_t size : *sizes)
            window *= double(size);
        return elements(op.getSource()) * ((window - 1) * flops(op.getSelect()) + flops(op.getScatter()));
      })
      .Case([](stablehlo::ScatterOp scatter) { return elements(scatter.getUpdates()[0]) * flops(scatter.getUpdateComputation()); })
      .Case([](stablehlo::MapOp map) { return elements(map.getResult()) * flops(map.getComputation()); })
      .Case([](stablehlo::SortOp sort) {
        double n = double(sizeOf(sort.getInputs()[0], sort.getDimension() < 0
                                                          ? cast<RankedTensorType>(sort.getInputs()[0].getType()).getRank() - 1
                                                          : sort.getDimension()));
        return elements(sort.getInputs()[0]) * (n > 1 ? std::ceil(std::log2(n)) : 0) * flops(sort.getComparator());
      })
      .Case([](stablehlo::FftOp fft) {
        double n = 1;
        for (int64_t length : fft.getFftLength())
          n *= double(length);
        return n > 1 ? 5 * elements(fft.getResult()) * std::log2(n) : 0;
      })
      .Case([](stablehlo::CholeskyOp op) {
        auto type = cast<RankedTensorType>(op.getA().getType());
        return elements(op.getA()) * double(sizeOf(op.getA(), type.getRank() - 1)) / 3 * (isComplex(op.getA()) ? 4 : 1);
      })
      .Case([](stablehlo::TriangularSolveOp op) {
        auto type = cast<RankedTensorType>(op.getA().getType());
        return elements(op.getB()) * double(sizeOf(op.getA(), type.getRank() - 1)) * (isComplex(op.getB()) ? 4 : 1);
      })
      .Default([](Operation *other) {
        // Each region of control flow inside of a kernel counts once.
        double inside = 0;
        for (Region &region : other->getRegions())
          if (!region.empty())
            inside += flops(region);
        if (other->getNumRegions())
          return inside;
        Value result = other->getResult(0);
        double each = !isComplex(result) ? 1 : isa<stablehlo::MulOp>(other) ? 6 : isa<stablehlo::DivOp>(other) ? 11 : 2;
        return elements(result) * each;
      });
}

} // namespace

KernelCost kernelCost(func::FuncOp kernel) {
  KernelCost cost;
  cost.flops = flops(kernel.getBody());
  for (Value argument : kernel.getArguments())
    if (!argument.use_empty()) // panels are read instead of another argument
      cost.bytes += bytes(argument);
  for (Value result : kernel.getBody().front().getTerminator()->getOperands())
    cost.bytes += bytes(result);
  return cost;
}

} // namespace millrace::lowering
