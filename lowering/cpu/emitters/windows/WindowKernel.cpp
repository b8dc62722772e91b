// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowKernel.cpp - Kernels that are one operation on windows -------===//
// Input:   a kernel of constants and "stablehlo.reduce_window"(%arg0, %constant) ({maximum}), or of constants and
//          "stablehlo.select_and_scatter"(%arg0, %arg1, %constant) ({GE}, {add}), perhaps with a pad of %arg0 before it and the slice that removes the
//          padding after it
// Output:  vector code of the first emitter that supports the window. These emitters read StableHLO, because loops over windows do not show any more
//          what the operation is.
// Leaves alone all other kernels, which are lowered to linalg.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/windows/WindowKernel.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/cpu/emitters/windows/WindowEmitter.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/reduction/Windows.h"
#include "lowering/linalg/storage/StorageTypes.h"
#include "passes/calls/Cumulative.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns what a kernel of one block with `arguments` arguments and one result returns; null for other kernels.
Value resultOf(func::FuncOp kernel, unsigned arguments) {
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock() || kernel.getNumArguments() != arguments || kernel.getNumResults() != 1)
    return {};
  return kernel.getBody().front().getTerminator()->getOperand(0);
}

/// Returns the padding before the first element of each dimension.
SmallVector<int64_t> lowPadding(std::optional<DenseIntElementsAttr> padding, int64_t rank) {
  return llvm::map_to_vector(paddingPairs(padding, rank), [](std::pair<int64_t, int64_t> pair) { return pair.first; });
}

bool canReduce(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() >= 8;
}

bool canScatter(Type type) { return type.isF32() || type.isF64() || type.isSignlessInteger(32) || type.isSignlessInteger(64); }

std::optional<WindowReduce::Kind> kindOf(Region &body, DenseElementsAttr init) {
  switch (classifyReducer(body)) {
  case Reducer::Add: {
    // Zeros of both signs are accepted, because the sum begins with the zero anyway.
    auto number = dyn_cast<FloatAttr>(init.getSplatValue<Attribute>());
    bool isZero = number ? number.getValue().isZero() : init.getSplatValue<APInt>().isZero();
    return isZero ? std::optional(WindowReduce::Sum) : std::nullopt;
  }
  case Reducer::Minimum:
    return WindowReduce::Minimum;
  case Reducer::Maximum:
    return WindowReduce::Maximum;
  default:
    return std::nullopt;
  }
}

bool isComparison(Value value, stablehlo::ComparisonDirection direction, Value lhs, Value rhs) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  return compare && compare.getComparisonDirection() == direction && compare.getLhs() == lhs && compare.getRhs() == rhs &&
         compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER && compare.getCompareType() != stablehlo::ComparisonType::WEAKORDER &&
         compare.getCompareType() != stablehlo::ComparisonType::UNSIGNED;
}

/// Matches `a >= b`, or `a >= b or a is NaN`.
bool matchSelect(Region &region, bool &keepsNan) {
  Value a = region.getArgument(0), b = region.getArgument(1), chosen = region.front().getTerminator()->getOperand(0);
  keepsNan = false;
  if (auto either = chosen.getDefiningOp<stablehlo::OrOp>()) {
    if (!isComparison(either.getRhs(), stablehlo::ComparisonDirection::NE, a, a))
      return false;
    keepsNan = true;
    chosen = either.getLhs();
  }
  return isComparison(chosen, stablehlo::ComparisonDirection::GE, a, b);
}

bool isSum(Region &region) {
  auto add = region.front().getTerminator()->getOperand(0).getDefiningOp<stablehlo::AddOp>();
  return add && add.getLhs() == region.getArgument(0) && add.getRhs() == region.getArgument(1);
}

} // namespace

std::optional<WindowReduce> WindowReduce::of(func::FuncOp kernel) {
  Value returned = resultOf(kernel, /*arguments=*/1);
  auto op = returned ? returned.getDefiningOp<stablehlo::ReduceWindowOp>() : stablehlo::ReduceWindowOp();
  DenseElementsAttr init;
  if (!op || op.getInputs().size() != 1 || op.getInputs()[0] != kernel.getArgument(0) || !matchPattern(op.getInitValues()[0], m_Constant(&init)) ||
      calls::cumulativeOf(op))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType()), result = cast<RankedTensorType>(op.getResult(0).getType());
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !result.hasStaticShape() || !canReduce(element) || result.getElementType() != element ||
      init.getElementType() != element || getElementTypeOrSelf(op.getBody().getArgument(0).getType()) != element)
    return std::nullopt;
  std::optional<Kind> kind = kindOf(op.getBody(), init);
  if (!kind)
    return std::nullopt;
  WindowReduce found;
  int64_t rank = type.getRank();
  found.kind = *kind;
  found.isUnsigned = isUnsignedElement(element);
  found.window.assign(op.getWindowDimensions());
  found.strides = orOnes(op.getWindowStrides(), rank);
  found.dilation = orOnes(op.getWindowDilations(), rank);
  found.low = lowPadding(op.getPadding(), rank);
  found.spread = orOnes(op.getBaseDilations(), rank);
  found.element = storageElementType(element);
  found.init = init.getSplatValue<TypedAttr>();
  if (auto integer = dyn_cast<IntegerAttr>(found.init))
    found.init = IntegerAttr::get(found.element, integer.getValue());
  return found;
}

Value WindowReduce::combine(OpBuilder &b, Location loc, Value x, Value y) const {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case Sum:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::AddIOp::create(b, loc, x, y).getResult();
  case Minimum:
    return isFloat      ? arith::MinimumFOp::create(b, loc, x, y).getResult()
           : isUnsigned ? arith::MinUIOp::create(b, loc, x, y).getResult()
                        : arith::MinSIOp::create(b, loc, x, y).getResult();
  case Maximum:
    return isFloat      ? arith::MaximumFOp::create(b, loc, x, y).getResult()
           : isUnsigned ? arith::MaxUIOp::create(b, loc, x, y).getResult()
                        : arith::MaxSIOp::create(b, loc, x, y).getResult();
  }
  llvm_unreachable("all kinds are handled");
}

std::optional<WindowScatter> WindowScatter::of(func::FuncOp kernel) {
  Value returned = resultOf(kernel, /*arguments=*/2);
  Operation *root = returned ? returned.getDefiningOp() : nullptr;
  stablehlo::SelectAndScatterOp padded = root ? fusion::paddedScatterOf(root) : stablehlo::SelectAndScatterOp();
  auto op = padded ? padded : dyn_cast_or_null<stablehlo::SelectAndScatterOp>(root);
  auto pad = padded ? padded.getOperand().getDefiningOp<stablehlo::PadOp>() : stablehlo::PadOp();
  WindowScatter found;
  DenseElementsAttr init, beyond;
  if (!op || (pad ? pad.getOperand() : op.getOperand()) != kernel.getArgument(0) || op.getSource() != kernel.getArgument(1) ||
      !matchPattern(op.getInitValue(), m_Constant(&init)) || !matchSelect(op.getSelect(), found.keepsNan) || !isSum(op.getScatter()) ||
      (pad && !matchPattern(pad.getPaddingValue(), m_Constant(&beyond))))
    return std::nullopt;
  auto type = cast<RankedTensorType>(kernel.getArgument(0).getType()), source = cast<RankedTensorType>(op.getSource().getType());
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !source.hasStaticShape() || !canScatter(element) || source.getElementType() != element ||
      init.getElementType() != element)
    return std::nullopt;
  int64_t rank = type.getRank();
  found.window = orOnes(op.getWindowDimensions(), rank);
  found.strides = orOnes(op.getWindowStrides(), rank);
  found.low = pad ? SmallVector<int64_t>(pad.getEdgePaddingLow()) : lowPadding(op.getPadding(), rank);
  found.init = init.getSplatValue<TypedAttr>();
  if (pad)
    found.beyond = beyond.getSplatValue<TypedAttr>();
  return found;
}

FailureOr<EmittedKernel> emitWindows(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<EmittedKernel> kernel = failure();
  if (std::optional<WindowReduce> what = WindowReduce::of(fn)) {
    kernel = emitWindowReduce(fn, *what, target);
    if (failed(kernel))
      kernel = emitSpreadWindow(fn, *what, target);
  } else if (std::optional<WindowScatter> what = WindowScatter::of(fn)) {
    kernel = emitWindowScatter(fn, *what, target);
    if (failed(kernel))
      kernel = emitWindowScatterRows(fn, *what, target);
  }
  return kernel;
}

} // namespace millrace::lowering
