// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomInfer.cpp - Result types and constraints of rng, rng_bit_generator, fft -===//
#include "dialects/stablehlo/RandomOps.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

LogicalResult RngOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  // (C2)
  if (adaptor.getRngDistribution() == RngDistribution::NORMAL &&
      (!isa<FloatType>(getElementTypeOrSelf(adaptor.getA())) || !isa<FloatType>(getElementTypeOrSelf(adaptor.getB()))))
    return emitOptionalError(loc, "mu and sigma must be floats");
  // (C3)
  SmallVector<int64_t> shape;
  if (failed(matchInts(adaptor.getShape(), shape)))
    shape.assign(cast<ShapedType>(adaptor.getShape().getType()).getDimSize(0), ShapedType::kDynamic);
  results.push_back(RankedTensorType::get(shape, getElementTypeOrSelf(adaptor.getB())));
  return success();
}

LogicalResult RngOp::reifyReturnTypeShapes(OpBuilder &, ValueRange operands, SmallVectorImpl<Value> &reified) {
  reified.push_back(Adaptor(operands, *this).getShape());
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  auto before = cast<RankedTensorType>(getInitialState().getType());
  auto after = cast<RankedTensorType>(getOutputState().getType());
  // (C1)
  if (failed(verifyCompatibleShape(before.getShape(), after.getShape())))
    return emitOptionalError(getLoc(), "output state shape must be compatible with initial state shape. Got: ", before,
                             " and ", after);
  if (before.getElementType() != after.getElementType())
    return emitOptionalError(getLoc(), "output state must have the element type of the initial state. Got: ", before,
                             " and ", after);
  return success();
}

LogicalResult FftOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  ArrayRef<int64_t> length = adaptor.getFftLength();
  int64_t fftRank = length.size();
  bool isRfft = adaptor.getFftType() == FftType::RFFT, isIrfft = adaptor.getFftType() == FftType::IRFFT;
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  // (C3)
  if (fftRank > 3 || fftRank < 1)
    return emitOptionalError(loc, "rank must be between 1 and 3, but got ", fftRank, ".");
  // (C2)
  Type element = type.getElementType(), resultElement = element;
  if (isRfft) {
    if (!element.isF32() && !element.isF64())
      return emitOptionalError(loc, "RFFT requires f32 or f64 input type, but is given ", element, ".");
    resultElement = ComplexType::get(element);
  } else {
    if (!isa<ComplexType>(element))
      return emitOptionalError(loc, "FFT/IFFT/IRFFT", " take a complex tensor as input, but is given ", type, ".");
    if (isIrfft)
      resultElement = cast<ComplexType>(element).getElementType();
  }
  // (C1)
  if (type.getRank() < fftRank)
    return emitOptionalError(loc, "operand rank must not be less than fft rank of ", fftRank, " for operand of type ",
                             type, ".");
  // (C4) (C5)
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> resultShape(shape);
  int64_t last = length.back();
  if (isRfft) {
    for (auto [size, want] : llvm::zip_equal(shape.take_back(fftRank), length))
      if (!checks::dimsAgree(size, want))
        return emitOptionalError(loc, "RFFT requires innermost dimensions to be compatible with fft_length. Got: ",
                                 shape, " but wanted ", length, ".");
    if (last != 0)
      resultShape.back() = last / 2 + 1;
  }
  if (isIrfft) {
    for (auto [size, want] : llvm::zip(shape.take_back(fftRank).drop_back(), length))
      if (!checks::dimsAgree(size, want))
        return emitOptionalError(loc, "IRFFT requires non-final dimensions to be compatible with fft_length. Got: ",
                                 shape, " but wanted ", length, ", and ", size, " != ", want, ".");
    bool bothEmpty = last == 0 && checks::dimsAgree(shape.back(), 0);
    if (!bothEmpty && !checks::dimsAgree(shape.back(), last / 2 + 1))
      return emitOptionalError(loc, "IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: ",
                               shape.back(), " but fft_length is ", length, ".");
    resultShape.back() = last;
  }
  SmallVector<int64_t> bounds(encodingToBounds(type.getEncoding()));
  if ((isRfft || isIrfft) && !bounds.empty())
    bounds.back() = ShapedType::kDynamic;
  results.push_back(
      RankedTensorType::get(resultShape, resultElement, boundsToEncoding(context, type.getEncoding(), bounds)));
  return success();
}

Speculation::Speculatability FftOp::getSpeculatability() {
  // fft_length fixes the sizes of the transformed dimensions, which dynamic ones could contradict.
  auto type = cast<RankedTensorType>(getOperand().getType());
  ArrayRef<int64_t> transformed = type.getShape().take_back(getFftLength().size());
  return speculation::speculatableIf(llvm::all_of(transformed, isStaticDimSize));
}

} // namespace millrace::stablehlo
