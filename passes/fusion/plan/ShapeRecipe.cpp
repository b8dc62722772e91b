// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeRecipe.cpp - Run-time sizes of a kernel's results -------------===//
#include "passes/fusion/plan/ShapeRecipe.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::fusion {

using Op = ShapeRecipe::Op;
using Recipe = std::optional<ShapeRecipe>;

ShapeRecipe ShapeRecipe::binary(Op op, ShapeRecipe lhs, const ShapeRecipe &rhs) {
  std::optional<int64_t> a = lhs.asConstant(), b = rhs.asConstant();
  if (a && b) { // what overflows is an error when it is evaluated
    int64_t r = 0;
    bool isKnown = true;
    switch (op) {
    case Op::Add: isKnown = !llvm::AddOverflow(*a, *b, r); break;
    case Op::Sub: isKnown = !llvm::SubOverflow(*a, *b, r); break;
    case Op::Mul: isKnown = !llvm::MulOverflow(*a, *b, r); break;
    case Op::Max: r = std::max(*a, *b); break;
    case Op::Min: r = std::min(*a, *b); break;
    case Op::FloorDiv:
      if ((isKnown = *a >= 0 && *b > 0))
        r = *a / *b;
      break;
    default: isKnown = false;
    }
    if (isKnown)
      return constant(r);
  }
  const int64_t neutral = op == Op::Mul || op == Op::FloorDiv || op == Op::CeilDiv ? 1 : 0;
  const bool hasNeutral = op != Op::Max && op != Op::Min;
  if (hasNeutral && b == neutral)
    return lhs;
  if ((op == Op::Add || op == Op::Mul) && a == neutral)
    return rhs;
  lhs.terms.insert(lhs.terms.end(), rhs.terms.begin(), rhs.terms.end());
  lhs.terms.push_back({op, 0, 0});
  return lhs;
}

std::optional<int64_t> ShapeRecipe::asConstant() const {
  if (terms.size() == 1 && terms.front().op == Op::Constant)
    return terms.front().value;
  return std::nullopt;
}

namespace {

Recipe combine(Op op, const Recipe &lhs, const Recipe &rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  return ShapeRecipe::binary(op, *lhs, *rhs);
}

Recipe constant(int64_t value) { return ShapeRecipe::constant(value); }

/// Element `index` (flat) of the integer tensor `value`.
Recipe elementOf(Value value, int64_t index) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ShapeRecipe{{{Op::ArgumentElement, argument.getArgNumber(), index}}};
  Operation *op = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Recipe>(op)
      .Case([&](shlo::ConstantOp c) -> Recipe {
        auto dense = dyn_cast<DenseIntElementsAttr>(c.getValue());
        if (!dense || index >= dense.getNumElements())
          return std::nullopt;
        APInt number = dense.getValues<APInt>()[index];
        return constant(dense.getElementType().isUnsignedInteger() ? int64_t(number.getZExtValue()) : number.getSExtValue());
      })
      .Case<shlo::ReshapeOp, shlo::ConvertOp>([&](auto) { return elementOf(op->getOperand(0), index); })
      .Case([&](shlo::BroadcastInDimOp broadcast) -> Recipe {
        auto type = cast<RankedTensorType>(broadcast.getOperand().getType());
        return type.getNumElements() == 1 ? elementOf(broadcast.getOperand(), 0) : Recipe();
      })
      .Case([&](shlo::ConcatenateOp concat) -> Recipe {
        for (Value input : concat->getOperands()) {
          int64_t size = cast<RankedTensorType>(input.getType()).getNumElements();
          if (index < size)
            return elementOf(input, index);
          index -= size;
        }
        return std::nullopt;
      })
      .Case([&](shlo::SliceOp slice) -> Recipe {
        if (slice.getStartIndices().size() != 1)
          return std::nullopt;
        return elementOf(slice.getOperand(), slice.getStartIndices()[0] + index * slice.getStrides()[0]);
      })
      .Case([&](shlo::GetDimensionSizeOp size) { return sizeOf(size.getOperand(), size.getDimension()); })
      .Case<shlo::AddOp, shlo::SubtractOp, shlo::MulOp, shlo::MaxOp, shlo::MinOp>([&](auto typed) {
        Op kind = isa<shlo::AddOp>(op)        ? Op::Add
                  : isa<shlo::SubtractOp>(op) ? Op::Sub
                  : isa<shlo::MulOp>(op)      ? Op::Mul
                  : isa<shlo::MaxOp>(op)      ? Op::Max
                                              : Op::Min;
        return combine(kind, elementOf(op->getOperand(0), index), elementOf(op->getOperand(1), index));
      })
      // Sizes are not negative: divisions round down.
      .Case([&](shlo::DivOp) { return combine(Op::FloorDiv, elementOf(op->getOperand(0), index), elementOf(op->getOperand(1), index)); })
      .Case([&](shlo::RemOp) {
        Recipe number = elementOf(op->getOperand(0), index), divisor = elementOf(op->getOperand(1), index);
        return combine(Op::Sub, number, combine(Op::Mul, combine(Op::FloorDiv, number, divisor), divisor));
      })
      .Default([](Operation *) -> Recipe { return std::nullopt; });
}

/// Size of a padded dimension: low + high + n + max(n - 1, 0) * interior.
Recipe paddedSize(const Recipe &size, const Recipe &low, const Recipe &high, const Recipe &interior) {
  Recipe gaps = combine(Op::Max, combine(Op::Sub, size, constant(1)), constant(0));
  return combine(Op::Add, combine(Op::Add, low, high), combine(Op::Add, size, combine(Op::Mul, gaps, interior)));
}

/// Places of a window of `window` elements with dilation and stride over a dimension of `size` after padding.
Recipe windowedSize(const Recipe &size, int64_t window, int64_t dilation, int64_t stride) {
  int64_t span = window == 0 ? 0 : (window - 1) * dilation + 1;
  Recipe places = combine(Op::FloorDiv, combine(Op::Sub, size, constant(span)), constant(stride));
  return combine(Op::Max, combine(Op::Add, places, constant(1)), constant(0));
}

/// Places of windows in dimension `dim` of `operand`, which is dilated by `baseDilation` and padded before.
Recipe windowsIn(Value operand, int64_t dim, std::optional<DenseIntElementsAttr> padding, int64_t baseDilation, int64_t window, int64_t dilation,
                 int64_t stride) {
  auto pad = [&](uint64_t side) { return constant(padding ? padding->getValues<int64_t>()[{uint64_t(dim), side}] : 0); };
  return windowedSize(paddedSize(sizeOf(operand, dim), pad(0), pad(1), constant(baseDilation - 1)), window, dilation, stride);
}

/// What a convolution pads before (`side` 0) and after spatial dimension `d`.
Recipe paddingOf(shlo::ConvolutionOp op, int64_t d, uint64_t side) {
  auto padding = op.getPadding();
  return constant(padding ? padding->getValues<int64_t>()[{uint64_t(d), side}] : 0);
}
Recipe paddingOf(shlo::DynamicConvOp op, int64_t d, uint64_t side) { return elementOf(op.getPadding(), 2 * d + int64_t(side)); }

/// Size of dimension `dim` of a convolution's result.
template <typename Convolution> Recipe convolvedSize(Convolution op, int64_t dim) {
  shlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  if (dim == numbers.getOutputBatchDimension())
    return op.getBatchGroupCount() == 1 ? sizeOf(op.getLhs(), numbers.getInputBatchDimension()) : Recipe();
  if (dim == numbers.getOutputFeatureDimension())
    return sizeOf(op.getRhs(), numbers.getKernelOutputFeatureDimension());
  auto d = static_cast<int64_t>(llvm::find(numbers.getOutputSpatialDimensions(), dim) - numbers.getOutputSpatialDimensions().begin());
  auto at = [&](std::optional<ArrayRef<int64_t>> values) { return values && !values->empty() ? (*values)[d] : 1; };
  int64_t window = cast<RankedTensorType>(op.getRhs().getType()).getDimSize(numbers.getKernelSpatialDimensions()[d]);
  if (window < 0)
    return std::nullopt;
  Recipe padded = paddedSize(sizeOf(op.getLhs(), numbers.getInputSpatialDimensions()[d]), paddingOf(op, d, 0), paddingOf(op, d, 1),
                             constant(at(op.getLhsDilation()) - 1));
  return windowedSize(padded, window, at(op.getRhsDilation()), at(op.getWindowStrides()));
}

/// Size of dimension `dim` of the result of a gather; `sliceSize` returns that of a slice in a dimension of the operand.
Recipe gatheredSize(shlo::GatherDimensionNumbersAttr numbers, Value operand, Value indices, int64_t dim, llvm::function_ref<Recipe(int64_t)> sliceSize) {
  const auto *offset = llvm::find(numbers.getOffsetDims(), dim);
  if (offset != numbers.getOffsetDims().end()) {
    int64_t position = offset - numbers.getOffsetDims().begin();
    for (int64_t d = 0, rank = cast<RankedTensorType>(operand.getType()).getRank(); d < rank; ++d)
      if (!llvm::is_contained(numbers.getCollapsedSliceDims(), d) && !llvm::is_contained(numbers.getOperandBatchingDims(), d) && position-- == 0)
        return sliceSize(d);
    return std::nullopt;
  }
  int64_t batch = 0;
  for (int64_t d = 0; d < dim; ++d)
    batch += !llvm::is_contained(numbers.getOffsetDims(), d);
  if (batch >= numbers.getIndexVectorDim())
    ++batch;
  return sizeOf(indices, batch);
}

/// Size of a reshape's result: all elements of the operand, by the other sizes, of which one alone may be open.
Recipe reshapedSize(shlo::ReshapeOp reshape) {
  auto type = cast<RankedTensorType>(reshape.getType());
  int64_t known = 1;
  for (int64_t size : type.getShape())
    known *= ShapedType::isDynamic(size) ? 1 : size;
  return type.getNumDynamicDims() == 1 && known > 0 ? combine(Op::FloorDiv, numElementsOf(reshape.getOperand()), constant(known)) : Recipe();
}

Recipe resultSize(Operation *op, unsigned resultNumber, int64_t dim) {
  return llvm::TypeSwitch<Operation *, Recipe>(op)
      .Case<shlo::DynamicBroadcastInDimOp, shlo::DynamicReshapeOp>(
          [&](auto) { return elementOf(op->getOperand(1), dim); })
      .Case<shlo::DynamicIotaOp>([&](auto) { return elementOf(op->getOperand(0), dim); })
      .Case<shlo::RngOp>([&](auto) { return elementOf(op->getOperand(2), dim); })
      .Case([&](shlo::RealDynamicSliceOp slice) {
        Recipe start = elementOf(op->getOperand(1), dim), limit = elementOf(op->getOperand(2), dim);
        return combine(Op::CeilDiv, combine(Op::Sub, limit, start), elementOf(op->getOperand(3), dim));
      })
      .Case([&](shlo::DynamicPadOp) {
        return paddedSize(sizeOf(op->getOperand(0), dim), elementOf(op->getOperand(2), dim),
                          elementOf(op->getOperand(3), dim), elementOf(op->getOperand(4), dim));
      })
      .Case([&](shlo::SetDimensionSizeOp set) {
        return (int64_t)set.getDimension() == dim ? elementOf(op->getOperand(1), 0) : sizeOf(op->getOperand(0), dim);
      })
      .Case([&](shlo::TransposeOp transpose) {
        return sizeOf(transpose.getOperand(), transpose.getPermutation()[dim]);
      })
      .Case([&](shlo::BroadcastInDimOp broadcast) -> Recipe {
        for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          if (to == dim)
            return sizeOf(broadcast.getOperand(), from);
        return std::nullopt;
      })
      .Case([&](shlo::ConcatenateOp concat) {
        if ((int64_t)concat.getDimension() != dim)
          return sizeOf(op->getOperand(0), dim);
        Recipe total = constant(0);
        for (Value input : op->getOperands())
          total = combine(Op::Add, total, sizeOf(input, dim));
        return total;
      })
      .Case([&](shlo::PadOp pad) {
        return paddedSize(sizeOf(pad.getOperand(), dim), constant(pad.getEdgePaddingLow()[dim]),
                          constant(pad.getEdgePaddingHigh()[dim]), constant(pad.getInteriorPadding()[dim]));
      })
      .Case([&](shlo::ReduceOp reduce) -> Recipe {
        int64_t source = -1;
        auto type = cast<RankedTensorType>(reduce.getInputs().front().getType());
        for (int64_t d = 0, kept = -1; d < type.getRank(); ++d)
          if (!llvm::is_contained(reduce.getDimensions(), d) && ++kept == dim)
            source = d;
        return source < 0 ? Recipe() : sizeOf(reduce.getInputs().front(), source);
      })
      .Case([&](shlo::DotGeneralOp dot) -> Recipe {
        auto numbers = dot.getDotDimensionNumbersAttr();
        ArrayRef<int64_t> batch = numbers.getLhsBatchingDimensions();
        int64_t position = dim;
        if (position < (int64_t)batch.size())
          return sizeOf(dot.getLhs(), batch[position]);
        position -= batch.size();
        auto free = [&](Value operand, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) -> Recipe {
          int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
          for (int64_t d = 0; d < rank; ++d)
            if (!llvm::is_contained(batching, d) && !llvm::is_contained(contracting, d) && position-- == 0)
              return sizeOf(operand, d);
          return std::nullopt;
        };
        if (Recipe size = free(dot.getLhs(), batch, numbers.getLhsContractingDimensions()))
          return size;
        return free(dot.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
      })
      .Case([&](shlo::GatherOp gather) {
        return gatheredSize(gather.getDimensionNumbers(), gather.getOperand(), gather.getStartIndices(), dim,
                            [&](int64_t d) { return constant(gather.getSliceSizes()[d]); });
      })
      .Case([&](shlo::DynamicGatherOp gather) {
        return gatheredSize(gather.getDimensionNumbers(), gather.getOperand(), gather.getStartIndices(), dim,
                            [&](int64_t d) { return elementOf(gather.getSliceSizes(), d); });
      })
      .Case([&](shlo::ReshapeOp reshape) { return reshapedSize(reshape); })
      .Case([&](shlo::BitcastConvertOp convert) {
        bool isShared = dim < cast<RankedTensorType>(convert.getOperand().getType()).getRank();
        return isShared ? sizeOf(convert.getOperand(), dim) : numPartsOf(convert);
      })
      .Case([&](shlo::TriangularSolveOp solve) { return sizeOf(solve.getB(), dim); })
      // Deprecated operations, whose successors are known, do not keep the shape of an operand.
      .Case<shlo::DotOp, shlo::EinsumOp, shlo::UnaryEinsumOp, shlo::TorchIndexSelectOp>([](auto) -> Recipe { return std::nullopt; })
      .Case([&](shlo::ReduceWindowOp window) {
        auto at = [&](std::optional<ArrayRef<int64_t>> values) { return values && !values->empty() ? (*values)[dim] : 1; };
        return windowsIn(window.getInputs().front(), dim, window.getPadding(), at(window.getBaseDilations()), window.getWindowDimensions()[dim],
                         at(window.getWindowDilations()), at(window.getWindowStrides()));
      })
      .Case<shlo::ConvolutionOp, shlo::DynamicConvOp>([&](auto convolution) { return convolvedSize(convolution, dim); })
      .Case([&](shlo::FftOp fft) -> Recipe {
        ArrayRef<int64_t> lengths = fft.getFftLength();
        int64_t first = cast<RankedTensorType>(fft.getType()).getRank() - int64_t(lengths.size());
        if (dim < first)
          return sizeOf(fft.getOperand(), dim);
        int64_t length = lengths[dim - first];
        bool isHalf = fft.getFftType() == shlo::FftType::RFFT && dim - first + 1 == int64_t(lengths.size()) && length > 0;
        return constant(isHalf ? length / 2 + 1 : length);
      })
      .Case([&](shlo::SelectOp) { return sizeOf(op->getOperand(1), dim); })
      .Case([&](shlo::ClampOp) { return sizeOf(op->getOperand(1), dim); })
      .Default([&](Operation *) -> Recipe {
        // Everything else keeps the shape of the operand in the same position (variadic operations) or of any operand
        // of the same rank (elementwise operations, sort, scatter, dynamic_update_slice, ...).
        auto type = cast<RankedTensorType>(op->getResult(resultNumber).getType());
        auto sameRank = [&](Value operand) {
          auto tensor = dyn_cast<RankedTensorType>(operand.getType());
          return tensor && tensor.getRank() == type.getRank();
        };
        if (op->getNumOperands() > resultNumber && sameRank(op->getOperand(resultNumber)))
          if (Recipe size = sizeOf(op->getOperand(resultNumber), dim))
            return size;
        return std::nullopt;
      });
}

} // namespace

Recipe sizeOf(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ShapeRecipe{{{Op::ArgumentDim, argument.getArgNumber(), dim}}};
  return resultSize(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), dim);
}

Recipe numWindowsOf(shlo::SelectAndScatterOp scatter, int64_t dim) {
  auto at = [&](std::optional<ArrayRef<int64_t>> values) { return values && !values->empty() ? (*values)[dim] : 1; };
  return windowsIn(scatter.getOperand(), dim, scatter.getPadding(), 1, at(scatter.getWindowDimensions()), 1, at(scatter.getWindowStrides()));
}

Recipe numPartsOf(shlo::BitcastConvertOp convert) {
  auto bits = [](Value value) -> int64_t {
    Type element = getElementTypeOrSelf(value.getType());
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  };
  int64_t from = bits(convert.getOperand()), to = bits(convert.getResult());
  return from && to ? constant(std::max(from, to) / std::min(from, to)) : Recipe();
}

Recipe computedSizeOf(OpResult result, int64_t dim) { return resultSize(result.getOwner(), result.getResultNumber(), dim); }

Recipe shapeElementOf(Value shape, int64_t index) { return elementOf(shape, index); }

Recipe numElementsOf(Value value) {
  Recipe count = constant(1);
  for (int64_t d = 0, rank = cast<RankedTensorType>(value.getType()).getRank(); d < rank; ++d)
    count = combine(Op::Mul, count, sizeOf(value, d));
  return count;
}

bool hasShapeOperand(Operation *op) {
  return isa<shlo::DynamicBroadcastInDimOp, shlo::DynamicReshapeOp, shlo::SetDimensionSizeOp, shlo::DynamicIotaOp, shlo::RealDynamicSliceOp,
             shlo::DynamicPadOp, shlo::DynamicGatherOp, shlo::DynamicConvOp, shlo::RngOp>(op);
}

} // namespace millrace::fusion
