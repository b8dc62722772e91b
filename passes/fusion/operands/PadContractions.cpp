// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PadContractions.cpp - Pad contracted dimensions to rows of AMX tiles ===//
// Input:   %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<129x515xbf16>, tensor<515x131xbf16>) -> tensor<129x131xf32>
// Output:  the same of %a : tensor<129x544xbf16> and %b : tensor<544x131xbf16>, with zeros at the end: a row of an AMX tile holds 32
//          elements of bf16 or 64 of 8 bits. Contractions of other sizes use vectors of wider elements, an eighth as fast.
//          Channels of convolutions are padded likewise; an existing pad adds the zeros, too.
// Leaves alone contractions that fit AMX tiles, small contracted dimensions (most elements would be padding), few rows, columns or multiply-adds (two
//          copies would cost more than is gained), feature groups, several contracted dimensions, and operations of attention kernels.
//===----------------------------------------------------------------------===//

#include "passes/fusion/MatrixUnitShapes.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_PADCONTRACTIONSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// The element types whose contractions the target computes in AMX tiles.
struct MatrixUnit {
  bool bf16 = false, int8 = false;
};

/// Smaller contractions take some microseconds without AMX, so that padding costs as much. Unit: multiply-adds. Source: judgement,
/// not measured alone; commit 6d99b51 has the figures of the whole change.
constexpr int64_t kMinProducts = 1 << 19;

/// Returns the elements of the contracted dimension in a row of an AMX tile; 0 if AMX does not support the types.
int64_t rowOfTile(Type lhs, Type rhs, Type result, const MatrixUnit &unit) {
  if (lhs.isBF16() && rhs.isBF16() && (result.isBF16() || result.isF32()))
    return unit.bf16 ? matrixUnitTerms(16) : 0;
  auto isOf = [](Type type, unsigned width) { return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == width; };
  return isOf(lhs, 8) && isOf(rhs, 8) && isOf(result, 32) && unit.int8 ? matrixUnitTerms(8) : 0;
}

/// Returns how many elements a contracted dimension of `size` elements lacks to a multiple of `row`; 0 if none, or if padding does not pay.
int64_t missingTerms(int64_t size, int64_t row, int64_t rows, int64_t columns, int64_t sums) {
  if (row == 0 || size % row == 0 || 2 * size < row || rows < kMatrixUnitRows || columns < kMatrixUnitRows || sums * size < kMinProducts)
    return 0;
  return llvm::alignTo(size, row) - size;
}

bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// Pads `value` with `more` zeros at the end of dimension `dim`.
Value withZeros(OpBuilder &b, Value value, int64_t dim, int64_t more) {
  auto pad = value.getDefiningOp<PadOp>();
  auto type = cast<RankedTensorType>(value.getType());
  // A pad that removes elements is not changed: its operand has elements where the zeros must be.
  bool isSame = pad && pad->hasOneUse() && isZero(pad.getPaddingValue()) && pad.getInteriorPadding()[dim] == 0 && pad.getEdgePaddingHigh()[dim] >= 0;
  SmallVector<int64_t> none(type.getRank(), 0), shape(type.getShape());
  SmallVector<int64_t> low(isSame ? pad.getEdgePaddingLow() : ArrayRef(none)), high(isSame ? pad.getEdgePaddingHigh() : ArrayRef(none)),
      interior(isSame ? pad.getInteriorPadding() : ArrayRef(none));
  high[dim] += more;
  shape[dim] += more;
  Value zero = isSame ? pad.getPaddingValue() : ConstantOp::create(b, value.getLoc(), cast<ElementsAttr>(b.getZeroAttr(type.clone(ArrayRef<int64_t>()))));
  return PadOp::create(b, value.getLoc(), type.clone(shape), isSame ? pad.getOperand() : value, zero, b.getDenseI64ArrayAttr(low),
                       b.getDenseI64ArrayAttr(high), b.getDenseI64ArrayAttr(interior));
}

void padBoth(Operation *op, int64_t lhsDim, int64_t rhsDim, int64_t more) {
  OpBuilder b(op);
  for (auto [number, dim] : {std::pair(0u, lhsDim), std::pair(1u, rhsDim)}) {
    Value before = op->getOperand(number);
    op->setOperand(number, withZeros(b, before, dim, more));
    if (Operation *source = before.getDefiningOp(); source && isOpTriviallyDead(source))
      source->erase();
  }
}

void padProduct(DotGeneralOp op, const MatrixUnit &unit) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  ArrayRef<int64_t> left = numbers.getLhsContractingDimensions(), right = numbers.getRhsContractingDimensions();
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()), rhs = cast<RankedTensorType>(op.getRhs().getType()), result = cast<RankedTensorType>(op.getType());
  if (left.size() != 1 || op.getAlgorithm())
    return;
  int64_t size = lhs.getDimSize(left[0]), batch = 1;
  for (int64_t dim : numbers.getLhsBatchingDimensions())
    batch *= lhs.getDimSize(dim);
  if (size == 0 || batch == 0)
    return;
  int64_t rows = lhs.getNumElements() / size / batch, columns = rhs.getNumElements() / size / batch;
  int64_t row = rowOfTile(lhs.getElementType(), rhs.getElementType(), result.getElementType(), unit);
  if (int64_t more = missingTerms(size, row, rows, columns, result.getNumElements()))
    padBoth(op, left[0], right[0], more);
}

void padConvolution(ConvolutionOp op, const MatrixUnit &unit) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()), rhs = cast<RankedTensorType>(op.getRhs().getType()), result = cast<RankedTensorType>(op.getType());
  int64_t channel = dims.getInputFeatureDimension();
  if (op.getFeatureGroupCount() != 1 || op.getBatchGroupCount() != 1 || channel != lhs.getRank() - 1)
    return;
  int64_t size = lhs.getDimSize(channel), columns = result.getDimSize(dims.getOutputFeatureDimension()), window = 1, last = 1;
  for (int64_t dim : dims.getKernelSpatialDimensions())
    window *= last = rhs.getDimSize(dim);
  int64_t row = rowOfTile(lhs.getElementType(), rhs.getElementType(), result.getElementType(), unit);
  if (row == 0 || columns == 0 || last * size % row == 0) // the window's last dimension may be added up together with the channels
    return;
  if (int64_t more = missingTerms(size, row, result.getNumElements() / columns, columns, result.getNumElements() * window))
    padBoth(op, channel, dims.getKernelInputFeatureDimension(), more);
}

struct PadContractions : impl::PadContractionsPassBase<PadContractions> {
  using PadContractionsPassBase::PadContractionsPassBase;

  void runOnOperation() override {
    MatrixUnit unit{matrixBf16, matrixInt8};
    if (!unit.bf16 && !unit.int8)
      return;
    forEachProgramBlock(getOperation(), [&](Block &block) {
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (!llvm::all_of(op.getOperandTypes(), [](Type type) {
              auto tensor = dyn_cast<RankedTensorType>(type);
              return tensor && tensor.hasStaticShape();
            }))
          continue;
        if (auto dot = dyn_cast<DotGeneralOp>(op))
          padProduct(dot, unit);
        else if (auto convolution = dyn_cast<ConvolutionOp>(op))
          padConvolution(convolution, unit);
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion
