// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.cpp - Orders of dimensions ----------------------------------===//
#include "passes/layout/Layout.h"
#include "passes/fusion/VectorShapes.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {
namespace {

/// Fewer output channels do not fill half a vector. Unit: output channels. Source: arithmetic.
constexpr int64_t kMinOutputs = fusion::kLanesOfLongest / 2;
/// Fewer input channels are read together with the window's last dimension. Unit: input channels. Source: judgement, not measured alone; commit
/// 6acceda has the figures of the whole change.
constexpr int64_t kMinInputs = 8;
/// With at most so many rows, weights in PyTorch's order are read as fast as in another order. Unit: rows of the contraction: pixels of all images.
/// Source: commit 1d8c63d, two threads: conv3x3_1x512x4x4 1.96 to 0.80 ms; the limit itself is judgement.
constexpr int64_t kMaxRowsInPlace = 1024;
/// A strided convolution keeps its order up to so many products per sum: transposing the result would cost more than the sums. Unit: products per
/// sum. Source: commit 1d8c63d: the transpose took 77 % of conv1d10s5; the limit itself is judgement.
constexpr int64_t kMaxShortSum = 16;
/// The same limit for stride 1: lanes along an image's rows are as good as along channels, and nothing has to be transposed. Unit: products per sum.
/// Source: judgement, not measured alone; commit 1d8c63d has the figures of the whole change.
constexpr int64_t kMaxShortSumAlongRows = 40;
/// One-dimensional signals are one row each. Where a row fills many vectors and many output channels share its loads, lanes along the row are as fast
/// as channels last, and the transpose that is saved is a fifth of the time up to so many products per sum. Unit: products per sum. Source: commit
/// 508b49a, xla-run --repeat=200: 80x300 by 256 1.17 to 0.94 ms, two threads; with 512 channels it is 5 % slower.
constexpr int64_t kMaxSumOfSignals = 512;
/// A shorter result does not fill several vectors along the signal. Unit: elements of the result along the signal. Source: judgement, not measured
/// alone; commit 508b49a has the figures of the whole change.
constexpr int64_t kMinStepsOfSignals = 64;
/// Fewer output channels share too few loads of the signal. Unit: output channels. Source: judgement, not measured alone; commit 508b49a has the
/// figures of the whole change.
constexpr int64_t kMinOutputsOfSignals = 64;

/// Fewer output channels are too few columns for a matrix product. Unit: output channels of a group. Source: judgement, not measured alone; commit
/// dcaa635 has the figures of the whole change.
constexpr int64_t kMinOutputsOfGroup = 4;
/// The same limit for operands that are widened when they are read, which is slow with fewer columns. Unit: output channels of a group. Source:
/// judgement, not measured alone; commit dcaa635 has the figures of the whole change.
constexpr int64_t kMinOutputsOfNarrowGroup = 8;
/// A row of so many elements fills vectors better than a group with fewer outputs than kMinOutputsOfNarrowGroup. Unit: elements of a row of the
/// result. Source: judgement, not measured alone; commit dcaa635 has the figures of the whole change.
constexpr int64_t kMinRowOfNarrowGroup = 12;
/// A row of so many elements fills vectors better than a group with fewer outputs than kMinOutputsOfGroup. Unit: elements of a row of the result.
/// Source: judgement, not measured alone; commit dcaa635 has the figures of the whole change.
constexpr int64_t kMinRowOfGroup = 7;

int64_t product(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t size = 1;
  for (int64_t dim : dims)
    size *= type.getDimSize(dim);
  return size;
}

} // namespace

Layout identityLayout(int64_t rank) {
  Layout layout(rank);
  std::iota(layout.begin(), layout.end(), 0);
  return layout;
}

bool isIdentity(ArrayRef<int64_t> layout) { return llvm::is_sorted(layout); }

Layout inverse(ArrayRef<int64_t> layout) {
  Layout positions(layout.size());
  for (auto [position, dim] : llvm::enumerate(layout))
    positions[dim] = position;
  return positions;
}

RankedTensorType permuted(RankedTensorType type, ArrayRef<int64_t> layout) {
  return RankedTensorType::get(permuted(type.getShape(), layout), type.getElementType());
}

Value transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return value;
  RankedTensorType from = typeOf(value), to = permuted(from, permutation);
  SmallVector<int64_t> moving;
  for (int64_t dim : permutation)
    if (from.getDimSize(dim) != 1)
      moving.push_back(dim);
  if (llvm::is_sorted(moving))
    return ReshapeOp::create(builder, loc, to, value);
  return TransposeOp::create(builder, loc, to, value, builder.getDenseI64ArrayAttr(permutation));
}

bool hasLayout(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() >= 3 && type.hasStaticShape() && !type.getEncoding() && type.getNumElements() > 0 &&
         type.getElementType().isIntOrFloat();
}

int64_t bytesOf(Value value) {
  RankedTensorType type = typeOf(value);
  return type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8);
}

bool isPointwise(ConvolutionOp op) {
  return product(typeOf(op.getRhs()), op.getDimensionNumbers().getKernelSpatialDimensions()) == 1;
}

bool isDepthwise(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto groups = static_cast<int64_t>(op.getFeatureGroupCount());
  return groups > 1 && typeOf(op.getRhs()).getDimSize(dims.getKernelOutputFeatureDimension()) == groups &&
         typeOf(op.getLhs()).getDimSize(dims.getInputFeatureDimension()) == groups;
}

/// Returns true for a long signal, stored with its steps innermost, whose outputs are long sums.
static bool isLongSignal(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType result = typeOf(op.getResult());
  return result.getRank() == 3 && op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1 && dims.getInputBatchDimension() == 0 &&
         dims.getInputFeatureDimension() == 1 && dims.getKernelOutputFeatureDimension() == 0 && dims.getKernelInputFeatureDimension() == 1 &&
         dims.getOutputBatchDimension() == 0 && dims.getOutputFeatureDimension() == 1 && result.getDimSize(2) >= kMinStepsOfSignals &&
         result.getDimSize(1) >= kMinOutputsOfSignals;
}

bool isShort(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType kernel = typeOf(op.getRhs());
  bool steps = op.getWindowStrides() && llvm::any_of(*op.getWindowStrides(), [](int64_t s) { return s != 1; });
  return kernel.getDimSize(dims.getKernelInputFeatureDimension()) * product(kernel, dims.getKernelSpatialDimensions()) <=
         (steps ? kMaxShortSum : isLongSignal(op) ? kMaxSumOfSignals : kMaxShortSumAlongRows);
}

/// Groups with so few output channels that most lanes would be empty, and with short sums: lanes along rows of the image are full, and operands are
/// widened when they are read (4x28x28x128 by 3x3, one thread: 64 groups in f32 4.3 to 0.8 ms, in bf16 6.3 to 0.7; 32 in bf16 1.8 to 0.8).
bool wantsChannelsFirst(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType result = typeOf(op.getResult()), kernel = typeOf(op.getRhs());
  auto groups = static_cast<int64_t>(op.getFeatureGroupCount());
  if (groups == 1 || op.getBatchGroupCount() != 1 || result.getRank() < 4 || isPointwise(op) || !isShort(op) ||
      kernel.getDimSize(dims.getKernelInputFeatureDimension()) == 1)
    return false;
  // A row with inserted zeros cannot be read as a vector.
  if (auto dilation = op.getLhsDilation(); dilation && llvm::any_of(*dilation, [](int64_t d) { return d != 1; }))
    return false;
  int64_t outputs = result.getDimSize(dims.getOutputFeatureDimension()) / groups, row = result.getDimSize(dims.getOutputSpatialDimensions().back());
  Type element = result.getElementType();
  if (outputs < kMinOutputsOfGroup)
    return (element.isF32() || element.isBF16()) && row >= kMinRowOfGroup;
  return outputs < kMinOutputsOfNarrowGroup && element.isBF16() && row >= kMinRowOfNarrowGroup;
}

std::optional<ConvolutionLayouts> preferredLayouts(ConvolutionOp op) {
  if (!hasLayout(op.getLhs()) || !hasLayout(op.getRhs()) || !hasLayout(op.getResult()))
    return std::nullopt;
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (wantsChannelsFirst(op)) {
    auto order = [](int64_t first, int64_t second, ArrayRef<int64_t> rest) {
      Layout layout{first, second};
      llvm::append_range(layout, rest);
      return layout;
    };
    int64_t kernelRank = typeOf(op.getRhs()).getRank();
    return ConvolutionLayouts{order(dims.getInputBatchDimension(), dims.getInputFeatureDimension(), dims.getInputSpatialDimensions()),
                              identityLayout(kernelRank), // single elements are read, so that any order is good
                              order(dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions())};
  }
  RankedTensorType kernel = typeOf(op.getRhs()), result = typeOf(op.getResult());
  if (kernel.getDimSize(dims.getKernelOutputFeatureDimension()) < kMinOutputs)
    return std::nullopt;
  ArrayRef<int64_t> window = dims.getKernelSpatialDimensions();
  // A gradient of weights sums over the former batch dimension. In PyTorch's order the first two dimensions are batch and channels, whatever this
  // convolution calls them; else the window tells, which then is an image. Channels that are last already are where a forward convolution has them,
  // whose window may be larger than its result, where an image is cut into patches.
  int64_t rank = kernel.getRank();
  bool areFirst = dims.getInputBatchDimension() + dims.getInputFeatureDimension() == 1;
  bool isGradient = areFirst ? dims.getInputBatchDimension() == 1
                             : dims.getInputFeatureDimension() != rank - 1 &&
                                   product(kernel, window) > product(result, dims.getOutputSpatialDimensions());
  ConvolutionLayouts made;
  int64_t first = dims.getInputBatchDimension(), last = dims.getInputFeatureDimension();
  if (isGradient)
    std::swap(first, last);
  if (last == rank - 1) {
    made.lhs = identityLayout(rank);
  } else {
    made.lhs.push_back(first);
    llvm::append_range(made.lhs, dims.getInputSpatialDimensions());
    made.lhs.push_back(last);
  }
  // The weights of a pointwise convolution are a matrix, and both orders of a matrix are good.
  bool isGoodKernel = isPointwise(op) || dims.getKernelOutputFeatureDimension() == rank - 1 ||
                      (!isGradient && dims.getKernelInputFeatureDimension() == rank - 1 && kernel.getDimSize(rank - 1) >= kMinInputs);
  // With outputs first, then inputs, then the window, packing transposes columns that are contiguous runs. A separate transpose would cost more than
  // the contraction if that has few rows.
  bool isPackedInPlace = !isGradient && dims.getKernelOutputFeatureDimension() == 0 && dims.getKernelInputFeatureDimension() == 1 &&
                         llvm::is_sorted(window) && kernel.getDimSize(1) >= kMinInputs && kernel.getElementType().isF32() &&
                         product(result, dims.getOutputSpatialDimensions()) * result.getDimSize(dims.getOutputBatchDimension()) <= kMaxRowsInPlace;
  if (isGoodKernel || isPackedInPlace) {
    made.rhs = identityLayout(rank);
  } else if (!isGradient && dims.getKernelInputFeatureDimension() == 0 && kernel.getDimSize(0) >= kMinInputs) {
    // Only that dimension moves, so that blocks are transposed instead of single elements, and the transposed weights of the forward convolution are
    // reused.
    made.rhs = identityLayout(rank);
    std::rotate(made.rhs.begin(), made.rhs.begin() + 1, made.rhs.end());
  } else if (kernel.getDimSize(dims.getKernelInputFeatureDimension()) < kMinInputs) {
    llvm::append_range(made.rhs, window);
    made.rhs.push_back(dims.getKernelInputFeatureDimension());
  } else {
    made.rhs.push_back(dims.getKernelInputFeatureDimension());
    llvm::append_range(made.rhs, window);
  }
  if (int64_t(made.rhs.size()) != rank)
    made.rhs.push_back(dims.getKernelOutputFeatureDimension());
  bool isMatrix = isGradient && product(result, dims.getOutputSpatialDimensions()) == 1;
  if (isMatrix || dims.getOutputFeatureDimension() == rank - 1) {
    made.result = identityLayout(rank);
    return made;
  }
  made.result.push_back(dims.getOutputBatchDimension());
  llvm::append_range(made.result, dims.getOutputSpatialDimensions());
  made.result.push_back(dims.getOutputFeatureDimension());
  return made;
}

ConvDimensionNumbersAttr movedNumbers(ConvDimensionNumbersAttr numbers, const ConvolutionLayouts &layouts) {
  Layout lhs = inverse(layouts.lhs), rhs = inverse(layouts.rhs), result = inverse(layouts.result);
  auto all = [](ArrayRef<int64_t> dims, const Layout &positions) {
    SmallVector<int64_t> moved;
    for (int64_t dim : dims)
      moved.push_back(positions[dim]);
    return moved;
  };
  return ConvDimensionNumbersAttr::get(
      numbers.getContext(), lhs[numbers.getInputBatchDimension()], lhs[numbers.getInputFeatureDimension()],
      all(numbers.getInputSpatialDimensions(), lhs), rhs[numbers.getKernelInputFeatureDimension()],
      rhs[numbers.getKernelOutputFeatureDimension()], all(numbers.getKernelSpatialDimensions(), rhs),
      result[numbers.getOutputBatchDimension()], result[numbers.getOutputFeatureDimension()],
      all(numbers.getOutputSpatialDimensions(), result));
}

} // namespace millrace::layout
